"""Salvage of a damaged log: what can be read is kept, and nothing is invented."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from reference.core.salvage.log_plan import (
    BRIDGE_SIZE_MIN,
    BRIDGE_TOPIC,
    NewBytes,
    encode_changed,
    plan_file,
)
from reference.core.salvage.readable_records import (
    DamagedRange,
    FoundRecord,
    readable_records,
)
from reference.tests.salvage.salvage_records import record
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

SIZE = 8192
BASE = 3 * SIZE


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
