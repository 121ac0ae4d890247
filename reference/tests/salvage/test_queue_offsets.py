"""Queue offsets of a salvage: gaps are closed, and no message is left out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.core.salvage.queue_offsets import (
    OffsetRange,
    QueueName,
    QueueOffsets,
    with_half_offsets,
)
from reference.core.salvage.queue_runs import QueueRuns
from reference.tests.salvage.salvage_records import record
from spec.store.message_record import Record, SystemFlag
from spec.wire.message.topic_names import HALF_TOPIC, OP_TOPIC

QUEUE = QueueName("T", 0)


def test_a_gap_of_a_queue_is_closed_and_committed_offsets_move() -> None:
    offsets = QueueOffsets(is_whole=False)
    new = [offsets.add(record(number, 0)) for number in (10, 11, 14, 15, 20)]
    assert new == [10, 11, 12, 13, 14]
    assert offsets.lost[QUEUE] == [OffsetRange(12, 14), OffsetRange(16, 20)]
    moved = [offsets.moved(QUEUE, one) for one in (0, 11, 12, 13, 14, 16, 18, 20, 21)]
    assert moved == [0, 11, 12, 12, 12, 14, 14, 14, 15]
    assert offsets.moved(QueueName("other", 0), 7) == 7


def test_a_queue_of_a_whole_log_begins_at_0() -> None:
    offsets = QueueOffsets(is_whole=True)
    assert [offsets.add(record(number, 0)) for number in (2, 3, 5)] == [0, 1, 2]
    assert offsets.lost[QUEUE] == [OffsetRange(0, 2), OffsetRange(4, 5)]
    assert [offsets.moved(QUEUE, one) for one in (0, 1, 2, 3, 4, 5)] == [
        0,
        0,
        0,
        1,
        2,
        2,
    ]


def test_a_committed_offset_is_at_most_the_new_end_of_its_queue() -> None:
    offsets = QueueOffsets(is_whole=False)
    for number in (10, 11, 14):
        offsets.add(record(number, 0))
    assert [offsets.committed(QUEUE, one) for one in (-1, 11, 15, 16, 99)] == [
        *(-1, 11),
        *(13, 13, 13),
    ]
    assert offsets.committed(QueueName("without records", 0), 7) == 0
    assert offsets.committed(QueueName("%LMQ%light", 0), 7) == 7


@pytest.mark.parametrize(
    ("stated", "disordered_count"),
    [
        ([0, 1, 0, 3, 3], 2),
        ([0, 1, 1 << 40, 3, 4], 1),
        ([0, 1, 0, 1, 2], 1),
        ([0, 1, 2, 2, 3], 1),
    ],
)
def test_a_queue_offset_out_of_order_follows_the_one_before_it(
    stated: list[int], disordered_count: int
) -> None:
    offsets = QueueOffsets(is_whole=True)
    new = [offsets.add(record(number, 0)) for number in stated]
    assert new == [*range(5)]
    assert offsets.disordered_count == disordered_count
    assert not offsets.lost[QUEUE]
    assert offsets.committed(QUEUE, 99) == 5


@pytest.mark.parametrize("impossible", [-1, 1 << 62])
def test_an_impossible_queue_offset_follows_the_one_before_it(impossible: int) -> None:
    offsets = QueueOffsets(is_whole=False)
    stated = [impossible, impossible + 1, 2, 3, impossible, 5]
    assert [offsets.add(record(number, 0)) for number in stated] == [*range(6)]
    assert offsets.disordered_count == 3
    assert not offsets.lost[QUEUE]


@pytest.mark.parametrize("impossible", [-5, 1 << 62])
def test_impossible_first_queue_offsets_precede_the_next_one(impossible: int) -> None:
    stated = [impossible, impossible + 1, 7, 8]
    first = QueueOffsets(is_whole=False)
    assert [first.add(record(number, 0)) for number in stated] == [*range(4)]
    assert first.right_begins == {QUEUE: 5}
    second = QueueOffsets(is_whole=False, begins=first.right_begins).part([QUEUE])
    assert [second.add(record(number, 0)) for number in stated] == [*range(5, 9)]
    assert not second.lost[QUEUE]
    assert not second.right_begins


def test_a_loss_behind_repeated_queue_offsets_is_found() -> None:
    offsets = QueueOffsets(is_whole=True)
    new = [offsets.add(record(number, 0)) for number in (0, 1, 2, 0, 1, 5, 6)]
    assert new == [*range(7)]
    assert offsets.lost[QUEUE] == [OffsetRange(2, 5)]
    assert offsets.disordered_count == 1


def test_a_half_message_before_repeated_queue_offsets_is_not_lost() -> None:
    offsets = QueueOffsets(is_whole=True)
    for number in (0, 1, 2, 3, 0):
        offsets.add(replace(record(number, 0), topic=HALF_TOPIC))
    assert with_half_offsets(op_message(b"3"), offsets) == op_message(b"3")
    assert with_half_offsets(op_message(b"4"), offsets) is None


def test_a_half_message_behind_a_wrong_queue_offset_may_be_lost() -> None:
    offsets = QueueOffsets(is_whole=True)
    for number in (0, 1 << 40, 2):
        offsets.add(replace(record(number, 0), topic=HALF_TOPIC))
    assert with_half_offsets(op_message(b"2"), offsets) == op_message(b"2")
    assert with_half_offsets(op_message(b"3"), offsets) is None


def test_half_and_rolled_back_messages_have_no_place_in_a_queue() -> None:
    offsets = QueueOffsets(is_whole=False)
    half = Record(
        topic="T",
        queue_id=0,
        queue_offset=9,
        physical_offset=0,
        system_flags=SystemFlag.TRANSACTION_PREPARED,
    )
    assert offsets.add(half) == 9
    assert offsets.add(record(3, 0)) == 3
    assert not offsets.lost
    assert dict(offsets.counts) == {QUEUE: 1}


def op_message(body: bytes) -> Record:
    """Return an op message about half messages of queue 0."""
    return replace(record(0, 0, body), topic=OP_TOPIC)


def test_op_messages_name_the_moved_half_messages() -> None:
    offsets = QueueOffsets(is_whole=False)
    for number in (98, 99, 103, 104):
        offsets.add(replace(record(number, 0), topic=HALF_TOPIC))
    new = {
        body: with_half_offsets(op_message(body), offsets)
        for body in (b"7", b"99", b"101", b"103", b"103,101,104,", b"105", b"text")
    }
    bodies = {body: one and one.body for body, one in new.items()}
    assert bodies == {
        b"7": b"7",
        b"99": b"99",
        b"101": None,
        b"103": b"100",
        b"103,101,104,": b"00000100,101",
        b"105": None,
        b"text": b"text",
    }


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["T", "T", "T", HALF_TOPIC, OP_TOPIC]),
        st.sampled_from([1, 1, 1, 0, 2, -1, -3, 1 << 60, -(1 << 60)]),
        st.integers(-2, 1),
    ),
    max_size=30,
)


@settings(max_examples=500)
@given(first=STEPS, second=STEPS, is_whole=st.booleans(), begin=st.integers(0, 20))
def test_runs_of_a_file_give_what_its_records_do(
    first: list[tuple[str, int, int]],
    second: list[tuple[str, int, int]],
    *,
    is_whole: bool,
    begin: int,
) -> None:
    ends: dict[str, int] = {}
    begins = {QUEUE: begin} if begin else {}
    one_by_one, before = (
        QueueOffsets(is_whole=is_whole, begins=begins) for _ in range(2)
    )
    records = [record_after(ends, *step) for step in (*first, *second)]
    for one in records[: len(first)]:
        for offsets in (one_by_one, before):
            kept = with_half_offsets(one, offsets)
            if kept is not None:
                offsets.add(kept)
    runs = QueueRuns()
    for one in records[len(first) :]:
        runs.add(runs.note_halves(one))
    copy = before.part(runs.queues)
    for one in records[len(first) :]:
        kept = with_half_offsets(one, one_by_one)
        assert kept == with_half_offsets(one, copy)
        if kept is not None:
            assert one_by_one.add(kept) == copy.add(kept)
    if not runs.may_lose_op_messages(before):
        runs.add_to(before)
        assert state_of(before) == state_of(one_by_one)


def record_after(ends: dict[str, int], topic: str, step: int, half: int) -> Record:
    """Return a record of *topic*, *step* queue offsets behind the last one.

    An op message names a half message *half* offsets from the last one.
    """
    ends[topic] = max(ends.get(topic, 9) + step, -2)
    named = max(ends.get(HALF_TOPIC, 9) + half, 0)
    body = b"%d" % named if topic == OP_TOPIC else b"body"
    return replace(record(ends[topic], 0, body), topic=topic)


def state_of(offsets: QueueOffsets) -> list[object]:
    """Return the state of all queues."""
    queues = [
        (
            *(name, offsets.begins[name], offsets.ends[name], offsets.counts[name]),
            offsets.lost.get(name, []),
            [offsets.committed(name, number) for number in range(40)],
            [offsets.is_lost(name, number) for number in range(40)],
        )
        for name in sorted(offsets.ends)
    ]
    return [offsets.disordered_count, offsets.right_begins, *queues]
