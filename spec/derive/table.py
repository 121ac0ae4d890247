"""
The textbook view of a layout: one line a field, with place, size, name and meaning.

If a field's place depends on earlier fields, the smallest is shown with a plus. Golden
prints of these lines are kept in ``fixtures/layouts``, so a review shows a change of a
layout.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from construct import Bytes, GreedyBytes, IfThenElse, Prefixed, Renamed, Struct


@dataclass(frozen=True, slots=True)
class Row:
    """One field in a table."""

    place: str
    size: str
    name: str
    meaning: str

    def __str__(self) -> str:
        return (
            f"{self.place:>5} {self.size:>10}  {self.name:<28}{self.meaning}".rstrip()
        )


def rows(layout: Struct) -> list[Row]:
    """Return the rows of *layout* in the order of its bytes."""
    return list(_rows(layout, "", _Place()))


def table(layout: Struct) -> str:
    """Return *layout* as the lines of a golden print."""
    return "".join(f"{row}\n" for row in rows(layout))


class _Place:
    """Smallest begin of the next field, and whether that is certain."""

    def __init__(self) -> None:
        self.least = 0
        self.is_certain = True

    def __str__(self) -> str:
        return f"{self.least}" if self.is_certain else f"{self.least}+"

    def advance(self, sizes: list[int], *, is_exact: bool) -> None:
        """Step over a field of one of these *sizes*, or of more."""
        self.least += min(sizes)
        self.is_certain &= is_exact and len(set(sizes)) == 1


def _rows(layout: Struct, prefix: str, place: _Place) -> Iterator[Row]:
    for named in layout.subcons:
        part, meaning = _named(named)
        name = f"{prefix}{named.name}"
        if isinstance(part, Struct):
            yield from _rows(part, f"{name}.", place)
            continue
        sizes, has_more = _sizes(part)
        text = " or ".join(f"{size}+n" if has_more else f"{size}" for size in sizes)
        text = "n" if has_more and sizes == [0] else text
        yield Row(str(place), text, name, meaning)
        place.advance(sizes, is_exact=not has_more)


def _named(part: Any) -> tuple[Any, str]:
    """Return *part* without its name, and its meaning."""
    meaning = ""
    while isinstance(part, Renamed):
        meaning = meaning or part.docs
        part = part.subcon
    return part, meaning


def _sizes(part: Any) -> tuple[list[int], bool]:
    """Return the sizes that *part* can have, and whether bytes may follow those."""
    part, _ = _named(part)
    if isinstance(part, IfThenElse):
        first, more = _sizes(part.elsesubcon)
        second, even_more = _sizes(part.thensubcon)
        return [*first, *(s for s in second if s not in first)], more or even_more
    if isinstance(part, Prefixed):
        return _sizes(part.lengthfield)[0], True
    if part is GreedyBytes or (isinstance(part, Bytes) and callable(part.length)):
        return [0], True
    return [part.sizeof()], False
