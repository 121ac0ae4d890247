"""
Clauses and layouts as JSON, for programs.

Each clause has the tests that name it and the observed outcome of each release. Each
layout has its fields, with sizes as numbers or as the fields that determine them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cli.runs.suites.clause_tests import clause_tests
from spec.derive.outline import as_plain, suitable_outlines
from spec.layouts import LAYOUTS
from spec.observed import evidence_of
from spec.registry import all_clauses

ROOT = Path(__file__).parents[2]


def clauses_as_json() -> str:
    """Return every clause as JSON, one object a clause, in the order of the ids."""
    tests = clause_tests(ROOT)
    exported = [
        {
            "id": one.id,
            "level": str(one.level),
            "since": one.since,
            "until": one.until,
            "text": one.text,
            "source": one.source,
            "issues": list(one.issues),
            "untestable": one.untestable,
            "tests": tests.get(one.id, []),
            "evidence": evidence_of(one.id),
        }
        for one in all_clauses().values()
    ]
    return _text(exported)


def layouts_as_json() -> str:
    """Return every layout as JSON, one object a layout, in the order of the names."""
    found, reasons = suitable_outlines(LAYOUTS)
    exported = [{"name": name, **as_plain(one)} for name, one in found.items()]
    left_out = [{"name": name, "left_out": why} for name, why in reasons.items()]
    return _text([*exported, *left_out])


def _text(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"
