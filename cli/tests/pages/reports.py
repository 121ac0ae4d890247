"""Planted reports, as runs on made-up targets would have left them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from click.testing import CliRunner

from cli.commands.suites.report import report as commands
from conformance.harness.report.outcome import Outcome
from conformance.harness.report.report_json import (
    ClauseEntry,
    FailureEntry,
    Report,
    TargetEntry,
    encode_report,
)
from spec.observed import OUTCOMES
from spec.registry import all_clauses

FAILURE = FailureEntry(test="t", expected="2", found="1", text="<it> is not met.")


def report(
    outcomes: Mapping[str, str], *, target: str, release: str, at: str = ""
) -> Report:
    """Return the report of a run on *target* that had *outcomes*."""
    counted = list(outcomes.values())
    return Report(
        target=TargetEntry(text=target, release=release, capabilities=["wire"]),
        suite_version="0.1.0",
        at=at,
        command="rmqc test",
        results=[_entry(*one) for one in sorted(outcomes.items())],
        totals={outcome: counted.count(outcome) for outcome in OUTCOMES},
    )


def written(directory: Path, made: Report, name: str = "r.json") -> str:
    """Write a report into *directory* and return the file's name."""
    file = directory / name
    file.write_text(encode_report(made), encoding="utf-8")
    return str(file)


def _entry(clause_id: str, outcome: str) -> ClauseEntry:
    return ClauseEntry(
        id=clause_id,
        level=all_clauses()[clause_id].level,
        outcome=Outcome(outcome),
        tests=["conformance/wire/test_made.py::test_made"],
        duration_s=0.1,
        reason="nobody listens" if outcome == "unsupported" else None,
        failure=FAILURE if outcome == "fail" else None,
    )


def page_made(command: str, out: Path, cells: Path, *more: str) -> str:
    """Let ``rmqc report`` write a page of *cells*; return what it printed."""
    words = [command, "-o", str(out), "--cells", str(cells), *more]
    result = CliRunner().invoke(commands, words)
    assert result.exit_code == 0, result.output
    return result.output
