"""
Outcomes of clauses on releases outside their ranges, as `rmqc evidence ranges` records.

A failure there confirms the range, and shows that the clause's test can fail.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from conformance.harness.report.outcome import Outcome
from conformance.harness.report.report_json import ClauseEntry
from conformance.harness.targets.started.embedded import SOURCES

FILE = SOURCES / "fixtures" / "mutants" / "ranges.json"


def read_ranges(file: Path = FILE) -> dict[str, dict[str, list[str]]]:
    """Return the clauses that fail and pass on each release, which is not theirs."""
    if not file.exists():
        return {}
    found: dict[str, dict[str, list[str]]] = json.loads(file.read_text("utf-8"))
    return found


def keep_ranges(
    release: str, results: Iterable[ClauseEntry], file: Path | None = None
) -> None:
    """Record the *results* of clauses that are not about *release*."""
    file = file or FILE
    kept = read_ranges(file)
    rows = list(results)
    kept[release] = {
        outcome: sorted(row.id for row in rows if row.outcome == outcome)
        for outcome in (Outcome.FAIL, Outcome.PASS)
    }
    text = json.dumps(dict(sorted(kept.items())), indent=1)
    file.write_text(f"{text}\n", encoding="utf-8")
