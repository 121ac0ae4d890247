"""Sizes and places of fields, as Java's sources have them."""

from __future__ import annotations

import pytest
from construct import Struct

from spec.derive.table import rows
from spec.host import Host
from spec.layouts import LAYOUTS
from spec.store.message_record import MAGIC_V1, MAGIC_V2, Record, encode_record
from spec.wire.remoting.frame import Frame, encode_frame
from spec.wire.remoting.header_rocketmq import SMALLEST_SIZE, encode_rocketmq_header

V4, V6 = Host.of("10.0.0.1", 1), Host.of("::1", 1)
FIXED = {
    "blank": 8,
    "checkpoint": 48,
    "consume_queue_unit": 20,
    "index_header": 40,
    "index_item": 20,
    "index_slot": 4,
    "message_id": 16,
    "message_id_v6": 28,
    "unique_key": 16,
    "unique_key_v6": 28,
}
PLACES = [
    # 4.6.0 MessageDecoder names these places of a record
    ("message_record", "magic", 4),
    ("message_record", "flag", 16),
    ("message_record", "physical_offset", 28),
    ("message_record", "system_flags", 36),
    ("frame", "header", 8),
    ("header_rocketmq", "opaque", 5),
    ("consume_queue_unit", "tags_code", 12),
    ("index_header", "index_count", 36),
    ("index_item", "previous_item", 16),
    ("checkpoint", "index_ms", 16),
    ("message_id", "commit_log_offset", 8),
    ("unique_key", "counter", 14),
]


@pytest.mark.parametrize(("name", "size"), FIXED.items())
def test_a_layout_of_fixed_size_has_that_size(name: str, size: int) -> None:
    assert LAYOUTS[name].sizeof() == size


@pytest.mark.parametrize(("name", "field", "place"), PLACES)
def test_a_field_begins_where_java_reads_it(name: str, field: str, place: int) -> None:
    layout: Struct = LAYOUTS[name]
    assert {row.name: row.place for row in rows(layout)}[field] == str(place)


@pytest.mark.parametrize(
    ("born", "stored", "magic", "size"),
    [
        (V4, V4, MAGIC_V1, 91),
        (V6, V4, MAGIC_V1, 103),
        (V4, V6, MAGIC_V1, 103),
        (V6, V6, MAGIC_V1, 115),
        (V6, V6, MAGIC_V2, 116),
    ],
)
def test_an_empty_record_has_91_bytes_and_12_more_for_each_wide_host(
    born: Host, stored: Host, magic: int, size: int
) -> None:
    record = Record(
        topic="",
        queue_id=0,
        queue_offset=0,
        physical_offset=0,
        system_flags=born.is_v6 << 4 | stored.is_v6 << 5,
        born_host=born,
        store_host=stored,
        magic=magic,
    )
    assert len(encode_record(record)) == size


def test_an_empty_frame_has_8_bytes_and_its_size_word_counts_4() -> None:
    assert encode_frame(Frame(header=b"")) == bytes([0, 0, 0, 4, 0, 0, 0, 0])


def test_an_empty_binary_header_has_21_bytes() -> None:
    empty = {"code": 0, "language": "JAVA", "version": 0, "opaque": 0, "flag": 0}
    assert len(encode_rocketmq_header(empty)) == SMALLEST_SIZE == 21
