"""The end of a run is one screen, for every width of a terminal."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.harness.child_run.child_run import run_child
from conformance.harness.failure.failure import clause_block
from conformance.harness.pytest_plugin.verdicts.recorder import HARNESS_FAILED
from conformance.harness.report.evidence.evidence_differences import compare
from conformance.harness.report.outcome import Outcome
from conformance.harness.report.run_record import ClauseResult, Verdict
from conformance.harness.report.terminal.counts_table import checked_line
from conformance.harness.report.terminal.summary import (
    SLOW_SHRINKING,
    fit_failures,
    write_differences,
    write_end,
    write_summary,
)
from conformance.harness.targets.client_target import first_step_of
from spec.clause import Level
from spec.observed import all_evidence
from spec.registry import all_clauses

WHOLE = """
import pytest

@pytest.mark.clause("WIRE-FRAME-001")
def test_it():
    pass
"""
SCREEN_HEIGHT = 40
FEWEST = 20
SUITES = ("messaging", "recovery", "routing", "security", "store", "tls", "wire")


class Terminal:
    """Collects lines, in place of pytest's terminal."""

    isatty = True

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.stats: dict[str, list[pytest.TestReport]] = {}

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


def test_the_end_after_a_loss_of_the_target_is_one_screen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    reason = (
        "the name server at 127.0.0.1:9876 accepts no connection since a.py::test_b"
    )
    lost = [
        replace(one, reason=reason) if one.outcome is Outcome.BLOCKED else one
        for one in everything()
    ]
    lines = end_of(lost)
    assert len(lines) <= SCREEN_HEIGHT
    first = lines[lines.index("causes") + 1]
    assert first.startswith("target stopped answering during test_b; ")
    assert "  the name server at 127.0.0.1:9876 accepts no connection" in lines


def test_failures_that_pytest_writes_fit_into_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    again = f"  again     rmqc test -k {'test_' * 20}"
    text = f"  ·    40..48     born_at_ms {' ' * 18} 1 ({'2' * 40})\n{again}"
    failed = pytest.TestReport("t", ("t", 0, "t"), {}, "failed", text, "call")
    failed.sections = [("Hypothesis", SLOW_SHRINKING), ("stdout", "printed")]
    terminal = Terminal()
    terminal.stats = {"failed": [failed]}
    fit_failures(terminal)  # type: ignore[arg-type]
    *field, last = failed.longreprtext.split("\n")
    assert max(map(len, field)) <= 80
    assert last == again
    assert failed.sections == [("stdout", "printed")]


def ids_of(level: Level) -> list[str]:
    """Return the clauses of *level*."""
    return [one.id for one in all_clauses().values() if one.level is level]


@pytest.mark.parametrize("columns", [80, 200])
def test_ids_without_room_share_the_name_of_their_family(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    failed = [name for name in all_clauses() if name.startswith("WIRE-CONN-")]
    results = [result(one, "wire", Outcome.FAIL, found=one * 3) for one in failed]
    lines = end_of(results)
    assert len(lines) <= SCREEN_HEIGHT
    (first,) = [n for n, line in enumerate(lines) if line.startswith("... and ")]
    numbers = re.findall(r"\b\d{3}\b", " ".join(lines[first:-1]))
    shown = [line.split()[0] for line in lines if line.startswith("WIRE-CONN-")]
    assert len(shown) == 5
    assert sorted([*shown, *(f"WIRE-CONN-{one}" for one in numbers)]) == failed


def test_a_pipe_has_all_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(Terminal, "isatty", False)
    results = [result(one, "wire", Outcome.FAIL) for one in all_clauses()]
    output = "\n".join(end_of(results))
    assert [name for name in all_clauses() if name not in output] == []


def test_the_end_has_target_counts_first_cause_and_the_rest() -> None:
    name, *blocked = ids_of(Level.MUST)[:20]
    others = ids_of(Level.QUIRK)[:10]
    results = [result(name, "store", Outcome.FAIL)]
    reason = f"blocked by {name}: a pull fails"
    results += [
        result(one, "messaging", Outcome.BLOCKED, reason=reason) for one in blocked
    ]
    results += [
        result(one, "wire", Outcome.FAIL, found=f"{one} has a value that is its own")
        for one in others
    ]
    lines = end_of(results, Path("DIR"))
    assert lines[1] == "target mutant:made as 4.6.0"
    assert lines[2].split() == ["fail", "blocked"]
    assert lines[3].split() == ["messaging", "·", "19", "░" * 20]
    assert lines[4].split() == ["store", "1", "·", "░" * 20]
    first = lines[lines.index("causes") + 1]
    assert first.startswith(f"{name} ")
    assert first.endswith("(19 blocked)")
    ids = f"... and 6 more: {', '.join(others[4:])}"
    assert ids in " ".join(" ".join(lines).split())
    assert not [line for line in lines if line.startswith("blocked:")]


def test_a_failure_that_is_alone_is_whole_in_a_short_run_only() -> None:
    short = [result("WIRE-FRAME-001", "wire", Outcome.FAIL)]
    assert end_of(short).count("text") == 90
    passed = [result(one, "wire", Outcome.PASS) for one in list(all_clauses())[:40]]
    lines = end_of([*passed, *short])
    assert "... and 73 more lines" in lines
    assert len(lines) <= SCREEN_HEIGHT


def test_a_cut_failure_keeps_its_source_and_its_command() -> None:
    leads = ["  hint      was it so?", "  learnt    4.6.0 org.apache.Some#thing"]
    leads += ["  issue     a/b#1", "  again     rmqc test -k test_made"]
    frame = [f"    · {number:>5}..{number + 1}  byte" for number in range(100)]
    text = "\n".join(["WIRE-FRAME-001 (MUST) is not met.", "", *frame, "", *leads])
    failed = result("WIRE-FRAME-001", "wire", Outcome.FAIL)
    assert failed.failure is not None
    shown = replace(failed, failure=replace(failed.failure, text=text))
    passed = [result(one, "wire", Outcome.PASS) for one in list(all_clauses())[:40]]
    lines = end_of([*passed, shown])
    cut = next(one for one in lines if one.endswith(" more lines"))
    begin = lines.index(cut)
    assert lines[begin + 1 : begin + 1 + len(leads)] == leads
    left_out = int(cut.split()[2])
    first = lines.index("WIRE-FRAME-001 (MUST) is not met.")
    assert begin - first + left_out + len(leads) == len(text.split("\n"))
    assert len(lines) <= SCREEN_HEIGHT


@pytest.mark.parametrize("columns", [60, 200])
def test_long_values_are_shown_at_their_difference(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    equal = "addresses of brokers: " + ", ".join(map(str, range(90)))
    failed = [
        result(name, "routing", Outcome.FAIL)
        for name in ("ROUTE-DATA-001", "STORE-CRC-001")
    ]
    values = [(f"{equal}, 1", f"{equal}, 2 and more"), ("0", "5 " * 200)]
    shown = [
        replace(one, failure=replace(one.failure, found=found, expected=expected))
        for one, (found, expected) in zip(failed, values, strict=True)
        if one.failure is not None
    ]
    lines = end_of(shown)
    assert "  got      ...85, 86, 87, 88, 89, 1" in lines
    assert "  expected ...85, 86, 87, 88, 89, 2 and more" in lines
    assert "  got      0" in lines
    assert max(len(one) for one in lines if "rmqc" not in one) <= columns


def test_the_sentence_of_a_failure_is_wrapped_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    clause = next(one for one in all_clauses().values() if len(one.text) > 200)
    failed = result(clause.id, "store", Outcome.FAIL)
    assert failed.failure is not None
    text = f"{clause_block(clause)}\n\n  got  1"
    shown = replace(failed, failure=replace(failed.failure, text=text))
    lines = end_of([shown])
    first = lines.index("causes") + 2
    sentence = lines[first : lines.index("", first)]
    assert " ".join(map(str.strip, sentence)) == clause.text
    following = [line.split()[0] for line in sentence[1:]]
    for line, word in zip(sentence, following, strict=False):
        assert len(f"{line} {word}") > 80


def test_the_reason_of_an_error_is_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    reason = "the name server has no broker's address (HOST:PORT?broker=HOST:PORT is)"
    ids = list(all_clauses())[:2]
    lines = end_of([result(one, "wire", Outcome.ERROR, found=reason) for one in ids])
    assert reason in " ".join(map(str.strip, lines))


@pytest.mark.parametrize(
    ("outcomes", "is_written"),
    [
        ((Outcome.UNSUPPORTED, Outcome.NOT_APPLICABLE), True),
        ((Outcome.UNSUPPORTED, Outcome.PASS), False),
        ((Outcome.NOT_APPLICABLE,), False),
    ],
)
def test_an_adapter_that_supports_nothing_gets_a_first_step(
    outcomes: tuple[Outcome, ...], is_written: bool
) -> None:
    terminal = Terminal()
    results = [
        result(name, "client", outcome)
        for name, outcome in zip(all_clauses(), outcomes, strict=False)
    ]
    write_end(
        terminal,  # type: ignore[arg-type]
        results,
        report=None,
        first_step=first_step_of("client:python3 adapter.py"),
    )
    command = "rmqc test-client --adapter 'python3 adapter.py' --only "
    assert any(command in line for line in terminal.lines) == is_written
    assert first_step_of("embedded:") == ""


def test_a_file_that_cannot_be_imported_is_named(tmp_path: Path) -> None:
    (tmp_path / "test_broken.py").write_text("import no_such_module\n")
    (tmp_path / "test_whole.py").write_text(WHOLE)
    options = ("--by-cause", "--continue-on-collection-errors")
    ended = run_child([tmp_path], *options)
    words = " ".join(ended.output.split())  # a line ends at the width of the terminal
    assert "test_broken.py: ModuleNotFoundError: No module named" in words
    assert ended.outcomes["WIRE-FRAME-001"] is Outcome.PASS
    assert ended.code == HARNESS_FAILED


@pytest.mark.parametrize(("outcome", "count"), [("pass", 1), ("unsupported", 0)])
def test_evidence_without_a_common_verdict_is_not_written(
    outcome: str, count: int
) -> None:
    terminal = Terminal()
    found = compare({"WIRE-FRAME-001": outcome}, all_evidence()["4.6.0"])
    write_differences(terminal, found, is_whole=False)  # type: ignore[arg-type]
    assert sum("evidence of 4.6.0" in line for line in terminal.lines) == count


def test_clauses_of_other_suites_do_not_count_for_a_client() -> None:
    names = list(all_clauses())[:3]
    results = [result(names[0], "client", Outcome.PASS)]
    results += [result(one, "client", Outcome.UNSUPPORTED) for one in names[1:]]
    line = checked_line(results, has_all_clauses=False)
    assert line == "checked 1 of 3 clauses: 2 unsupported"


def test_a_run_with_known_failures_only_has_no_other_reasons() -> None:
    names = list(all_clauses())
    outcomes = [Outcome.UNSUPPORTED, Outcome.NOT_APPLICABLE, Outcome.BLOCKED]
    results = [
        result(name, "wire", outcome, reason=f"{outcome} because")
        for name, outcome in zip(names, outcomes * 3, strict=False)
    ]
    results.append(result(names[20], "wire", Outcome.KNOWN, reason="of a defect"))
    because = [line for line in end_of(results) if "because" in line]
    assert because == []
    assert f"known: of a defect ({names[20]})" in end_of(results)
    results.append(result(names[21], "wire", Outcome.FAIL))
    assert [line for line in end_of(results) if "because" in line] != []


def test_what_blocks_without_a_failure_precedes_other_reasons() -> None:
    first, second, *others = list(all_clauses())[:12]
    results = [
        result(name, "wire", Outcome.UNSUPPORTED, reason="it lacks that")
        for name in others
    ]
    results.append(result(first, "wire", Outcome.FAIL))
    for name, blocker in ((second, "SEND-RESPONSE-001"), (others[0], first)):
        reason = f"blocked by {blocker}, refused"
        results.append(result(name, "wire", Outcome.BLOCKED, reason=reason))
    lines = [line for line in end_of(results) if line.startswith(("unsup", "blocked"))]
    assert lines[0] == f"blocked: blocked by SEND-RESPONSE-001, refused ({second})"
    assert len(lines) == 2


def test_clauses_about_clients_are_counted_apart_on_a_broker() -> None:
    of_clients = [name for name in all_clauses() if name.startswith("CLIENT-")]
    line = checked_line([result("WIRE-FRAME-001", "wire", Outcome.PASS)])
    rest = len(all_clauses()) - 1 - len(of_clients)
    clients = f"{len(of_clients)} about clients (rmqc test-client)"
    assert line.endswith(f" clauses: {rest:,} not in this run, {clients}")
