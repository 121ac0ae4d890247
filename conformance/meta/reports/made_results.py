"""Results of clauses, made for tests of reports."""

from __future__ import annotations

from conformance.harness.report.outcome import Outcome
from conformance.harness.report.report_json import (
    ClauseEntry,
    FailureEntry,
)


def result(
    clause: str,
    outcome: str = "fail",
    *,
    found: str = "1",
    expected: str = "2",
    test: str = "conformance/wire/test_made.py::test_made",
    reason: str | None = None,
) -> ClauseEntry:
    """Return the result of one clause, as a report has it."""
    failure = FailureEntry(test=test, found=found, expected=expected, text="t" * 9000)
    return ClauseEntry(
        id=clause,
        outcome=Outcome(outcome),
        tests=[test],
        duration_s=0.1,
        reason=reason,
        failure=failure if outcome in ("fail", "error") else None,
    )
