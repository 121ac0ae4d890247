"""Records with a few changed fields, drawn for properties of surveys."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from columns.scan.log_file import LogRange
from columns.scan.record_damage import BORN_MAX_MS, PORT_MAX
from spec.host import Host
from spec.store.message_record import MAGIC_V2, Record, encode_record

BASE = 1 << 30
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
