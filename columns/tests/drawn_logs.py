"""Logs of a few records, intact or damaged, drawn for properties of readers."""

from __future__ import annotations

from hypothesis import strategies as st

from spec.host import Host
from spec.integers import INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN
from spec.store.blank import Blank, encode_blank
from spec.store.message_record import (
    MAGIC_V1,
    MAGIC_V2,
    Record,
    SystemFlag,
    encode_record,
)

int32s = st.sampled_from([0, 1, -1, INT32_MIN, INT32_MAX]) | st.integers(0, 9)
int64s = st.sampled_from([0, 1, -1, INT64_MIN, INT64_MAX, 2**32]) | st.integers(0, 9)


@st.composite
def records(draw: st.DrawFn) -> Record:
    """Return records of both magics, all host sizes, and short names."""
    magic = draw(st.sampled_from([MAGIC_V1, MAGIC_V1, MAGIC_V2]))
    flags = draw(st.sampled_from([0, 0, 16, 32, 48, 1, -1]))

    def host(flag: SystemFlag) -> Host:
        return Host(draw(st.binary(min_size=16))[: 16 if flags & flag else 4], 1)

    return Record(
        topic=draw(st.sampled_from(["", "T", "T" * 12, "T" * 13, "é" * 63])),
        queue_id=draw(int32s),
        queue_offset=draw(int64s),
        physical_offset=draw(int64s),
        body=draw(st.binary(max_size=40)),
        properties=draw(st.sampled_from(["", "TAGS\x01a\x02", "P" * 300])),
        flag=draw(int32s),
        system_flags=flags,
        born_at_ms=draw(int64s),
        born_host=host(SystemFlag.BORN_HOST_V6),
        stored_at_ms=draw(int64s),
        store_host=host(SystemFlag.STORE_HOST_V6),
        reconsume_times=draw(int32s),
        prepared_transaction_offset=draw(int64s),
        magic=magic,
    )


@st.composite
def logs(draw: st.DrawFn) -> bytes:
    """Return logs with any end, intact or with some bytes changed."""
    written = [
        encode_record(record) for record in draw(st.lists(records(), max_size=6))
    ]
    ends = [
        b"",
        bytes(3),
        bytes(200),
        b"\xff" * 100,
        encode_blank(Blank(120)) + bytes(112),
        encode_blank(Blank(8)),
        encode_record(Record(topic="T", queue_id=0, queue_offset=0, physical_offset=0)),
    ]
    last = draw(st.sampled_from(ends))
    data = bytearray(b"".join(written) + last[: draw(st.integers(0, len(last)))] + last)
    for _ in range(draw(st.integers(0, 2))):
        if data:
            place = draw(st.integers(0, len(data) - 1))
            data[place] = draw(st.sampled_from([0, 1, 0x7F, 0x80, 0xFF]))
    return bytes(data)
