"""Counters of a store, and the rates from its samples."""

from __future__ import annotations

from reference.core.store.statistics import Statistics
from reference.core.store.types import (
    GetMessageResult,
    GetMessageStatus,
    PutResult,
    PutStatus,
)

STORED = PutResult(
    PutStatus.PUT_OK,
    physical_offset=0,
    size=300,
    queue_offset=0,
    record_offsets=[0, 100, 200],
)
FOUND = GetMessageResult(
    status=GetMessageStatus.FOUND,
    next_begin_offset=2,
    min_offset=0,
    max_offset=2,
    records=(memoryview(b"a"), memoryview(b"b")),
)
MISSED = GetMessageResult(
    status=GetMessageStatus.OFFSET_OVERFLOW_ONE,
    next_begin_offset=2,
    min_offset=0,
    max_offset=2,
)


def test_a_batch_is_one_call_and_several_messages() -> None:
    counted = Statistics()
    counted.on_append([STORED])
    counted.on_append([PutResult(PutStatus.MESSAGE_ILLEGAL)])
    assert (counted.put_calls, counted.put_count, counted.put_size) == (1, 3, 300)


def test_reads_are_told_apart_by_what_they_found() -> None:
    counted = Statistics()
    counted.on_get(FOUND)
    counted.on_get(MISSED)
    assert (counted.found_count, counted.missed_count) == (1, 1)
    assert counted.transferred_count == 2


def test_a_rate_is_empty_until_there_are_samples_enough() -> None:
    counted = Statistics()
    for second in range(10):
        counted.sample(second * 1000)
    assert counted.rates("put") == "  "
    assert counted.read_rates() == "0.0 0.0 0.0"


def test_rates_are_a_second() -> None:
    counted = Statistics()
    for second in range(11):
        counted.sample(second * 1000)
        counted.on_append([STORED])
        counted.on_get(FOUND)
        counted.on_get(MISSED)
    assert counted.rates("put") == "3.0  "
    assert counted.rates("found") == "1.0  "
    assert counted.rates("missed") == "1.0  "
    assert counted.rates("transferred") == "2.0  "
    assert counted.read_rates() == "2.0 0.0 0.0"


def test_samples_older_than_ten_minutes_are_let_go() -> None:
    counted = Statistics()
    for second in range(700):
        counted.sample(second * 1000)
        counted.on_append([STORED])
    assert counted.rates("put") == "3.0 3.0 3.0"
