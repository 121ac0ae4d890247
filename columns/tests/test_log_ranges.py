"""
Sums of sections add up, and ranges have the offsets of those they are made of.
"""

from __future__ import annotations

from functools import reduce
from itertools import pairwise
from operator import xor

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from columns.scan.log_ranges import (
    RANGES_MAX,
    SECTION_COUNT,
    LogSections,
    Ranges,
    add_sums,
    common,
    merged,
    within,
)
from spec.integers import INT64_MAX

BASE = 1 << 30
EXAMPLES = settings(max_examples=100, derandomize=True, deadline=None)
SECTIONS = LogSections.between(BASE, BASE + (1 << 20))
places = st.sampled_from([0, BASE - 1, BASE, BASE + 8192, 2**62])
near = st.integers(BASE - 10_000, BASE + (1 << 20) + 10_000)
edges = st.integers(0, 60)
ranges_of_any = st.lists(st.tuples(edges, edges).map(sorted).map(tuple), max_size=6)


def _offsets_in(ranges: Ranges) -> set[int]:
    return {n for begin, end in ranges for n in range(begin, end)}


@EXAMPLES
@given(ranges=ranges_of_any, others=ranges_of_any)
def test_ranges_are_merged_and_intersected(ranges: Ranges, others: Ranges) -> None:
    whole, rest = merged(ranges), merged(others)
    assert _offsets_in(whole) == _offsets_in(ranges)
    assert all(a[1] < b[0] for a, b in pairwise(whole))
    assert _offsets_in(common(whole, rest)) == _offsets_in(ranges) & _offsets_in(others)
    every = np.arange(61)
    assert set(every[within(every, whole)].tolist()) == _offsets_in(ranges)


def test_very_many_ranges_are_read_as_one() -> None:
    many = [(10 * n, 10 * n + 1) for n in range(RANGES_MAX + 1)]
    assert merged(many[:-1]) == many[:-1]
    assert merged(many) == [(0, 10 * RANGES_MAX + 1)]


def test_a_log_has_so_many_sections() -> None:
    assert len(SECTIONS.ranges(range(SECTIONS.last + 1))) == 1
    numbers = range(BASE // SECTIONS.size, SECTIONS.last + 1)
    assert len(numbers) == SECTION_COUNT + 1
    assert SECTIONS.ranges([SECTIONS.last]) == [(BASE + (1 << 20), INT64_MAX)]


@EXAMPLES
@given(offsets=st.lists(places | near))
def test_each_offset_is_in_the_range_of_its_section(offsets: list[int]) -> None:
    at = np.array(offsets, dtype=np.int64)
    hashes = at * 31 + 7
    sums = SECTIONS.sums(at, hashes)
    for number, value in sums.items():
        inside = within(at, SECTIONS.ranges([number]))
        assert value == int(np.bitwise_xor.reduce(hashes[inside]))
    total = int(np.bitwise_xor.reduce(hashes)) if offsets else 0
    assert reduce(xor, sums.values(), 0) == total
    halves = [
        SECTIONS.sums(at[part], hashes[part]) for part in (at % 2 == 0, at % 2 > 0)
    ]
    known = {number: value for number, value in sums.items() if value}
    assert {n: v for n, v in add_sums(*halves).items() if v} == known
