"""What is committed of a queue, and when its consumer waits."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.core.client.backlog import USUAL_LIMITS, Backlog, Limits
from reference.core.client.message import Queue
from reference.core.client.pulling import Received
from spec.store.message_record import Record


def message(offset: int, size: int = 1) -> Received:
    record = Record(
        topic="T", queue_id=0, queue_offset=offset, physical_offset=0, body=b"packed"
    )
    queue = Queue("T", "a", 0)
    return Received(
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
    backlog, left = Backlog(), set(offsets)
    backlog.add([message(offset) for offset in offsets])
    assert backlog.offset is None
    for offset in data.draw(st.permutations(offsets)):
        backlog.remove([message(offset)])
        left.discard(offset)
        assert backlog.offset == (min(left) if left else offsets[-1] + 1)


def test_nothing_is_skipped_while_something_waits() -> None:
    backlog = Backlog()
    backlog.skip_to(5)
    assert backlog.offset == 5
    backlog.add([message(5)])
    backlog.skip_to(9)
    assert backlog.offset == 5
    backlog.remove([message(5)])
    assert backlog.offset == 6


def test_a_thousand_messages_are_not_too_many() -> None:
    backlog = Backlog()
    backlog.add([message(offset) for offset in range(1000)])
    assert not backlog.exceeds(USUAL_LIMITS)
    backlog.add([message(1000)])
    assert backlog.exceeds(USUAL_LIMITS)
    backlog.remove([message(3)])
    assert not backlog.exceeds(USUAL_LIMITS)


def test_a_hundred_whole_mebibytes_are_not_too_much() -> None:
    backlog = Backlog()
    backlog.add([message(0, 50 * 2**20), message(1, 51 * 2**20 - 1)])
    assert not backlog.exceeds(USUAL_LIMITS)
    backlog.add([message(2)])
    assert backlog.exceeds(USUAL_LIMITS)


def test_offsets_may_be_two_thousand_apart() -> None:
    backlog = Backlog()
    backlog.add([message(0), message(2000)])
    assert not backlog.exceeds(USUAL_LIMITS)
    backlog.add([message(2001)])
    assert backlog.exceeds(USUAL_LIMITS)
    assert not backlog.exceeds(Limits(span=None))
    backlog.remove([message(2001)])
    assert not backlog.exceeds(USUAL_LIMITS), "only what is not handled counts"


@pytest.mark.parametrize(("queue_count", "each"), [(1, 8), (3, 2), (9, 1)])
def test_the_queues_of_a_topic_share_its_threshold(queue_count: int, each: int) -> None:
    limits = Limits(topic_count=8, topic_mib=8).of_queue(queue_count)
    assert (limits.count, limits.mib) == (each, each)
    assert USUAL_LIMITS.of_queue(queue_count) == USUAL_LIMITS
