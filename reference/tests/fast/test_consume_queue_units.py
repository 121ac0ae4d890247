"""Consume-queue ends found by numpy are those that core finds."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from reference.core.store.layouts import unit_codec
from reference.core.store.recovery.queue_end import (
    LeadingUnits,
    find_queue_end,
    leading_units,
    truncate_queue,
)
from reference.core.store.recovery.rules import REFERENCE, RecoveryRules
from reference.fast import bulk_scan as fast

PER_FILE = 4
FILE_SIZE = PER_FILE * unit_codec.size
FILLER = 0, 2**31 - 1, 0
steps = st.one_of(
    st.just((0, 1)),
    st.tuples(st.sampled_from((-1, 0, 0, 0, 5)), st.sampled_from((1, 1, 0, -1))),
)
units = st.lists(steps, max_size=2 * PER_FILE + 3)
Files = list[tuple[int, memoryview]]


def made(row: list[tuple[int, int]], first: int, fillers: int, far: int) -> Files:
    """Return files whose units follow one another, but for the steps of *row*."""
    found = [FILLER] * fillers
    place = first
    for gap, size in row:
        found.append((place + gap, size, 7))
        place += gap + max(size, 0)
    if far and found:
        found[far % len(found)] = (2**63 - far, 5, 0)
    data = b"".join(unit_codec.pack(*unit) for unit in found)
    data += bytes(-len(data) % FILE_SIZE or (0 if data else FILE_SIZE))
    starts = range(0, len(data), FILE_SIZE)
    return [(60 + at, memoryview(data)[at : at + FILE_SIZE]) for at in starts]


stories = st.builds(
    made,
    units,
    st.integers(0, 3),
    st.integers(0, 2),
    st.sampled_from((0, 0, 0, 1, 2, 5, 2**62 + 1)),
)


@settings(deadline=None, max_examples=400, derandomize=True)
@given(files=stories)
def test_the_end_is_the_same(files: Files) -> None:
    at_once = find_queue_end(files[-3:], FILE_SIZE, REFERENCE, leading)
    plain = [(base, unit_codec.iter_unpack(data)) for base, data in files[-3:]]
    assert at_once == find_queue_end(plain, FILE_SIZE, REFERENCE)


@settings(deadline=None, max_examples=400, derandomize=True)
@given(files=stories, log_end=st.integers(0, 12), base=st.sampled_from((0, 60)))
def test_the_cut_is_the_same(files: Files, log_end: int, base: int) -> None:
    files = [(base + at - 60, data) for at, data in reversed(files)]
    at_once = truncate_queue(files, log_end, REFERENCE, leading)
    plain = ((at, unit_codec.iter_unpack(data)) for at, data in files)
    assert at_once == truncate_queue(plain, log_end, REFERENCE)


def leading(
    data: memoryview, rules: RecoveryRules, log_end: int, *, trusts_first: bool = False
) -> LeadingUnits:
    """Return the units that numpy finds; only a far unit is left to core."""
    at_once = fast.leading_units(data, log_end)
    plain = unit_codec.iter_unpack(data)
    core = leading_units(plain, rules, log_end, trusts_first=trusts_first)
    assert at_once in (None, core)
    assert at_once is not None or has_far(data)
    return at_once or core


def has_far(data: memoryview) -> bool:
    """Return whether a unit points further than anybody counts."""
    return any(unit[0] >= 2**62 for unit in unit_codec.iter_unpack(data))
