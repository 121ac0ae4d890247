"""
Lines of the end of a run: causes of failures, other failed clauses and lost targets.

A cause is whole where there is room. All lines fit the width of the terminal.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from conformance.harness.report.causes import (
    VALUE_LIMIT,
    Cause,
    Loss,
    by_family,
    one_line,
)
from conformance.harness.report.terminal.line_width import CUT, cut_at, wrapped_at

CAUSES_HEIGHT = 18
"""Lines of all causes and an error, with the text of a failure that is alone."""
MOST_NAMED = 3
"""Clauses of a reason that are named."""
VALUE_COLUMN = 11
"""Characters of a line before its value."""
EQUAL_SHOWN = 20
"""Equal characters that are shown before the difference of two long values."""
SENTENCE_LINES = 3
"""Lines of the first cause's sentence."""
PLAIN: dict[str, bool] = {}
_LEAD = re.compile(r"  (?:test|hint|learnt|issue|again) +\S")
"""Line of a failure that leads on, behind its frames."""


class Line(NamedTuple):
    """A line, and its colours as pytest's terminal has them."""

    text: str
    markup: dict[str, bool] = PLAIN


def loss_lines(losses: Iterable[Loss], width: int | None) -> Iterator[Line]:
    """Yield the headline and the problem of each loss of the target."""
    for loss in losses:
        yield Line(loss.headline, {"red": True})
        yield Line(cut_at(width, f"  {one_line(loss.problem)}"))


def only_text(causes: Sequence[Cause]) -> str:
    """Return the text of a failed clause that is alone; empty for several."""
    is_alone = len(causes) == 1 and len(causes[0].clauses) == 1
    return causes[0].text.rstrip() if is_alone else ""


def text_lines(text: str, height: int | None, width: int | None) -> list[Line]:
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


def cause_lines(
    shown: Sequence[Cause], errors: Sequence[Cause], width: int | None
) -> Iterator[Line]:
    """Yield the lines of the first causes: more of each where there is room."""
    whole = [
        _whole_cause(cause, width, is_first=not n) for n, cause in enumerate(shown)
    ]
    of_error = [line for cause in errors[:1] for line in _error_lines(cause, width)]
    has_room = sum(map(len, [*whole, of_error])) <= CAUSES_HEIGHT
    for number, cause in enumerate(shown):
        is_short = number and not has_room
        yield from _short_cause(cause, width) if is_short else whole[number]
    yield from of_error


def _error_lines(cause: Cause, width: int | None) -> Iterator[Line]:
    """Yield the clauses without a verdict, and the reason."""
    named = ", ".join(first_few(cause.clauses))
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
    lines = [heading_of(cause), *map(Line, sentence), *_values(cause, width)]
    others = [name for name in cause.clauses if name != cause.clause_id]
    if others:
        lines.append(Line(f"  also     {', '.join(first_few(others))}"))
    if cause.again and not is_first:
        lines.append(Line(f"  again    {cause.again}"))
    return lines


def _short_cause(cause: Cause, width: int | None) -> list[Line]:
    """Return the clause with the begin of its sentence, and the values."""
    head = heading_of(cause)
    text = cut_at(width, f"{head.text}  {cause.sentence}")
    return [Line(text, head.markup), *_values(cause, width)]


def heading_of(cause: Cause) -> Line:
    """Return the clause of *cause*, its level and the extent of the failure."""
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


def clauses_not_in(lines: Iterable[Line], causes: Iterable[Cause]) -> list[str]:
    """Return the clauses of *causes* that *lines* do not contain."""
    shown = {word.strip(",") for line in lines for word in line.text.split()}
    return [name for one in causes for name in one.clauses if name not in shown]


def other_lines(
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


def first_few(names: Sequence[str]) -> list[str]:
    """Return the first names, and the number of the others."""
    more = len(names) - MOST_NAMED
    return [*names[:MOST_NAMED], *([f"{more} more"] if more > 0 else [])]
