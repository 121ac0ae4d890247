"""
End of a run in the terminal: one screen with counts, causes of failures and reasons.

The gravest causes come first, and all other failed clauses stand in one line. A report
has everything that does not fit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from conformance.harness.report.causes import (
    BLOCKER,
    causes_of,
    loss_in,
    losses_of,
    one_line,
    stale_clauses,
)
from conformance.harness.report.evidence.evidence_differences import (
    Comparison,
    difference_lines,
)
from conformance.harness.report.outcome import Outcome
from conformance.harness.report.pages.run_page import PAGE_OF_RUN
from conformance.harness.report.report import entry_of
from conformance.harness.report.report_json import ClauseEntry
from conformance.harness.report.run_record import STALE, STOPPED, ClauseResult
from conformance.harness.report.terminal.cause_lines import (
    CAUSES_HEIGHT,
    Line,
    cause_lines,
    clauses_not_in,
    first_few,
    heading_of,
    loss_lines,
    only_text,
    other_lines,
    text_lines,
)
from conformance.harness.report.terminal.counts_table import checked_line, table
from conformance.harness.report.terminal.line_width import (
    cut_at,
    line_width,
    wrapped_at,
)

MOST_CAUSES = 5
MOST_LOSSES, LOSS_HEIGHT = 1, 3
MOST_REASONS = 3
OTHERS_HEIGHT = 2
"""Lines of the ids of other failed clauses; more where the causes leave room."""
FEW_CLAUSES = 12
"""A run of so few clauses shows a failure whole, if it is alone."""
SLOW_SHRINKING = "WARNING: Hypothesis has spent more than five minutes"
"""Warning of Hypothesis about its own limit; a run here has a lower one."""
CAUSED = (Outcome.FAIL, Outcome.ERROR)
"""Outcomes that the causes are about."""


def write_summary(
    terminal: pytest.TerminalReporter,
    results: list[ClauseResult],
    *,
    heading: str,
    report: Path | None,
    is_whole: bool,
    has_all_clauses: bool = True,
) -> None:
    """Write counts, causes of failures and reasons, at most one screen.

    *report* is the directory of the report, None without one. With *is_whole*, pytest
    has written the text of each failure. *has_all_clauses*: every clause of the
    specification could be in the run.
    """
    if not results:
        return
    terminal.section("clauses")
    _write(terminal, [Line(heading, {"bold": True})])
    for line in table(results, _width(terminal)):
        terminal.write_line(line)
    checked = checked_line(results, has_all_clauses=has_all_clauses)
    _write(terminal, [Line(checked, {"bold": True})])
    entries = [entry_of(result) for result in results]
    write_causes(terminal, entries, report=report, is_whole=is_whole)
    is_short = any(result.outcome in CAUSED for result in results)
    for reason in reasons(results, is_short=is_short):
        line = cut_at(_width(terminal), reason) if is_short else reason
        _write(terminal, [Line(line)])


def write_causes(
    terminal: pytest.TerminalReporter,
    entries: Sequence[ClauseEntry],
    *,
    report: Path | None,
    is_whole: bool,
) -> None:
    """Write the causes of failures, then that of errors, and stale known failures."""
    failed, errors = causes_of(entries), causes_of(entries, "error")
    losses = losses_of(entries)[:MOST_LOSSES]
    if failed or errors or losses:
        terminal.section("causes")
    _write(terminal, loss_lines(losses, _width(terminal)))
    text = "" if is_whole else only_text([*failed, *errors])
    if text:
        height = None if len(entries) <= FEW_CLAUSES else CAUSES_HEIGHT
        _write(terminal, [heading_of(cause) for cause in failed if cause.blocked])
        _write(terminal, text_lines(text, height, _width(terminal)))
    else:
        most = MOST_CAUSES - len(errors[:1]) - len(losses)
        lines = list(cause_lines(failed[:most], errors, _width(terminal)))
        _write(terminal, lines)
        others = clauses_not_in(lines, [*failed, *errors])
        free = CAUSES_HEIGHT - len(lines) - LOSS_HEIGHT * len(losses)
        height = max(OTHERS_HEIGHT + free, 1)
        _write(terminal, other_lines(others, report, height, _width(terminal)))
    stale = stale_clauses(entries)
    if stale:
        named = ", ".join(first_few(stale))
        text = f"known failures that pass (remove their entries): {named}"
        _write(terminal, [Line(text, {"red": True})])


def write_end(
    terminal: pytest.TerminalReporter,
    results: Iterable[ClauseResult],
    *,
    report: Path | None,
    first_step: str = "",
) -> None:
    """Write the place of the report, and the next command after a failure.

    *first_step* is what to do about a target that supports no test.
    """
    if report is not None:
        terminal.write_line(f"report   {report / PAGE_OF_RUN}")
    found = list(results)
    failed = causes_of(map(entry_of, found))
    if failed and failed[0].again:
        terminal.write_line(f"next     {failed[0].again}")
    outcomes = {result.outcome for result in found} - {Outcome.NOT_APPLICABLE}
    if first_step and outcomes == {Outcome.UNSUPPORTED}:
        _write(terminal, [Line(f"next     {line}") for line in first_step.split("\n")])


def write_error(terminal: pytest.TerminalReporter, text: str) -> None:
    """Write *text* in red."""
    _write(terminal, [Line(text, {"red": True})])


def write_uncollected(terminal: pytest.TerminalReporter, files: Sequence[str]) -> None:
    """Write the files whose tests did not run, because they cannot be imported."""
    _write(terminal, [Line(f"not collected: {one}", {"red": True}) for one in files])


def write_honesty(
    terminal: pytest.TerminalReporter, refused: list[str], violations: list[str]
) -> None:
    """Write the codes that the target refuses, and its violations."""
    if refused:
        named = ", ".join(first_few(refused))
        _write(terminal, [Line(f"the target refuses: {named}")])
    for line in violations:
        text = f"not honest: {line}; its refusals do not count"
        _write(terminal, [Line(text, {"red": True})])


def fit_failures(terminal: pytest.TerminalReporter) -> None:
    """Wrap the texts of failures, which pytest writes, at the width of the terminal."""
    for outcome in ("failed", "error"):
        for report in terminal.stats.get(outcome, ()):
            if isinstance(report.longrepr, str):
                report.longrepr = wrapped_at(_width(terminal), report.longrepr)
            report.sections = [
                (title, text)
                for title, text in report.sections
                if not text.startswith(SLOW_SHRINKING)
            ]


def write_differences(
    terminal: pytest.TerminalReporter, found: Comparison, *, is_whole: bool
) -> None:
    """Write the comparison with the evidence, and each difference if *is_whole*.

    Nothing is written if no clause has a verdict both here and in the evidence.
    """
    if not found.same and not found.different:
        return
    heading, *lines = difference_lines(found)
    _write(terminal, [Line(heading)])
    if is_whole:
        _write(terminal, [Line(line, {"yellow": True}) for line in lines])


def reasons(results: Iterable[ClauseResult], *, is_short: bool = False) -> list[str]:
    """Return why clauses have no verdict or are known failures, the most first.

    Those of blocked clauses precede, because they decide about the exit code. With
    *is_short*, it is without the reasons that counts and causes contain. Beside known
    failures, it has only them if nothing else failed but stale entries.
    """
    results = list(results)
    caused = [one for one in results if one.outcome in CAUSED and one.reason != STALE]
    has_known = any(one.outcome is Outcome.KNOWN for one in results)
    if has_known and not caused:
        results = [one for one in results if one.outcome is Outcome.KNOWN]
    failed = {one.id for one in caused}
    named: dict[tuple[Outcome, str], list[str]] = defaultdict(list)
    for result in results:
        reason = result.reason
        is_shown = loss_in(result.outcome, reason)[1]
        blocker = BLOCKER.match(reason)
        is_counted = result.outcome is Outcome.NOT_APPLICABLE or (
            blocker is not None and blocker[1] in failed
        )
        if result.outcome in (Outcome.PASS, *CAUSED) or is_shown:
            continue
        if is_short and is_counted:
            continue
        if reason.startswith(STOPPED):
            reason = f"{STOPPED}another clause"
        named[result.outcome, reason].append(result.id)
    frequent = sorted(
        named.items(), key=lambda one: (one[0][0] is not Outcome.BLOCKED, -len(one[1]))
    )
    lines = [
        f"{outcome.value}: {one_line(reason)} ({', '.join(first_few(ids))})"
        for (outcome, reason), ids in frequent
    ]
    more = len(lines) - MOST_REASONS
    return lines[:MOST_REASONS] + ([f"... and {more} more reasons"] if more > 0 else [])


def _write(terminal: pytest.TerminalReporter, lines: Iterable[Line]) -> None:
    """Write *lines*, wrapped at the width of the terminal."""
    for line in lines:
        for part in wrapped_at(_width(terminal), line.text).split("\n"):
            terminal.write_line(part, **line.markup)


def _width(terminal: pytest.TerminalReporter) -> int | None:
    return line_width(is_terminal=bool(terminal.isatty))
