"""
Get message: the messages of a read, and the next offset.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from reference.core.store.commitlog.dispatch_request import tags_hash
from reference.core.store.get_message import MessageFilter
from reference.core.store.message_store import MessageStore
from reference.core.store.types import GetMessageStatus, StoreOptions
from reference.tests.memory_files import MemoryFiles
from reference.tests.store.small_stores import (
    NOON_MS,
    TINY,
    append_one,
    message,
    started,
)
from spec.store.message_record import decode_record

OPTIONS = replace(TINY, consume_queue_file_size=200)


def filled(count: int, options: StoreOptions = OPTIONS) -> MessageStore:
    """Return a store with *count* messages, tagged a, b, a, b, ..."""
    store = started(options=options)
    for number in range(count):
        put = message(
            body=b"%02d" % number, properties=f"TAGS\x01{'ab'[number % 2]}\x02"
        )
        append_one(store, put, NOON_MS + number * 10)
    store.dispatch()
    return store


@pytest.mark.parametrize(
    ("offset", "status", "next_offset"),
    [
        (-1, GetMessageStatus.OFFSET_TOO_SMALL, 0),
        (0, GetMessageStatus.FOUND, 3),
        (4, GetMessageStatus.FOUND, 5),
        (5, GetMessageStatus.OFFSET_OVERFLOW_ONE, 5),
        (6, GetMessageStatus.OFFSET_OVERFLOW_BADLY, 0),
    ],
)
def test_where_the_reader_goes_on(
    offset: int, status: GetMessageStatus, next_offset: int
) -> None:
    result = filled(5).get("T", 0, offset, 3)
    assert (result.status, result.next_begin_offset) == (status, next_offset)
    assert (result.min_offset, result.max_offset) == (0, 5)


@pytest.mark.parametrize(("topic", "queue_id"), [("T", 1), ("U", 0)])
def test_a_queue_without_messages_sends_the_reader_to_its_start(
    topic: str, queue_id: int
) -> None:
    result = filled(1).get(topic, queue_id, 7, 3)
    assert result.status is GetMessageStatus.NO_MESSAGE_IN_QUEUE
    assert (result.next_begin_offset, result.min_offset, result.max_offset) == (0, 0, 0)


def test_a_read_ends_with_the_file_of_the_queue() -> None:
    store = filled(15)
    assert store.get("T", 0, 5, 32).next_begin_offset == 10
    assert store.get("T", 0, 10, 32).next_begin_offset == 15


def test_a_filter_passes_over_what_it_does_not_want() -> None:
    result = filled(10).get("T", 0, 1, 2, MessageFilter({tags_hash("a")}))
    assert [decode_record(one).body for one in result.records] == [b"02", b"04"]
    assert result.next_begin_offset == 5


def test_nothing_that_matches_still_moves_the_reader_on() -> None:
    result = filled(10).get("T", 0, 1, 2, MessageFilter({tags_hash("c")}))
    assert result.status is GetMessageStatus.NO_MATCHED_MESSAGE
    assert result.next_begin_offset == 10


def test_a_read_looks_at_800_units_at_most_when_nothing_matches() -> None:
    options = replace(
        OPTIONS, commit_log_file_size=1 << 20, consume_queue_file_size=20_000
    )
    result = filled(900, options).get("T", 0, 0, 32, MessageFilter({tags_hash("c")}))
    assert result.next_begin_offset == 800


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"max_transfer_count_in_memory": 4}, 4),
        ({"max_transfer_size_in_memory": 310}, 3),
        ({"max_transfer_size_in_memory": 1}, 1),
        ({"memory_size": 0, "max_transfer_count_on_disk": 2}, 2),
        ({"memory_size": 0, "max_transfer_size_on_disk": 210}, 2),
    ],
)
def test_an_answer_has_limits_but_room_for_one(
    limits: dict[str, int], expected: int
) -> None:
    store = filled(10, replace(OPTIONS, **limits))
    result = store.get("T", 0, 0, 32)
    assert len(result.records[0]) == 101
    assert len(result.records) == expected
    assert result.next_begin_offset == expected
    assert result.size == 101 * expected


def test_a_reader_far_behind_is_sent_to_a_slave() -> None:
    assert filled(5, replace(OPTIONS, memory_size=0)).get("T", 0, 0, 1).suggest_slave
    assert not filled(5).get("T", 0, 0, 1).suggest_slave


def test_messages_whose_file_is_gone_are_passed_over() -> None:
    files = MemoryFiles()
    store = started(files, OPTIONS)
    for number in range(12):
        append_one(store, message(body=b"%090d" % number), NOON_MS)
    store.dispatch()
    store.log.files.delete_first()
    result = store.get("T", 0, 0, 32)
    first = decode_record(result.records[0])
    assert first.physical_offset == TINY.commit_log_file_size
    assert result.next_begin_offset == 10
    store.stop()
    store = started(files, OPTIONS)
    assert store.min_offset("T", 0) == first.queue_offset
    again = store.get("T", 0, 0, 32)
    assert again.status is GetMessageStatus.OFFSET_TOO_SMALL
    assert again.next_begin_offset == first.queue_offset


@given(
    times=st.lists(st.integers(0, 50), min_size=1, max_size=9),
    wanted=st.integers(0, 60),
)
@settings(deadline=None)
def test_a_search_by_time_finds_the_nearest(times: list[int], wanted: int) -> None:
    store = started(options=OPTIONS)
    for time in sorted(times):
        append_one(store, message(), NOON_MS + time)
    store.dispatch()
    found = store.offset_by_time("T", 0, NOON_MS + wanted)
    distances = [abs(time - wanted) for time in sorted(times)]
    assert distances[found] == min(distances)


def test_a_search_by_time_in_an_empty_queue_is_zero() -> None:
    assert filled(1).offset_by_time("U", 0, NOON_MS) == 0


def test_store_times_are_told() -> None:
    store = filled(3)
    assert store.stored_at("T", 0, 2) == NOON_MS + 20
    assert store.stored_at("T", 0, 3) == -1
    assert store.earliest_stored_at("T", 0) == NOON_MS
    assert store.earliest_stored_at("U", 0) == -1


@pytest.mark.parametrize("offset", [-1, 5, 101, 10**12])
def test_a_place_without_a_record_never_reads_beyond_the_log(offset: int) -> None:
    record = filled(1).record_at(offset)
    assert record is None or len(record) <= 101
