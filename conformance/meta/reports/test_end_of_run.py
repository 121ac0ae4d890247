"""The end of a run is one screen, for every width of a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.harness.report.evidence_differences import compare
from conformance.harness.report.outcome import Outcome
from conformance.harness.report.run_record import ClauseResult, Verdict
from conformance.harness.report.summary import (
    write_differences,
    write_end,
    write_summary,
)
from spec.observed import all_evidence
from spec.registry import all_clauses

SCREEN_HEIGHT = 40
FEWEST = 20
SUITES = ("messaging", "recovery", "routing", "security", "store", "tls", "wire")


class Terminal:
    """Collects lines, in place of pytest's terminal."""

    isatty = True

    def __init__(self) -> None:
        self.lines: list[str] = []

    def write_line(self, line: str, **_: bool) -> None:
        """Keep *line*."""
        self.lines.append(line)

    section = write_line


def result(
    clause: str, suite: str, outcome: Outcome, *, found: str = "1", reason: str = ""
) -> ClauseResult:
    """Return the result of a clause with one test."""
    test = f"conformance/{suite}/test_made.py::test_made"
    verdict = Verdict(
        test=test,
        clauses=[clause],
        outcome=outcome,
        duration_s=0.1,
        reason=reason,
        text="text\n" * 90,
        found=found,
        expected="12, " * 80,
        again=f"rmqc test --target 'mutant:made' --only {clause}",
    )
    return ClauseResult(
        id=clause,
        outcome=outcome,
        tests=[test],
        duration_s=0.1,
        failure=None if outcome is Outcome.PASS else verdict,
        reason=reason,
    )


def end_of(results: list[ClauseResult], report: Path | None = None) -> list[str]:
    """Return the lines at the end of a run."""
    terminal = Terminal()
    write_summary(
        terminal,  # type: ignore[arg-type]
        results,
        heading="target mutant:made as 4.6.0",
        report=report,
        is_whole=False,
    )
    write_end(terminal, results, report=report)  # type: ignore[arg-type]
    return terminal.lines


def everything() -> list[ClauseResult]:
    """Return a run of every clause, with all outcomes and many causes."""
    outcomes = list(Outcome)
    return [
        result(
            clause,
            SUITES[number % len(SUITES)],
            outcomes[number % len(outcomes)],
            found=f"{clause} {bytes(range(99))!r}",
            reason=f"{clause} has a reason of its own, which is rather long",
        )
        for number, clause in enumerate(all_clauses())
    ]


@pytest.mark.parametrize("columns", [60, 80, 120, 200])
@pytest.mark.parametrize("report", [None, Path("a directory/report")])
def test_the_end_of_a_run_is_one_screen(
    columns: int, report: Path | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = end_of(everything(), report)
    assert FEWEST < len(lines) <= SCREEN_HEIGHT
    copied = [line for line in lines if line.startswith(("next", "report"))]
    assert [one for one in lines if len(one) > columns and one not in copied] == []
    assert lines[-1].startswith("next     rmqc test --target 'mutant:made' --only ")


def test_the_end_has_target_counts_first_cause_and_the_rest() -> None:
    name, *blocked = list(all_clauses())[:20]
    results = [result(name, "store", Outcome.FAIL)]
    reason = f"blocked by {name}: a pull fails"
    results += [
        result(one, "messaging", Outcome.BLOCKED, reason=reason) for one in blocked
    ]
    results += [
        result(one, "wire", Outcome.FAIL, found=f"{one} has a value that is its own")
        for one in list(all_clauses())[20:30]
    ]
    lines = end_of(results, Path("DIR"))
    assert lines[1] == "target mutant:made as 4.6.0"
    assert lines[2].split() == ["fail", "blocked"]
    assert lines[3].split() == ["messaging", "·", "19", "░" * 20]
    assert lines[4].split() == ["store", "1", "·", "░" * 20]
    first = lines[lines.index("causes") + 1]
    assert first.startswith(f"{name} ")
    assert first.endswith("(19 blocked)")
    assert "... and 6 more causes in DIR/report.html" in lines
    assert not [line for line in lines if line.startswith("blocked:")]


def test_a_failure_that_is_alone_is_whole_in_a_short_run_only() -> None:
    short = [result("WIRE-FRAME-001", "wire", Outcome.FAIL)]
    assert end_of(short).count("text") == 90
    passed = [result(one, "wire", Outcome.PASS) for one in list(all_clauses())[:40]]
    lines = end_of([*passed, *short])
    assert "... and 73 more lines" in lines
    assert len(lines) <= SCREEN_HEIGHT


@pytest.mark.parametrize(("outcome", "count"), [("pass", 1), ("unsupported", 0)])
def test_evidence_without_a_common_verdict_is_not_written(
    outcome: str, count: int
) -> None:
    terminal = Terminal()
    found = compare({"WIRE-FRAME-001": outcome}, all_evidence()["4.6.0"])
    write_differences(terminal, found, is_whole=False)  # type: ignore[arg-type]
    assert sum("evidence of 4.6.0" in line for line in terminal.lines) == count
