"""Planted reports, as runs on made-up targets would have left them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from cli.commands.suites.report import report as commands
from spec.observed import OUTCOMES
from spec.registry import all_clauses

FAILURE = {"test": "t", "expected": "2", "found": "1", "text": "<it> is not met."}


def report(outcomes: Mapping[str, str], *, target: str, release: str) -> dict[str, Any]:
    """Return the report of a run on *target* that had *outcomes*."""
    counted = list(outcomes.values())
    return {
        "schema": 1,
        "target": {"text": target, "release": release, "capabilities": ["wire"]},
        "suite_version": "0.1.0",
        "command": "rmqc test",
        "results": [_entry(*one) for one in sorted(outcomes.items())],
        "totals": {outcome: counted.count(outcome) for outcome in OUTCOMES},
    }


def written(directory: Path, made: Mapping[str, Any], name: str = "r.json") -> str:
    """Write a report into *directory* and return the file's name."""
    file = directory / name
    file.write_text(json.dumps(made), encoding="utf-8")
    return str(file)


def _entry(clause_id: str, outcome: str) -> dict[str, Any]:
    return {
        "id": clause_id,
        "level": all_clauses()[clause_id].level.value,
        "outcome": outcome,
        "tests": ["conformance/wire/test_made.py::test_made"],
        "duration_s": 0.1,
        "reason": "nobody listens" if outcome == "unsupported" else None,
        "failure": FAILURE if outcome == "fail" else None,
    }


def page_made(command: str, out: Path, cells: Path, *more: str) -> str:
    """Let ``rmqc report`` write a page of *cells*; return what it printed."""
    words = [command, "-o", str(out), "--cells", str(cells), *more]
    result = CliRunner().invoke(commands, words)
    assert result.exit_code == 0, result.output
    return result.output
