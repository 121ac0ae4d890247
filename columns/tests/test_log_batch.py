"""
Batches contain the records of spec's reader, and end for the same reason.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columns import gather
from columns.gather import values_of
from columns.log_batch import LogBatch, read_batches
from columns.tests.drawn_logs import logs, records
from spec.host import Host
from spec.store.commit_log import PlacedRecord, Scan, scan
from spec.store.message_record import (
    MAGIC_V1,
    MAGIC_V2,
    Record,
    encode_record,
)

STORES = Path(__file__).resolve().parents[2] / "fixtures" / "store"
pytestmark = pytest.mark.usefixtures("each_implementation")

EXAMPLES = settings(max_examples=150, derandomize=True, deadline=None)


def read_log(
    data: bytes, base: int = 0, *, check_crc: bool = True, at_once: int = 8192
) -> tuple[list[LogBatch], Scan]:
    """Return the batches of *data*, and their end."""
    batches = []
    reader = read_batches(data, base, check_crc=check_crc, at_once=at_once)
    while True:
        try:
            batches.append(next(reader))
        except StopIteration as end:
            return batches, end.value


def assert_equal(found: tuple[list[LogBatch], Scan], wanted: Scan) -> None:
    """Compare batches with spec's reader, field by field."""
    batches, end = found
    placed = [one for batch in batches for one in rows_of(batch)]
    assert placed == list(wanted.records)
    assert (end.end_offset, end.stop) == (wanted.end_offset, wanted.stop)
    assert end.blank == wanted.blank
    assert (type(end.error), str(end.error)) == (type(wanted.error), str(wanted.error))


def rows_of(batch: LogBatch) -> list[PlacedRecord]:
    """Return the records of *batch*."""
    numbers, places = batch.fields.numbers, batch.fields.places
    columns = {
        "offset": batch.offsets.tolist(),
        **{name: column.tolist() for name, column in numbers.items()},
        **{name: list(values_of(batch.data, where)) for name, where in places.items()},
    }
    rows = [
        dict(zip(columns, values, strict=True))
        for values in zip(*columns.values(), strict=True)
    ]
    return [
        PlacedRecord(
            offset=row["offset"],
            size=row["size"],
            record=Record(
                topic=row["topic"].decode("utf-8", "surrogateescape"),
                properties=row["properties"].decode("utf-8", "surrogateescape"),
                born_host=Host(row["born_host_address"], row["born_host_port"]),
                store_host=Host(row["store_host_address"], row["store_host_port"]),
                **{name: row[name] for name in FIXED_FIELDS},
            ),
        )
        for row in rows
    ]


FIXED_FIELDS = (
    "queue_id",
    "queue_offset",
    "physical_offset",
    "body",
    "flag",
    "system_flags",
    "born_at_ms",
    "stored_at_ms",
    "reconsume_times",
    "prepared_transaction_offset",
    "magic",
)


@EXAMPLES
@given(
    data=logs(),
    base=st.sampled_from([0, 2**30]),
    check_crc=st.booleans(),
    at_once=st.sampled_from([1, 2, 3, 8192]),
)
def test_batches_hold_what_the_reader_of_single_records_has(
    data: bytes, base: int, check_crc: bool, at_once: int
) -> None:
    found = read_log(data, base, check_crc=check_crc, at_once=at_once)
    assert_equal(found, scan(data, base, check_crc=check_crc))


@pytest.mark.parametrize("looked_for", [0, 1, 8])
def test_many_different_records_are_grouped_alike(
    monkeypatch: pytest.MonkeyPatch, looked_for: int
) -> None:
    monkeypatch.setattr(gather, "LOOKED_FOR_MAX", looked_for)
    data = b"".join(
        encode_record(
            Record(
                topic="Orders",
                queue_id=number,
                queue_offset=0,
                physical_offset=0,
                system_flags=flags,
                born_host=Host(bytes(16 if flags & 16 else 4), 1),
                store_host=Host(bytes(16 if flags & 32 else 4), 1),
                magic=magic,
            )
        )
        for number, flags in enumerate([0, 16, 32, 48, 1, 17, 0, 2, 4, 8, 12, 49])
        for magic in (MAGIC_V1, MAGIC_V2)
    )
    assert_equal(read_log(data), scan(data))


@EXAMPLES
@given(written=st.lists(records(), min_size=1, max_size=4), data=st.data())
def test_a_log_cut_anywhere_ends_where_the_reader_of_single_records_ends(
    written: list[Record], data: st.DataObject
) -> None:
    whole = b"".join(map(encode_record, written))
    cut = whole[: data.draw(st.integers(0, len(whole)))]
    assert_equal(read_log(cut), scan(cut))


@pytest.mark.parametrize("at", range(150))
def test_one_wrong_byte_stops_both_readers_at_the_same_place(at: int) -> None:
    record = Record(
        topic="Orders",
        queue_id=1,
        queue_offset=2,
        physical_offset=3,
        body=b"body of a message",
        properties="TAGS\x01a\x02",
    )
    whole = bytearray(encode_record(record) * 3)
    place = len(whole) // 3 + at % (len(whole) // 3)
    for wrong in (0, 0x7F, 0x80, 0xFF):
        data = bytes(whole[:place]) + bytes([wrong]) + bytes(whole[place + 1 :])
        assert_equal(read_log(data), scan(data))


@pytest.mark.parametrize("path", sorted(STORES.glob("*/commitlog/*")), ids=str)
def test_a_recorded_log_is_read_alike(path: Path) -> None:
    data = path.read_bytes()
    base = int(path.name)
    assert_equal(read_log(data, base), scan(data, base))
