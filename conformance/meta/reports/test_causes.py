"""Failures by cause: grouping, order, and the size of the summary."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from conformance.harness.report.causes import causes_of, stale_clauses
from conformance.harness.report.outcome import Outcome
from conformance.harness.report.pages.run_page import MOST_CAUSES, run_page
from conformance.harness.report.report_json import (
    ClauseEntry,
    Report,
    TargetEntry,
)
from conformance.harness.report.run_record import BASELINE, BROKEN, STALE
from conformance.meta.made_suite import FAILS, PASSES, known_file, run_faulty
from conformance.meta.reports.made_results import result
from spec.registry import all_clauses
from spec.wire.remoting.request_code import RequestCode

SUMMARY_LIMIT = 60_000
"""Bytes of the summary of any run."""


CLOSED = "the connection to port 12345 was closed by the peer"


def test_equal_values_of_different_tests_are_different_causes() -> None:
    names = ["WIRE-FRAME-001", "WIRE-FRAME-005", "WIRE-FRAME-009"]
    alike = [
        result(name, found=CLOSED, test=f"conformance/wire/test_made.py::test_{number}")
        for number, name in enumerate(names)
    ]
    assert [cause.clauses for cause in causes_of(alike)] == [[name] for name in names]


def test_equal_values_of_one_test_are_one_cause() -> None:
    test = "conformance/wire/test_made.py::test_made[{}]"
    alike = [
        result("WIRE-FRAME-001", found=CLOSED, test=test.format(1)),
        result("ROUTE-REG-001", found=CLOSED.replace("12345", "9876"), test=test),
        result("WIRE-FRAME-003", found="it is still open", test=test),
    ]
    causes = causes_of(alike)
    assert [cause.clauses for cause in causes] == [
        ["ROUTE-REG-001", "WIRE-FRAME-001"],
        ["WIRE-FRAME-003"],
    ]


def test_late_responses_precede_what_they_disturb() -> None:
    late = result("WIRE-COMMAND-012", found="3.2 s", test="late")
    causes = causes_of([result("WIRE-FRAME-001"), late])
    assert [cause.clause_id for cause in causes] == [
        "WIRE-COMMAND-012",
        "WIRE-FRAME-001",
    ]


def refused(clause: str, code: int) -> ClauseEntry:
    """Return the failure of a test whose request with *code* was refused."""
    refusal = "refused with code 3: not supported"
    made = result(clause, found=refusal, test=f"test_made.py::test_{clause}")
    text = f"{clause}\n\n  sent      request {code} NAME, body 0\n"
    assert made.failure is not None
    return replace(made, failure=replace(made.failure, text=text))


def test_one_refused_request_is_one_cause() -> None:
    causes = causes_of(
        [
            refused("WIRE-BINARY-002", 100),
            refused("WIRE-COMMAND-002", 101),
            refused("WIRE-JSON-007", 100),
        ]
    )
    assert [cause.clauses for cause in causes] == [
        ["WIRE-BINARY-002", "WIRE-JSON-007"],
        ["WIRE-COMMAND-002"],
    ]


def test_equal_errors_are_one_cause() -> None:
    names = ["WIRE-FRAME-001", "WIRE-FRAME-002"]
    errors = [
        result(one, "error", found=CLOSED, test=f"test_made.py::test_{one}")
        for one in names
    ]
    (cause,) = causes_of(errors, "error")
    assert cause.clauses == names


def test_the_gravest_level_comes_first_then_the_largest_cause() -> None:
    quirks = ["WIRE-CONN-011", "WIRE-CONN-012", "ADMIN-GROUP-006"]
    musts = ["WIRE-COMMAND-003", "WIRE-FRAME-002", "WIRE-FRAME-005"]
    test = "test_made.py::test_{}"
    causes = causes_of(
        [
            *(result(one, test=test.format("quirks")) for one in quirks),
            result(musts[0], test=test.format("alone")),
            *(result(one, test=test.format("musts")) for one in musts[1:]),
            result("WIRE-CONN-024", test=test.format("should")),
        ]
    )
    assert [cause.clauses for cause in causes] == [
        musts[1:],
        musts[:1],
        ["WIRE-CONN-024"],
        sorted(quirks),
    ]
    assert [cause.level for cause in causes] == ["MUST", "MUST", "SHOULD", "QUIRK"]


def test_a_cause_has_the_level_of_its_gravest_clause() -> None:
    (cause,) = causes_of([result("WIRE-CONN-011"), result("WIRE-FRAME-002")])
    assert cause.clause_id == "WIRE-FRAME-002"


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


def test_breaks_with_one_sign_are_one_cause() -> None:
    names = "WIRE-CONN-001", "WIRE-CONN-003", "WIRE-FRAME-002"
    signs = "out of memory", "out of memory", "panicked at 'no entry'"
    causes = causes_of(
        result(
            name,
            test=f"test_made.py::test_{name}",
            found=f"it ended with exit status 137: {sign}; the broker at 127.0.0.1:"
            f"{port} accepts no connection: [Errno 111] Connection refused",
            expected=BROKEN,
        )
        for port, (name, sign) in enumerate(zip(names, signs, strict=True), 10911)
    )
    assert sorted(cause.clauses for cause in causes) == [
        ["WIRE-CONN-001", "WIRE-CONN-003"],
        ["WIRE-FRAME-002"],
    ]


def test_a_stale_known_failure_is_no_cause() -> None:
    results = [result("WIRE-FRAME-001", reason=STALE)]
    assert causes_of(results) == []
    assert stale_clauses(results) == ["WIRE-FRAME-001"]


def summary_of(results: list[ClauseEntry]) -> str:
    """Return the summary of a run with *results*."""
    report = Report(
        target=TargetEntry(text="127.0.0.1:9876", release="4.6.0"),
        suite_version="1",
        command="rmqc test",
        results=results,
        totals={one.value: 0 for one in Outcome},
    )
    return run_page(report, ".md")


WIDE = "w" * 9000


def test_a_summary_has_all_failed_clauses() -> None:
    names = list(all_clauses())[:400]
    failed = [result(name, found=f"{name} {WIDE}", expected=WIDE) for name in names]
    summary = summary_of(failed)
    assert [name for name in names if name not in summary] == []


@pytest.mark.parametrize("failed", [900, len(all_clauses())])
def test_the_summary_of_a_run_in_which_much_fails_is_small(failed: int) -> None:
    names, codes = list(all_clauses()), list(RequestCode)
    rest = names[failed:]
    results = [
        result(name, found=f"{name} {WIDE}", expected=WIDE) for name in names[:failed]
    ]
    results += [result(name, "known", reason=f"{name} {WIDE}") for name in rest[:100]]
    results += [
        result(name, "unsupported", reason=f"{name} {WIDE}") for name in rest[100:200]
    ]
    refuses = "the target refuses the request"
    results += [
        result(name, "unsupported", reason=f"{refuses} {code.name}")
        for name, code in zip(rest[200:], codes, strict=False)
    ]
    summary = summary_of(results)
    assert len(summary.encode()) < SUMMARY_LIMIT
    shown = re.search(r"more clauses fail: (.*)\.", summary)
    assert shown is not None
    assert len(re.findall(r"\b\d{3}\b", shown[1])) == failed - MOST_CAUSES


def test_the_terminal_has_causes_in_place_of_tracebacks(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    several = "".join(
        FAILS.replace("test_fails", f"test_{number}")
        .replace("WIRE-FRAME-002", f"WIRE-FRAME-00{number}")
        .replace("found=1", f"found={number}")
        for number in range(3, 8)
    )
    output = run_faulty(tmp_path, several, "--by-cause").output
    assert "= causes =" in output
    assert output.count("  got      code: 1\n  expected code: 2\n") == 5
    assert "= FAILURES =" not in output
    assert "test_made.py" not in output
    whole = run_faulty(tmp_path / "whole", several, "--by-cause", "-v").output
    assert "= FAILURES =" in whole


def test_few_failures_are_shown_whole(tmp_path: Path) -> None:
    output = run_faulty(tmp_path, FAILS, "--by-cause").output
    assert "RemotingCommand#getHeaderLength" in output


def test_a_stale_known_failure_is_shown_as_stale(tmp_path: Path) -> None:
    ended = run_faulty(
        tmp_path, PASSES, known_file(tmp_path, "WIRE-FRAME-001"), "--by-cause"
    )
    assert "pass (remove their entries): WIRE-FRAME-001" in ended.output
    assert ended.code == 1
