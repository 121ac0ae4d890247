"""Summary in the terminal: outcomes by family and level, with reasons."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

import pytest

from conformance.harness.report.evidence_differences import Comparison, difference_lines
from conformance.harness.report.outcome import VERDICTS, Outcome
from conformance.harness.report.run_record import ClauseResult
from spec.clause import Level
from spec.registry import all_clauses

COLUMNS = tuple(Outcome)
MOST_REASONS = 12


def write_summary(
    terminal: pytest.TerminalReporter, results: list[ClauseResult], *, heading: str
) -> None:
    """Write the table of outcomes, the failures, and reasons for missing verdicts."""
    if not results:
        return
    terminal.section(heading)
    for line in table(results):
        terminal.write_line(line)
    terminal.write_line(checked_line(results), bold=True)
    for line in failed(results):
        terminal.write_line(line, red=True)
    for line in reasons(results):
        terminal.write_line(line)


def write_honesty(
    terminal: pytest.TerminalReporter, refused: list[str], complaints: list[str]
) -> None:
    """Write the codes that the target refuses, and complaints about its honesty."""
    if refused:
        terminal.write_line(f"the target refuses: {', '.join(refused)}")
    for line in complaints:
        terminal.write_line(f"not honest: {line}; its refusals do not count", red=True)


def write_differences(terminal: pytest.TerminalReporter, found: Comparison) -> None:
    """Write how the run stands to what was recorded of the release."""
    heading, *lines = difference_lines(found)
    terminal.write_line(heading)
    for line in lines:
        terminal.write_line(line, yellow=True)


def table(results: Iterable[ClauseResult]) -> list[str]:
    """Return one line for each room and level that has a result."""
    counted: dict[tuple[str, Level], Counter[Outcome]] = defaultdict(Counter)
    for result in results:
        clause = all_clauses()[result.id]
        counted[clause.id.partition("-")[0], clause.level][result.outcome] += 1
    total = sum(counted.values(), Counter())
    rows = [
        ("", "", *(outcome.value for outcome in COLUMNS)),
        *(
            (room, level.value, *_cells(count))
            for (room, level), count in sorted(counted.items())
        ),
        ("clauses", "", *_cells(total)),
    ]
    return [_line(row) for row in rows]


def checked_line(results: Iterable[ClauseResult]) -> str:
    """Return the number of clauses with a verdict, and of the others by outcome.

    Clauses of the specification that no test of the run names count as not in the run.
    """
    counted = Counter(result.outcome for result in results)
    checked = sum(counted[outcome] for outcome in VERDICTS)
    total = len(all_clauses())
    others = [
        f"{counted[outcome]:,} {outcome}"
        for outcome in COLUMNS
        if outcome not in VERDICTS and counted[outcome]
    ]
    if missing := total - sum(counted.values()):
        others.append(f"{missing:,} not in this run")
    first = (
        f"checked {checked:,} of {total:,} clauses" if checked else "checked nothing"
    )
    return ": ".join(filter(None, [first, ", ".join(others)]))


def failed(results: Iterable[ClauseResult]) -> list[str]:
    """Return one line for each clause that failed or could not be tried."""
    return [
        f"{result.outcome.value:<6} {result.id}  {all_clauses()[result.id].text}"
        for result in results
        if result.outcome in (Outcome.FAIL, Outcome.ERROR)
    ]


def reasons(results: Iterable[ClauseResult]) -> list[str]:
    """Return why clauses are known failures, unsupported or not applicable."""
    named: dict[tuple[Outcome, str], list[str]] = defaultdict(list)
    for result in results:
        if result.outcome not in (Outcome.PASS, Outcome.FAIL, Outcome.ERROR):
            named[result.outcome, result.reason].append(result.id)
    lines = [
        f"{outcome.value}: {reason} ({', '.join(ids)})"
        for (outcome, reason), ids in named.items()
    ]
    more = len(lines) - MOST_REASONS
    return lines[:MOST_REASONS] + ([f"... and {more} more reasons"] if more > 0 else [])


def _cells(count: Counter[Outcome]) -> list[str]:
    return [str(count[outcome] or "·") for outcome in COLUMNS]


def _line(row: Iterable[str]) -> str:
    first, second, *rest = row
    return f"{first:<8} {second:<7}" + "".join(f"{cell:>15}" for cell in rest)
