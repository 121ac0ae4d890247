"""Process queue: the offset to commit, and flow control of its consumer."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.core.client.message import MessageQueue
from reference.core.client.pull.message_ext import MessageExt
from reference.core.client.rebalance.process_queue import (
    ProcessQueue,
    PullThresholds,
)
from spec.store.message_record import Record

DEFAULTS = PullThresholds()


def message(offset: int, size: int = 1) -> MessageExt:
    record = Record(
        topic="T", queue_id=0, queue_offset=offset, physical_offset=0, body=b"packed"
    )
    queue = MessageQueue("T", "a", 0)
    return MessageExt(
        topic="T", body=bytes(size), properties={}, queue=queue, record=record
    )


@settings(deadline=None)
@given(
    offsets=st.lists(st.integers(0, 50), min_size=1, unique=True).map(sorted),
    data=st.data(),
)
def test_the_first_that_is_not_handled_is_committed(
    offsets: list[int], data: st.DataObject
) -> None:
    process_queue, left = ProcessQueue(), set(offsets)
    process_queue.add([message(offset) for offset in offsets])
    assert process_queue.offset is None
    for offset in data.draw(st.permutations(offsets)):
        process_queue.remove([message(offset)])
        left.discard(offset)
        assert process_queue.offset == (min(left) if left else offsets[-1] + 1)


def test_nothing_is_skipped_while_something_waits() -> None:
    process_queue = ProcessQueue()
    process_queue.skip_to(5)
    assert process_queue.offset == 5
    process_queue.add([message(5)])
    process_queue.skip_to(9)
    assert process_queue.offset == 5
    process_queue.remove([message(5)])
    assert process_queue.offset == 6


def test_a_thousand_messages_are_not_too_many() -> None:
    process_queue = ProcessQueue()
    process_queue.add([message(offset) for offset in range(1000)])
    assert not process_queue.exceeds(DEFAULTS)
    process_queue.add([message(1000)])
    assert process_queue.exceeds(DEFAULTS)
    process_queue.remove([message(3)])
    assert not process_queue.exceeds(DEFAULTS)


def test_a_hundred_whole_mebibytes_are_not_too_much() -> None:
    process_queue = ProcessQueue()
    process_queue.add([message(0, 50 * 2**20), message(1, 51 * 2**20 - 1)])
    assert not process_queue.exceeds(DEFAULTS)
    process_queue.add([message(2)])
    assert process_queue.exceeds(DEFAULTS)


def test_offsets_may_be_two_thousand_apart() -> None:
    process_queue = ProcessQueue()
    process_queue.add([message(0), message(2000)])
    assert not process_queue.exceeds(DEFAULTS)
    process_queue.add([message(2001)])
    assert process_queue.exceeds(DEFAULTS)
    assert not process_queue.exceeds(PullThresholds(span=None))
    process_queue.remove([message(2001)])
    assert not process_queue.exceeds(DEFAULTS), "only what is not handled counts"


@pytest.mark.parametrize(("queue_count", "each"), [(1, 8), (3, 2), (9, 1)])
def test_the_queues_of_a_topic_share_its_threshold(queue_count: int, each: int) -> None:
    thresholds = PullThresholds(topic_count=8, topic_mib=8).of_queue(queue_count)
    assert (thresholds.count, thresholds.mib) == (each, each)
    assert DEFAULTS.of_queue(queue_count) == DEFAULTS
