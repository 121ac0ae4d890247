"""
Suspect ranges and queues hold what is to be read again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columns.scan import log_file, record_scan
from columns.scan.log_ranges import Ranges, merged
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


@pytest.fixture(autouse=True, scope="module")
def _small_windows() -> Iterator[None]:
    """Make windows of three or four records."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (log_file, record_scan):
            patch.setattr(module, "WINDOW_SIZE", 700)
            patch.setattr(module, "BEYOND_SIZE", 300)
        yield


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
