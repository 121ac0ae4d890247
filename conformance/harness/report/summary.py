"""Summary in the terminal: outcomes by room, causes of failures, and reasons."""

from __future__ import annotations

import shutil
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import pytest

from conformance.harness.report.causes import (
    Cause,
    Result,
    causes_of,
    one_line,
    stale_clauses,
)
from conformance.harness.report.evidence_differences import Comparison, difference_lines
from conformance.harness.report.outcome import VERDICTS, Outcome
from conformance.harness.report.report import entry_of
from conformance.harness.report.run_record import STOPPED, ClauseResult
from spec.registry import all_clauses

SHORT = {
    Outcome.PASS: "pass",
    Outcome.FAIL: "fail",
    Outcome.KNOWN: "known",
    Outcome.BLOCKED: "blocked",
    Outcome.ERROR: "error",
    Outcome.UNSUPPORTED: "unsupp.",
    Outcome.NOT_APPLICABLE: "n/a",
}
"""Outcomes as heads of columns."""
BAR_WIDTH = 10
VALUE_INDENT = 9 * " "
MOST_REASONS = 12
MOST_NAMED = 3
"""Clauses of a reason that are named."""
MOST_CAUSES = 20
FEW_CAUSES = 3
"""Up to so many failures are shown whole."""


def write_summary(
    terminal: pytest.TerminalReporter,
    results: list[ClauseResult],
    *,
    heading: str,
    is_whole: bool,
) -> None:
    """Write the table of outcomes, the causes of failures, and reasons.

    The texts of failures are written too if there are only a few, unless *is_whole*:
    then pytest has written all of them.
    """
    if not results:
        return
    terminal.section(heading)
    for line in table(results):
        terminal.write_line(line)
    for line in wrapped(checked_line(results), "  "):
        terminal.write_line(line, bold=True)
    entries = [entry_of(result) for result in results]
    write_causes(terminal, entries, is_whole=is_whole)
    for line in reasons(results):
        for part in wrapped(line, "  "):
            terminal.write_line(part)


def write_causes(
    terminal: pytest.TerminalReporter, entries: Sequence[Result], *, is_whole: bool
) -> None:
    """Write the causes of failures, then those of errors, and stale known failures."""
    failed, errors = causes_of(entries), causes_of(entries, "error")
    if not is_whole and len(failed) + len(errors) <= FEW_CAUSES:
        for cause in [*failed, *errors]:
            terminal.write_line("")
            terminal.write_line(cause.text.rstrip())
    if failed:
        terminal.section("causes of failures")
    for cause in failed[:MOST_CAUSES]:
        _write_cause(terminal, cause)
    if len(failed) > MOST_CAUSES:
        terminal.write_line(f"... and {len(failed) - MOST_CAUSES} more causes")
    for cause in errors[:MOST_CAUSES]:
        named = ", ".join(_first_few(cause.clauses))
        for line in wrapped(f"error: {one_line(cause.found)} ({named})", "  "):
            terminal.write_line(line, yellow=True)
    for name in stale_clauses(entries):
        text = f"stale: {name} passes; remove its entry from the known failures"
        terminal.write_line(text, red=True)


def _write_cause(terminal: pytest.TerminalReporter, cause: Cause) -> None:
    """Write one cause: the clause, its sentence, the values, the command."""
    extent = f"  ({cause.extent})" if cause.extent else ""
    colour = {"red": True} if cause.is_grave else {"yellow": True}
    terminal.write_line(f"{cause.clause_id} {cause.level}{extent}", **colour)
    lines = [*wrapped(cause.sentence)]
    if cause.found:
        lines += wrapped(f"got      {one_line(cause.found)}", VALUE_INDENT)
    if cause.expected:
        lines += wrapped(f"expected {one_line(cause.expected)}", VALUE_INDENT)
    others = [name for name in cause.clauses if name != cause.clause_id]
    if others:
        lines += wrapped(f"also     {', '.join(_first_few(others))}", VALUE_INDENT)
    if cause.again:
        lines.append(f"again    {cause.again}")
    for line in lines:
        terminal.write_line(f"  {line}")


def wrapped(text: str, indent: str = "") -> list[str]:
    """Return *text* in lines that fit the terminal, two columns from its edge."""
    columns = shutil.get_terminal_size().columns - 2
    return textwrap.wrap(
        text, columns, subsequent_indent=indent, break_on_hyphens=False
    )


def _first_few(names: list[str]) -> list[str]:
    """Return the first names, and the number of the others."""
    more = len(names) - MOST_NAMED
    return names[:MOST_NAMED] + ([f"{more} more"] if more > 0 else [])


def write_honesty(
    terminal: pytest.TerminalReporter, refused: list[str], complaints: list[str]
) -> None:
    """Write the codes that the target refuses, and complaints about its honesty."""
    if refused:
        terminal.write_line(f"the target refuses: {', '.join(refused)}")
    for line in complaints:
        terminal.write_line(f"not honest: {line}; its refusals do not count", red=True)


def write_differences(
    terminal: pytest.TerminalReporter, found: Comparison, *, is_whole: bool
) -> None:
    """Write the comparison with the evidence, and each difference if *is_whole*."""
    heading, *lines = difference_lines(found)
    for line in wrapped(heading, "  "):
        terminal.write_line(line)
    if not is_whole:
        return
    for line in lines:
        terminal.write_line(line, yellow=True)


def table(results: Iterable[ClauseResult]) -> list[str]:
    """Return one line for each room that has a result, with its share of passes."""
    counted: dict[str, Counter[Outcome]] = defaultdict(Counter)
    for result in results:
        counted[result.id.partition("-")[0]][result.outcome] += 1
    total = sum(counted.values(), Counter())
    rows = [
        ("", *SHORT.values(), ""),
        *((room, *_cells(count)) for room, count in sorted(counted.items())),
        ("clauses", *_cells(total)),
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
        for outcome in SHORT
        if outcome not in VERDICTS and counted[outcome]
    ]
    if missing := total - sum(counted.values()):
        others.append(f"{missing:,} not in this run")
    first = (
        f"checked {checked:,} of {total:,} clauses" if checked else "checked nothing"
    )
    return ": ".join(filter(None, [first, ", ".join(others)]))


def reasons(results: Iterable[ClauseResult]) -> list[str]:
    """Return why clauses are known failures, unsupported or not applicable."""
    named: dict[tuple[Outcome, str], list[str]] = defaultdict(list)
    for result in results:
        if result.outcome not in (Outcome.PASS, Outcome.FAIL, Outcome.ERROR):
            reason = result.reason
            if reason.startswith(STOPPED):
                reason = f"{STOPPED}another clause"
            named[result.outcome, reason].append(result.id)
    lines = [
        f"{outcome.value}: {reason} ({', '.join(_first_few(ids))})"
        for (outcome, reason), ids in named.items()
    ]
    more = len(lines) - MOST_REASONS
    return lines[:MOST_REASONS] + ([f"... and {more} more reasons"] if more > 0 else [])


def _cells(count: Counter[Outcome]) -> list[str]:
    return [*(str(count[outcome] or "·") for outcome in SHORT), _bar(count)]


def _bar(count: Counter[Outcome]) -> str:
    """Return the share of passes among the verdicts as a bar; empty without any."""
    decided = sum(count[outcome] for outcome in VERDICTS)
    if not decided:
        return ""
    filled = count[Outcome.PASS] * BAR_WIDTH // decided
    return "█" * filled + "░" * (BAR_WIDTH - filled)


def _line(row: Iterable[str]) -> str:
    first, *cells, bar = row
    return f"{first:<8}" + "".join(f"{cell:>8}" for cell in cells) + f"  {bar}"
