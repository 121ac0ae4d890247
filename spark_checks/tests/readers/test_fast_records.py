"""
The fast path gives the same sums as the columns, and leaves the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columns.log_batch import follow_sizes
from spark_checks.columns.record_damage import BORN_MAX_MS, PORT_MAX
from spark_checks.columns.record_scan import FileRange, Window
from spark_checks.survey.fast_records import (
    QUEUES_MAX,
    TOPICS_MAX,
    KnownTopics,
    known_topics,
    sum_fast_records,
)
from spark_checks.survey.summary import SurveySummary
from spark_checks.survey.sums import SurveyOptions
from spark_checks.survey.survey import survey_log
from spark_checks.tests.readers.with_kernels import (
    comparable,
    with_kernels,
    without_kernels,
)
from spec.host import Host
from spec.store.message_record import MAGIC_V2, Record, encode_record

BASE = 1 << 30
MARGIN = bytes(8)
EXAMPLES = settings(max_examples=400, derandomize=True, deadline=None)
TOPICS = (b"Orders", b"T", 9 * b"Q", b"Batched")
WHERE = FileRange(base=BASE, file_size=1 << 20, start=0, end=1 << 20)
RANGES = np.array([[BASE, BASE + 10_001]])
FAST = Record(
    topic="Orders",
    queue_id=1,
    queue_offset=7,
    physical_offset=0,
    body=b"a body",
    properties="KEYS\x01k1\x02UNIQ_KEY\x010123456789\x02TAGS\x01a\x02WAIT\x01true\x02",
    stored_at_ms=1_000_000,
)
names = st.sampled_from(
    ["KEYS", "TAGS", "UNIQ_KEY", "REAL_TOPIC", "UNIQ_KEY2", "T", ""]
)
values = st.sampled_from(["", "k", "k l", "0123456789ab", "\u00e9", "a\x01b", "a\0b"])
pairs = st.tuples(names, values).map("\x01".join)
broken = st.sampled_from(["KEYS", "\x02", "", "x\x01"])
listed = st.lists(pairs, max_size=4).map(lambda each: "".join(f"{p}\x02" for p in each))
irregular = st.lists(st.one_of(pairs, broken), max_size=4).map("\x02".join)


@pytest.fixture(scope="module", autouse=True)
def _pairs() -> Iterator[None]:
    with with_kernels():
        known_topics(frozenset()).learn(TOPICS)
        yield


@st.composite
def changed_records(draw: st.DrawFn) -> Record:
    """Return a fast-path record with a few changed fields."""
    known: dict[str, st.SearchStrategy[Any]] = {
        "topic": st.sampled_from(["T", "Q" * 9, "New", "%RETRY%g", "\u00e9", ""]),
        "queue_id": st.sampled_from([0, 2, QUEUES_MAX - 1, QUEUES_MAX, -1]),
        "queue_offset": st.sampled_from([0, 8, 2**40, -1]),
        "physical_offset": st.just(5),
        "body": st.binary(max_size=40),
        "properties": st.one_of(listed, irregular),
        "system_flags": st.sampled_from([1, 2, 4, 8, 12, 1 << 20]),
        "stored_at_ms": st.sampled_from([0, 989_999, 990_000, 2**63 - 1]),
        "magic": st.just(MAGIC_V2),
        "born_at_ms": st.sampled_from([-1, BORN_MAX_MS, BORN_MAX_MS + 1]),
        "born_host": st.sampled_from([PORT_MAX, PORT_MAX + 1, -1]).map(_at_port),
        "store_host": st.sampled_from([1, -(2**31)]).map(_at_port),
        "reconsume_times": st.sampled_from([3, -1]),
        "prepared_transaction_offset": st.sampled_from([0, 1, -1]),
    }
    changed = draw(st.lists(st.sampled_from(sorted(known)), max_size=3, unique=True))
    return replace(FAST, **{name: draw(known[name]) for name in changed})


def _at_port(port: int) -> Host:
    return Host(bytes([10, 0, 0, 1]), port)


def laid_out(records: list[Record]) -> bytes:
    """Return *records* end to end, each with its own physical offset.

    Records with an explicit physical offset keep it.
    """
    data = b""
    for record in records:
        place = record.physical_offset or BASE + len(data)
        data += encode_record(replace(record, physical_offset=place))
    return data


def surveyed(data: bytes, options: SurveyOptions) -> tuple[object, ...]:
    """Return the comparable result of a file's survey."""
    where = replace(WHERE, file_size=len(data), end=len(data))
    return comparable(survey_log(lambda at, size: data[at : at + size], where, options))


@EXAMPLES
@given(
    first=st.sampled_from([FAST, FAST, replace(FAST, stored_at_ms=-(2**63))]),
    records=st.lists(changed_records(), max_size=8),
    bytes_changed=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), max_size=2),
    begin=st.sampled_from([0, 0, 0, BASE + 1, BASE + 300]),
    ranges=st.sampled_from(
        [(), ((BASE - 1, BASE + 400),), ((0, BASE), (BASE, 2**62)), ((BASE, 2**62),)]
    ),
)
def test_whatever_a_log_has_its_survey_is_the_same(
    first: Record,
    records: list[Record],
    bytes_changed: list[tuple[float, int]],
    begin: int,
    ranges: tuple[tuple[int, int], ...],
) -> None:
    data = bytearray(laid_out([first, *records]))
    for place, byte in bytes_changed:
        data[int(place * (len(data) - 1))] = byte
    options = SurveyOptions(begin=begin, ranges=ranges, delays={1: 1000})
    whole = bytes(data) + bytes(200)
    assert surveyed(whole, options) == without_kernels(lambda: surveyed(whole, options))


def sifted(
    data: bytes, *, known: KnownTopics | None = None
) -> tuple[list[int], SurveySummary]:
    """Return the other starts, and the fast-path sums of *data*."""
    data += MARGIN
    starts, _ = follow_sizes(data, 0, most=len(data))
    window = Window(data=data, position=0, starts=starts)
    if known is None:
        known = KnownTopics(frozenset())
        known.learn(TOPICS)
    left, found = sum_fast_records(
        window, WHERE, known, begun_at_ms=FAST.stored_at_ms, ranges=RANGES
    )
    return left.tolist(), found


def test_of_fast_path_records_none_is_left() -> None:
    records = [
        replace(FAST, topic=name.decode(), queue_id=queue, queue_offset=offset)
        for name in TOPICS
        for queue in (0, QUEUES_MAX - 1)
        for offset in (3, 9, 6)
    ]
    data = laid_out([*records, replace(FAST, properties="", body=b"")])
    left, found = sifted(data)
    assert left == []
    assert found.log_end == BASE + len(data)
    assert found.last_stored_at_ms == FAST.stored_at_ms
    assert len(found.records) == 2 * len(TOPICS) + 1
    sums = found.records["T", QUEUES_MAX - 1]
    assert (sums.count, sums.matched_count, sums.first, sums.last) == (3, 3, 3, 9)
    assert sum(queue.bytes for queue in found.records.values()) == len(data)


CHANGES: dict[str, Callable[[Record], Record]] = {
    "an unknown topic": lambda r: replace(r, topic="New"),
    "a topic of the broker's": lambda r: replace(r, topic="%RETRY%g"),
    "a magic of long topics": lambda r: replace(r, magic=MAGIC_V2),
    "a flag": lambda r: replace(r, system_flags=8),
    "a queue out of range": lambda r: replace(r, queue_id=QUEUES_MAX),
    "another place": lambda r: replace(r, physical_offset=5),
    "an early time": lambda r: replace(r, stored_at_ms=0),
    "several keys": lambda r: replace(r, properties="KEYS\x01a b\x02"),
    "one key twice": lambda r: replace(r, properties="KEYS\x01a\x02" * 2),
    "tags twice": lambda r: replace(r, properties="TAGS\x01a\x02" * 2),
    "two unique keys": lambda r: replace(r, properties="UNIQ_KEY\x01a\x02" * 2),
    "a topic that it is for": lambda r: replace(r, properties="REAL_TOPIC\x01T\x02"),
    "an open end": lambda r: replace(r, properties="a\x01b"),
    "a name alone": lambda r: replace(r, properties="a\x02"),
    "two values": lambda r: replace(r, properties="a\x01b\x01c\x02"),
    "a zero": lambda r: replace(r, properties="a\x01\0\x02"),
    "other letters": lambda r: replace(r, properties="a\x01\u00e9\x02"),
}


@pytest.mark.parametrize("why", CHANGES)
def test_a_record_is_left_that_has(why: str) -> None:
    other = CHANGES[why](FAST)
    before = len(laid_out([FAST]))
    left, found = sifted(laid_out([FAST, other, FAST]))
    assert left == [before]
    assert [sums.count for sums in found.records.values()] == [2]


@pytest.mark.parametrize("field", ["body", "topic_size", "properties_size"])
def test_a_record_is_left_of_which_a_byte_is_changed(field: str) -> None:
    data = bytearray(laid_out([FAST, FAST]))
    at = {"body": 88, "topic_size": 94, "properties_size": 102}[field]
    data[at] ^= 1
    left, found = sifted(bytes(data))
    assert left == [0]
    assert [sums.count for sums in found.records.values()] == [1]


def test_all_are_left_where_one_ends_with_a_checksum() -> None:
    checked = replace(FAST, properties="__CRC32#\x01" + "0" * 10 + "\x02")
    left, found = sifted(laid_out([FAST, checked, FAST]))
    assert len(left) == 3
    assert not found.records


def test_topics_that_do_not_fit_are_left() -> None:
    known = KnownTopics(frozenset({"Other"}))
    known.learn([f"T{number}".encode() for number in range(TOPICS_MAX)])
    known.learn([b"Orders"])
    assert len(known.names) == TOPICS_MAX
    assert sifted(laid_out([FAST]), known=known)[0] == [0]
    left, found = sifted(laid_out([replace(FAST, topic="T4095")]), known=known)
    assert left == []
    assert list(found.records) == [("T4095", FAST.queue_id)]


def test_topics_of_other_queues_are_not_known() -> None:
    known = KnownTopics(frozenset({"Orders"}))
    known.learn([*TOPICS, b"SCHEDULE_TOPIC_XXXX", b"\xc3\xa9", b""])
    assert known.names == [name.decode() for name in TOPICS if name != b"Orders"]


def test_a_topic_of_one_window_is_known_in_the_next() -> None:
    data = laid_out([replace(FAST, topic="Learned")] * 2) + bytes(100)
    known = known_topics(frozenset())
    assert "Learned" not in known.names
    first = surveyed(data, SurveyOptions())
    assert "Learned" in known.names
    assert surveyed(data, SurveyOptions()) == first
    assert without_kernels(lambda: surveyed(data, SurveyOptions())) == first


def test_without_a_kernel_all_are_left() -> None:
    left, found = without_kernels(lambda: sifted(laid_out([FAST, FAST])))
    assert len(left) == 2
    assert not found.records
