"""
Kernels and fallbacks make the same survey of any log.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spark_checks.columns.record_damage import BORN_MAX_MS, PORT_MAX
from spark_checks.columns.record_scan import LogRange
from spark_checks.situation import Situation
from spark_checks.survey.survey import survey_log
from spark_checks.tests.readers.with_kernels import (
    comparable,
    with_kernels,
    without_kernels,
)
from spec.host import Host
from spec.store.message_record import MAGIC_V2, Record, encode_record

BASE = 1 << 30
EXAMPLES = settings(max_examples=400, derandomize=True, deadline=None)
WHERE = LogRange(base=BASE, file_size=1 << 20, start=0, end=1 << 20)
ORDINARY = Record(
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
        yield


@st.composite
def changed_records(draw: st.DrawFn) -> Record:
    """Return an ordinary record with a few changed fields."""
    known: dict[str, st.SearchStrategy[Any]] = {
        "topic": st.sampled_from(["T", "Q" * 9, "New", "%RETRY%g", "\u00e9", ""]),
        "queue_id": st.sampled_from([0, 2, 63, 1 << 20, -1]),
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
    return replace(ORDINARY, **{name: draw(known[name]) for name in changed})


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


def surveyed(data: bytes, situation: Situation) -> tuple[object, ...]:
    """Return the comparable result of a file's survey."""
    where = replace(WHERE, file_size=len(data), end=len(data))
    return comparable(
        survey_log(lambda at, size: data[at : at + size], where, situation)
    )


@EXAMPLES
@given(
    first=st.sampled_from(
        [ORDINARY, ORDINARY, replace(ORDINARY, stored_at_ms=-(2**63))]
    ),
    records=st.lists(changed_records(), max_size=8),
    bytes_changed=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), max_size=2),
    ranges=st.sampled_from(
        [(), ((BASE - 1, BASE + 400),), ((0, BASE), (BASE, 2**62)), ((BASE, 2**62),)]
    ),
)
def test_whatever_a_log_has_its_survey_is_the_same(
    first: Record,
    records: list[Record],
    bytes_changed: list[tuple[float, int]],
    ranges: tuple[tuple[int, int], ...],
) -> None:
    data = bytearray(laid_out([first, *records]))
    for place, byte in bytes_changed:
        data[int(place * (len(data) - 1))] = byte
    situation = Situation(key_ranges=ranges, delays={1: 1000})
    whole = bytes(data) + bytes(200)
    assert surveyed(whole, situation) == without_kernels(
        lambda: surveyed(whole, situation)
    )
