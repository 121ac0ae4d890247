"""Failures by cause: grouping, order, and the size of the summary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from conformance.harness.report.causes import causes_of, stale_clauses
from conformance.harness.report.outcome import Outcome
from conformance.harness.report.pages.run_page import run_page
from conformance.harness.report.run_record import BASELINE, BROKEN, STALE
from conformance.meta.reports.test_outcomes import FAILS, PASSES, known_file, run
from spec.registry import all_clauses

SUMMARY_LIMIT = 60_000
"""Bytes of the summary of any run."""


def result(
    clause: str,
    outcome: str = "fail",
    *,
    found: str = "1",
    expected: str = "2",
    test: str = "conformance/wire/test_made.py::test_made",
    reason: str | None = None,
) -> dict[str, Any]:
    """Return the result of one clause, as a report has it."""
    failure = {"test": test, "found": found, "expected": expected, "text": "t" * 9000}
    return {
        "id": clause,
        "outcome": outcome,
        "tests": [test],
        "duration_s": 0.1,
        "reason": reason,
        "failure": failure if outcome in ("fail", "error") else None,
    }


def test_failures_with_equal_values_have_one_cause() -> None:
    closed = "the connection to port {} was closed by the peer"
    alike = [
        result("WIRE-FRAME-001", found=closed.format(12345)),
        result("ROUTE-REG-001", found=closed.format(9876)),
        result("WIRE-FRAME-003", found="it is still open"),
    ]
    first, second = causes_of(alike)
    assert first.clauses == ["WIRE-FRAME-001", "ROUTE-REG-001"]
    assert second.clauses == ["WIRE-FRAME-003"]


def test_short_equal_values_are_one_cause_in_one_family_only() -> None:
    names = ["WIRE-FRAME-001", "WIRE-FRAME-002", "ROUTE-REG-001"]
    causes = causes_of([result(name, found="False", expected="True") for name in names])
    assert [cause.clauses for cause in causes] == [names[:2], names[2:]]


def test_the_break_comes_first_then_the_baseline() -> None:
    blocked = "blocked by SEND-RESPONSE-001: the send of a message fails"
    causes = causes_of(
        [
            result("PULL-COUNT-001"),
            result("PULL-COUNT-002"),
            result("PULL-COUNT-003", "blocked", reason=blocked),
            result("SEND-RESPONSE-001", test=f"{BASELINE}the send of a message"),
            result("WIRE-CONN-001", found="no listener", expected=BROKEN),
            result("WIRE-CONN-002", "blocked", reason="no listener since test_it"),
        ]
    )
    named = [cause.clause_id for cause in causes]
    assert named == ["WIRE-CONN-001", "SEND-RESPONSE-001", "PULL-COUNT-001"]
    assert [cause.blocked for cause in causes] == [1, 1, 0]


def test_a_stale_known_failure_is_no_cause() -> None:
    results = [result("WIRE-FRAME-001", reason=STALE)]
    assert causes_of(results) == []
    assert stale_clauses(results) == ["WIRE-FRAME-001"]


def test_the_summary_of_a_run_in_which_all_fails_is_small() -> None:
    wide = "w" * 9000
    results = [
        result(name, found=f"{name} {wide}", expected=wide) for name in all_clauses()
    ]
    report = {
        "target": {"text": "127.0.0.1:9876", "release": "4.6.0"},
        "suite_version": "1",
        "results": results,
        "totals": {one.value: 0 for one in Outcome} | {"fail": len(results)},
    }
    assert len(run_page(report, ".md").encode()) < SUMMARY_LIMIT


def test_the_terminal_has_causes_in_place_of_tracebacks(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    several = "".join(
        FAILS.replace("test_fails", f"test_{number}")
        .replace("WIRE-FRAME-002", f"WIRE-FRAME-00{number}")
        .replace("found=1", f"found={number}")
        for number in range(3, 8)
    )
    output = run(tmp_path, several, "--by-cause").output
    assert "= causes =" in output
    assert "  got      code: 1\n  expected code: 2\n  also     WIRE-FRAME-004" in output
    assert "= FAILURES =" not in output
    assert "test_made.py" not in output
    whole = run(tmp_path / "whole", several, "--by-cause", "-v").output
    assert "= FAILURES =" in whole


def test_few_failures_are_shown_whole(tmp_path: Path) -> None:
    output = run(tmp_path, FAILS, "--by-cause").output
    assert "RemotingCommand#getHeaderLength" in output


def test_a_stale_known_failure_is_shown_as_stale(tmp_path: Path) -> None:
    ended = run(tmp_path, PASSES, known_file(tmp_path, "WIRE-FRAME-001"), "--by-cause")
    assert "pass (remove their entries): WIRE-FRAME-001" in ended.output
    assert ended.code == 1
