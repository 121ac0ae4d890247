"""Salvage of a damaged log: what can be read is kept, and nothing is invented."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.core.salvage.log_plan import (
    BRIDGE_SIZE_MIN,
    BRIDGE_TOPIC,
    NewBytes,
    encode_changed,
    plan_file,
)
from reference.core.salvage.queue_offsets import (
    OffsetRange,
    QueueName,
    QueueOffsets,
    with_half_offsets,
)
from reference.core.salvage.queue_runs import QueueRuns
from reference.core.salvage.readable_records import (
    DamagedRange,
    FoundRecord,
    readable_records,
)
from spec.store.blank import Blank, encode_blank
from spec.store.commit_log import Stop, scan
from spec.store.message_record import (
    MAGIC_V1,
    MAGIC_V2,
    Record,
    SystemFlag,
    decode_record,
    encode_record,
    record_size,
)
from spec.store.record_checksum import CHECKSUM_SIZE, agrees, encode_checksum
from spec.wire.message.topic_names import HALF_TOPIC, OP_TOPIC

SIZE = 8192
BASE = 3 * SIZE
QUEUE = QueueName("T", 0)


def record(number: int, at: int, body: bytes = b"body") -> Record:
    return Record(
        topic="T",
        queue_id=0,
        queue_offset=number,
        physical_offset=at,
        body=body,
        properties="KEYS\x01k\x02",
        stored_at_ms=1_000 + number,
    )


def full_file(bodies: list[bytes]) -> tuple[bytearray, list[Record]]:
    """Return a file with a record for each body that fits, and the records."""
    data = bytearray()
    records: list[Record] = []
    for body in bodies:
        one = record(len(records), BASE + len(data), body)
        if len(data) + record_size(one) + 8 > SIZE:
            break
        records.append(one)
        data += encode_record(one)
    data += encode_blank(Blank(size=SIZE - len(data)))
    return data.ljust(SIZE, b"\0"), records


def salvaged(data: bytes, *, is_last: bool = False) -> tuple[bytes, list[FoundRecord]]:
    """Return the new file for *data*, and the records in it."""
    found = list(readable_records(bytes(data), BASE, is_last=is_last))
    records = [one for one in found if isinstance(one, FoundRecord)]
    new = bytearray(SIZE)
    kept = []
    for one in plan_file(records, BASE, SIZE, is_last=is_last):
        begin = one.offset - BASE
        if isinstance(one, NewBytes):
            new[begin : begin + len(one.data)] = one.data
        else:
            new[begin : begin + one.size] = data[begin : begin + one.size]
            kept.append(one)
    return bytes(new), kept


BODIES = st.lists(st.binary(max_size=300), min_size=5, max_size=60)
DAMAGE = st.lists(
    st.tuples(st.integers(0, SIZE - 1), st.binary(min_size=1, max_size=600)),
    min_size=1,
    max_size=4,
)


@given(bodies=BODIES, damage=DAMAGE)
def test_every_record_outside_the_damage_is_kept_at_its_place(
    bodies: list[bytes], damage: list[tuple[int, bytes]]
) -> None:
    original, records = full_file(bodies)
    data = bytearray(original)
    for begin, noise in damage:
        data[begin : begin + len(noise)] = noise[: SIZE - begin]
    new, kept = salvaged(bytes(data))
    assert len(new) == SIZE
    readable = {one.record.physical_offset: one.record for one in kept}
    for one in records:
        begin = one.physical_offset - BASE
        size = record_size(one)
        if data[begin : begin + size] == original[begin : begin + size]:
            assert readable[one.physical_offset] == one
    # A record without a body is accepted with any checksum, as by a start.
    whole = scan(new, BASE, check_crc=False)
    assert whole.stop is Stop.BLANK
    served = [
        one.record
        for one in whole.records
        if one.record.system_flags != SystemFlag.TRANSACTION_ROLLBACK
    ]
    assert served == [one.record for one in kept]


def test_a_record_inside_a_body_is_not_a_record() -> None:
    inner = encode_record(record(5, BASE + 50_000))
    data, _ = full_file([b"a", inner * 3, b"b"])
    begin = record_size(record(0, BASE, b"a"))
    data[begin + 8] ^= 1  # the checksum of the body
    found = list(readable_records(bytes(data), BASE, is_last=False))
    size = record_size(record(1, BASE, inner * 3))
    assert [type(one) for one in found] == [FoundRecord, DamagedRange, FoundRecord]
    assert found[1] == DamagedRange(BASE + begin, BASE + begin + size)


def test_zeros_end_the_last_file_only() -> None:
    first = encode_record(record(0, BASE))
    data = first.ljust(SIZE, b"\0")
    assert len(list(readable_records(data, BASE, is_last=True))) == 1
    damaged = list(readable_records(data, BASE, is_last=False))[1]
    assert damaged == DamagedRange(BASE + len(first), BASE + SIZE)
    new, _ = salvaged(data, is_last=True)
    assert new == data


def test_a_lost_file_is_a_blank() -> None:
    blank = NewBytes(BASE, encode_blank(Blank(size=SIZE)))
    assert list(plan_file([], BASE, SIZE, is_last=False)) == [blank]


@given(size=st.integers(BRIDGE_SIZE_MIN, 3 * (1 << 20) + 200))
def test_bridges_fill_a_range_exactly(size: int) -> None:
    one = record(0, size)
    found = FoundRecord(size, record_size(one), one)
    *bridges, last = plan_file([found], 0, size + found.size, is_last=True)
    assert last == found
    end = 0
    for bridge in bridges:
        assert isinstance(bridge, NewBytes)
        assert bridge.offset == end
        made = decode_record(bridge.data)
        assert made.physical_offset == end
        assert made.system_flags == SystemFlag.TRANSACTION_ROLLBACK
        assert BRIDGE_TOPIC.startswith(made.topic)
        end += len(bridge.data)
    assert end == size


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


def test_a_changed_record_has_a_right_checksum_of_the_whole_record() -> None:
    plain = replace(record(8, 0), properties="KEYS\x01k\x02" + "x" * CHECKSUM_SIZE)
    before = encode_record(plain)[:-CHECKSUM_SIZE]
    original = before + encode_checksum(before)
    assert agrees(original) is True
    stored = decode_record(original)
    assert encode_changed(stored, original) == original
    moved = encode_changed(replace(stored, queue_offset=3), original)
    assert agrees(moved) is True
    assert decode_record(moved).queue_offset == 3
    assert len(moved) == len(original)


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
        st.sampled_from([1, 1, 1, 0, 2, -1, -3]),
        st.integers(-2, 1),
    ),
    max_size=30,
)


@settings(max_examples=500)
@given(first=STEPS, second=STEPS, is_whole=st.booleans())
def test_runs_of_a_file_give_what_its_records_do(
    first: list[tuple[str, int, int]],
    second: list[tuple[str, int, int]],
    *,
    is_whole: bool,
) -> None:
    ends: dict[str, int] = {}
    one_by_one, before = (QueueOffsets(is_whole=is_whole) for _ in range(2))
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
    ends[topic] = max(ends.get(topic, 9) + step, 0)
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
    return [offsets.disordered_count, *queues]


def test_a_record_with_another_magic_is_damage() -> None:
    wide = replace(record(1, BASE), topic="T" * 200, magic=MAGIC_V2)
    data = encode_record(wide)
    data += encode_record(record(0, BASE + len(data)))
    found = list(readable_records(data, BASE, is_last=True, magics={MAGIC_V1}))
    size = record_size(wide)
    assert found[0] == DamagedRange(BASE, BASE + size)
    assert [one.record for one in found[1:] if isinstance(one, FoundRecord)] == [
        record(0, BASE + size)
    ]
    assert len(list(readable_records(data, BASE, is_last=True))) == 2
