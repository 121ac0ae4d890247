"""
End of a run in the terminal: one screen with counts, causes of failures and reasons.

The gravest causes come first, and all other failed clauses stand in one line. A report
has everything that does not fit.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from conformance.harness.report.causes import (
    BLOCKER,
    VALUE_LIMIT,
    Cause,
    Loss,
    by_family,
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
from conformance.harness.report.terminal.counts_table import checked_line, table
from conformance.harness.report.terminal.line_width import (
    CUT,
    cut_at,
    line_width,
    wrapped_at,
)

CAUSES_HEIGHT = 18
"""Lines of all causes, with the text of a failure that is alone."""
MOST_CAUSES = 5
MOST_LOSSES, LOSS_HEIGHT = 1, 3
MOST_REASONS = 3
MOST_NAMED = 3
"""Clauses of a reason that are named."""
OTHERS_HEIGHT = 2
"""Lines of the ids of other failed clauses; more where the causes leave room."""
FEW_CLAUSES = 12
"""A run of so few clauses shows a failure whole, if it is alone."""
VALUE_COLUMN = 11
"""Characters of a line before its value."""
EQUAL_SHOWN = 20
"""Equal characters that are shown before the difference of two long values."""
SENTENCE_LINES = 3
"""Lines of the first cause's sentence."""
SLOW_SHRINKING = "WARNING: Hypothesis has spent more than five minutes"
"""Warning of Hypothesis about its own limit; a run here has a lower one."""
CAUSED = (Outcome.FAIL, Outcome.ERROR)
"""Outcomes that the causes are about."""
PLAIN: dict[str, bool] = {}
_LEAD = re.compile(r"  (?:test|hint|learnt|issue|again) +\S")
"""Line of a failure that leads on, behind its frames."""


class Line(NamedTuple):
    """A line, and its colours as pytest's terminal has them."""

    text: str
    markup: dict[str, bool] = PLAIN


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
    _write(terminal, _loss_lines(losses, _width(terminal)))
    text = "" if is_whole else _only_text([*failed, *errors])
    if text:
        height = None if len(entries) <= FEW_CLAUSES else CAUSES_HEIGHT
        _write(terminal, [_head(cause) for cause in failed if cause.blocked])
        _write(terminal, _text_lines(text, height, _width(terminal)))
    else:
        most = MOST_CAUSES - len(errors[:1]) - len(losses)
        lines = list(_cause_lines(failed[:most], errors, _width(terminal)))
        _write(terminal, lines)
        others = _others(lines, [*failed, *errors])
        free = CAUSES_HEIGHT - len(lines) - LOSS_HEIGHT * len(losses)
        height = max(OTHERS_HEIGHT + free, 1)
        _write(terminal, _other_lines(others, report, height, _width(terminal)))
    stale = stale_clauses(entries)
    if stale:
        named = ", ".join(_first_few(stale))
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
        named = ", ".join(_first_few(refused))
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

    With *is_short*, it is without the reasons that counts and causes contain. Beside
    known failures, it has only them if nothing else failed but stale entries.
    """
    results = list(results)
    caused = [one for one in results if one.outcome in CAUSED and one.reason != STALE]
    has_known = any(one.outcome is Outcome.KNOWN for one in results)
    if has_known and not caused:
        results = [one for one in results if one.outcome is Outcome.KNOWN]
    named: dict[tuple[Outcome, str], list[str]] = defaultdict(list)
    for result in results:
        reason = result.reason
        is_shown = loss_in(result.outcome, reason)[1]
        is_counted = result.outcome is Outcome.NOT_APPLICABLE or BLOCKER.match(reason)
        if result.outcome in (Outcome.PASS, *CAUSED) or is_shown:
            continue
        if is_short and is_counted:
            continue
        if reason.startswith(STOPPED):
            reason = f"{STOPPED}another clause"
        named[result.outcome, reason].append(result.id)
    frequent = sorted(named.items(), key=lambda one: -len(one[1]))
    lines = [
        f"{outcome.value}: {one_line(reason)} ({', '.join(_first_few(ids))})"
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


def _loss_lines(losses: Iterable[Loss], width: int | None) -> Iterator[Line]:
    for loss in losses:
        yield Line(loss.headline, {"red": True})
        yield Line(cut_at(width, f"  {one_line(loss.problem)}"))


def _only_text(causes: Sequence[Cause]) -> str:
    """Return the text of a failed clause that is alone; empty for several."""
    is_alone = len(causes) == 1 and len(causes[0].clauses) == 1
    return causes[0].text.rstrip() if is_alone else ""


def _text_lines(text: str, height: int | None, width: int | None) -> list[Line]:
    """Return *height* lines of *text*; None for all.

    The first ones are shown, and those behind them that lead on: hints, sources, issues
    and the command. The sentence of its clause, which is wrapped in *text*, is wrapped
    at *width*.
    """
    head, sentence, rest = _clause_of(text)
    if sentence:
        text = f"{head}\n{wrapped_at(width, sentence, 0)}{rest}"
    lines = [Line(line) for line in text.split("\n")]
    if height is None or len(lines) <= height:
        return lines
    leads = [place for place, one in enumerate(lines) if _LEAD.match(one.text)]
    end = max(height - 1 - len(leads), height // 2)
    leads = [place for place in leads if place >= end]
    more = len(lines) - end - len(leads)
    after = [lines[place] for place in leads]
    return [*lines[:end], Line(f"... and {more} more lines"), *after]


def _clause_of(text: str) -> tuple[str, str, str]:
    """Return the first line of a failure, the clause's sentence in one line, the rest.

    The sentence is empty if the text does not begin with a clause.
    """
    block, blank, rest = text.partition("\n\n")
    head, *lines = block.split("\n")
    if not lines or not all(line.startswith("  ") for line in lines):
        return text, "", ""
    return head, f"  {' '.join(map(str.strip, lines))}", blank + rest


def _cause_lines(
    shown: Sequence[Cause], errors: Sequence[Cause], width: int | None
) -> Iterator[Line]:
    """Yield the lines of the first causes: more of each where there is room."""
    whole = [
        _whole_cause(cause, width, is_first=not n) for n, cause in enumerate(shown)
    ]
    has_room = sum(map(len, whole)) <= CAUSES_HEIGHT
    for number, cause in enumerate(shown):
        is_short = number and not has_room
        yield from _short_cause(cause, width) if is_short else whole[number]
    for cause in errors[:1]:
        named = ", ".join(_first_few(cause.clauses))
        yield Line(cut_at(width, f"error    {named}"), {"yellow": True})
        reason = wrapped_at(width, f"  {one_line(cause.found)}", 0).split("\n")
        yield from (Line(cut_at(width, line)) for line in reason)


def _whole_cause(cause: Cause, width: int | None, *, is_first: bool) -> list[Line]:
    """Return the clause, its sentence, the values, other clauses and the command.

    The command of the first cause is the last line of the run.
    """
    sentence = wrapped_at(width, f"  {cause.sentence}", 0).split("\n")
    if len(sentence) > SENTENCE_LINES:
        last = f"{sentence[SENTENCE_LINES - 1]}{CUT}"
        sentence = [*sentence[: SENTENCE_LINES - 1], cut_at(width, last)]
    lines = [_head(cause), *map(Line, sentence), *_values(cause, width)]
    others = [name for name in cause.clauses if name != cause.clause_id]
    if others:
        lines.append(Line(f"  also     {', '.join(_first_few(others))}"))
    if cause.again and not is_first:
        lines.append(Line(f"  again    {cause.again}"))
    return lines


def _short_cause(cause: Cause, width: int | None) -> list[Line]:
    """Return the clause with the begin of its sentence, and the values."""
    head = _head(cause)
    text = cut_at(width, f"{head.text}  {cause.sentence}")
    return [Line(text, head.markup), *_values(cause, width)]


def _head(cause: Cause) -> Line:
    extent = f"  ({cause.extent})" if cause.extent else ""
    colour = "red" if cause.is_grave else "yellow"
    return Line(f"{cause.clause_id} {cause.level}{extent}", {colour: True})


def _values(cause: Cause, width: int | None) -> Iterator[Line]:
    size = VALUE_LIMIT if width is None else min(VALUE_LIMIT, width - VALUE_COLUMN)
    found, expected = _from_difference(cause.found, cause.expected, size)
    for name, value in (("got", found), ("expected", expected)):
        if value:
            yield Line(cut_at(width, f"  {name:<8} {one_line(value)}"))


def _from_difference(found: str, expected: str, size: int) -> tuple[str, str]:
    """Return both values, from their difference on if *size* characters are equal."""
    found, expected = (" ".join(text.split()) for text in (found, expected))
    end = size - len(CUT)
    if found == expected or found[:end] != expected[:end]:
        return found, expected
    pairs = enumerate(zip(found, expected, strict=False))
    equal = next((n for n, (one, other) in pairs if one != other), end)
    begin = equal - EQUAL_SHOWN
    return CUT + found[begin:], CUT + expected[begin:]


def _others(lines: Iterable[Line], causes: Iterable[Cause]) -> list[str]:
    """Return the clauses of *causes* that *lines* do not contain."""
    shown = {word.strip(",") for line in lines for word in line.text.split()}
    return [name for one in causes for name in one.clauses if name not in shown]


def _other_lines(
    ids: Sequence[str], report: Path | None, height: int, width: int | None
) -> list[Line]:
    """Return the line of other failed clauses, at most *height* lines when wrapped.

    With too little room for all ids, those of a family share its name.
    """
    if not ids:
        return []
    end = "" if report else "; --report DIR writes all of them, and -v prints them"
    head = f"... and {len(ids):,} more: "

    def is_high(text: str) -> bool:
        return len(wrapped_at(width, f"{head}{text}{end}").split("\n")) > height

    def by_name(count: int) -> str:
        return "; ".join([*by_family(ids[:count]), *["others"][: len(ids) - count]])

    text = ", ".join(ids)
    if is_high(text):
        counts = range(len(ids) + 1)
        fitting = bisect_left(counts, x=True, key=lambda n: is_high(by_name(n)))
        text = by_name(max(fitting - 1, 0))
    return [Line(f"{head}{text}{end}")]


def _first_few(names: Sequence[str]) -> list[str]:
    """Return the first names, and the number of the others."""
    more = len(names) - MOST_NAMED
    return [*names[:MOST_NAMED], *([f"{more} more"] if more > 0 else [])]
