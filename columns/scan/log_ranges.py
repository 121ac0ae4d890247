"""
Ranges of a log, and its sections: parts of equal size that have sums of their own.

Where the sums of two sides differ, only the sections of the log that differ are read
again, not all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from columns.gather import Bools, Ints
from spec.integers import INT64_MAX

SECTION_COUNT = 128
"""Sections of a log, about."""
SECTION_SIZE_MIN = 4096
RANGES_MAX = 1_000
"""Most ranges to read one by one; more are read with all that lies between."""
Ranges = Sequence[tuple[int, int]]
"""Begin and end of ranges of a log, as commit-log offsets; in order and disjoint."""
Sums = dict[int, int]
"""Exclusive or of the hashes in each section, by its number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSections:
    """Sections of a log; one for all of it by default."""

    size: int = INT64_MAX
    last: int = 0
    """Number of the last section, to which all later offsets belong."""

    @classmethod
    def between(cls, begin: int, end: int) -> Self:
        """Return the sections of a log from offset *begin* to *end*."""
        size = max((end - begin) // SECTION_COUNT, SECTION_SIZE_MIN)
        return cls(size=size, last=end // size)

    def sums(self, offsets: Ints, hashes: Ints) -> Sums:
        """Return the sums of the *hashes* of rows at *offsets*, none below 0."""
        if not len(offsets):
            return {}
        numbers = np.minimum(offsets // self.size, self.last)
        first, last = int(numbers.min()), int(numbers.max())
        if first == last:  # as in most windows
            return {first: int(np.bitwise_xor.reduce(hashes))}
        sums = np.zeros(last - first + 1, dtype=np.int64)
        np.bitwise_xor.at(sums, numbers - first, hashes)
        used = np.flatnonzero(sums)
        return dict(zip((used + first).tolist(), sums[used].tolist(), strict=True))

    def ranges(self, numbers: Iterable[int]) -> Ranges:
        """Return the ranges of the sections with these *numbers*."""
        return merged(
            (n * self.size, INT64_MAX if n == self.last else (n + 1) * self.size)
            for n in numbers
        )


def add_sums(sums: Sums, others: Mapping[int, int]) -> Sums:
    """Add *others* to *sums*, and return them."""
    for number, value in others.items():
        sums[number] = sums.get(number, 0) ^ value
    return sums


def merged(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Return *ranges* in order, those that overlap or touch as one.

    More than RANGES_MAX are one.
    """
    found: list[tuple[int, int]] = []
    for begin, end in sorted(ranges):
        if found and begin <= found[-1][1]:
            begin, end = found[-1][0], max(end, found.pop()[1])
        found.append((begin, end))
    return found if len(found) <= RANGES_MAX else [(found[0][0], found[-1][1])]


def common(ranges: Ranges, others: Ranges) -> Ranges:
    """Return the intersections of *ranges* and *others*."""
    return [
        (max(begin, first), min(end, behind))
        for begin, end in ranges
        for first, behind in others
        if max(begin, first) < min(end, behind)
    ]


def within(offsets: Ints, ranges: Ranges) -> Bools:
    """Return the mask of *offsets* that lie in one of *ranges*."""
    inside = np.zeros(len(offsets), dtype=np.bool_)
    if not len(offsets):
        return inside
    least, most = int(offsets.min()), int(offsets.max())
    for begin, end in ranges:  # the offsets of a window overlap few
        if begin <= most and least < end:
            inside |= (offsets >= begin) & (offsets < end)
    return inside
