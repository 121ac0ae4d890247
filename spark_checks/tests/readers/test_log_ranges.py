"""
Sums of sections add up, and suspect ranges and queues hold what is to be read again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from operator import xor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columns.scan import record_scan
from columns.scan.log_ranges import (
    COUNT,
    RANGES_MAX,
    LogSections,
    Ranges,
    add_sums,
    common,
    merged,
    within,
)
from columns.scan.record_columns import QueuePart
from spark_checks.readers.commit_log import batches
from spark_checks.situation import Situation
from spark_checks.survey.survey import survey_log
from spark_checks.tests.readers.drawn_records import (
    BASE,
    ORDINARY,
    WHERE,
    changed_records,
    laid_out,
)
from spec.integers import INT64_MAX
from spec.store.message_record import Record

EXAMPLES = settings(max_examples=100, derandomize=True, deadline=None)
Row = dict[str, Any]
SECTIONS = LogSections.between(BASE, BASE + (1 << 20))
places = st.sampled_from([0, BASE - 1, BASE, BASE + 8192, 2**62])
near = st.integers(BASE - 10_000, BASE + (1 << 20) + 10_000)
edges = st.integers(0, 60)
ranges_of_any = st.lists(st.tuples(edges, edges).map(sorted).map(tuple), max_size=6)


@pytest.fixture(autouse=True, scope="module")
def _small_windows() -> Iterator[None]:
    """Make windows of three or four records."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record_scan, "WINDOW_SIZE", 700)
        patch.setattr(record_scan, "BEYOND_SIZE", 300)
        yield


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
    assert len(numbers) == COUNT + 1
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


def _rows(
    data: bytes, ranges: Ranges, queues: list[QueuePart] | None = None
) -> list[Row]:
    """Return the rows that readers of *ranges* of a file yield."""
    return [
        row
        for begin, end in ranges
        for batch in batches(
            lambda at, size: data[at : at + size],
            replace(WHERE, file_size=len(data), start=begin - BASE, end=end - BASE),
            {1: 1000},
            queues=queues,
        )
        for row in batch.to_pylist()
    ]


def _is_wrong(row: Row) -> bool:
    is_sound = (
        row["kind"] == "record"
        and row["body_crc"] == row["computed_crc"]
        and row["physical_offset"] == row["offset"]
        and not row["damage"]
    )
    return not is_sound


@EXAMPLES
@given(
    records=st.lists(changed_records() | st.just(ORDINARY), min_size=1, max_size=24),
    bytes_changed=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), max_size=3),
    cut=st.sampled_from([1 << 20, 2000]),
    tail=st.sampled_from([0, 200]),
)
def test_suspect_ranges_hold_all_wrong_rows(
    records: list[Record], bytes_changed: list[tuple[float, int]], cut: int, tail: int
) -> None:
    changed = bytearray(laid_out(records))
    for place, byte in bytes_changed:
        changed[int(place * (len(changed) - 1))] = byte
    data = bytes(changed) + bytes(tail)
    whole = replace(WHERE, file_size=len(data), end=len(data))
    suspect: list[tuple[int, int]] = []
    for where in whole.cut(cut):
        part = survey_log(lambda at, size: data[at : at + size], where, Situation())
        suspect += part.summary.suspect_ranges
    everything = _rows(data, [(BASE, BASE + len(data))])
    wrong = [row for row in everything if _is_wrong(row) and row["kind"] != "blank"]
    assert [
        r for r in _rows(data, merged(suspect), []) if r["kind"] != "blank"
    ] == wrong
    parts = [("Orders", 1, 0, 5), ("Orders", 1, 9, INT64_MAX), ("T", 63, 0, 0)]
    assert _rows(data, [(BASE, BASE + len(data))], parts) == [
        row
        for row in everything
        if _is_wrong(row)
        or any(
            (row["topic"], row["queue_id"]) == (topic, queue_id)
            and first <= row["queue_offset"] <= last
            for topic, queue_id, first, last in parts
        )
    ]


def test_a_part_has_all_topics_of_its_text() -> None:
    records = [replace(ORDINARY, topic=topic) for topic in ("T\udcff", "T\udcfe", "T")]
    data = laid_out(records)
    part = ("T\ufffd", ORDINARY.queue_id, 0, INT64_MAX)
    assert len(_rows(data, [(BASE, BASE + len(data))], [part])) == 2


def test_only_windows_near_a_wrong_record_are_suspect() -> None:
    data = bytearray(laid_out([ORDINARY] * 40))
    record_size = len(data) // 40
    data[20 * record_size + 8] ^= 1  # its body's checksum
    where = replace(WHERE, file_size=len(data), end=len(data))
    found = survey_log(
        lambda at, size: bytes(data[at : at + size]), where, Situation()
    ).summary
    assert found.wrong_records > 0
    [(begin, end)] = merged(found.suspect_ranges)
    assert begin - BASE <= 19 * record_size
    assert end - begin <= 2 * 700
