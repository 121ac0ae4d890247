"""The checksum over a whole record is read as written, and detects any changed byte."""

from __future__ import annotations

import zlib
from dataclasses import replace

import pytest

from spec.store.message_record import Record, encode_record
from spec.store.record_checksum import (
    CHECKSUM_SIZE,
    agrees,
    encode_checksum,
    stated_checksum,
)

RECORD = Record(
    topic="Orders",
    queue_id=1,
    queue_offset=7,
    physical_offset=4096,
    body=b"paid",
    properties="TAGS\x01a\x02",
)


def ended(record: Record) -> bytes:
    """Return the bytes of *record* with the checksum at its end."""
    wide = replace(record, properties=record.properties + "_" * CHECKSUM_SIZE)
    before = encode_record(wide)[:-CHECKSUM_SIZE]
    return before + encode_checksum(before)


def test_the_digits_are_written_from_the_last_to_the_first() -> None:
    digits = str(zlib.crc32(b"abc") & 0x7FFFFFFF)[::-1].ljust(10, "0")
    assert encode_checksum(b"abc") == b"__CRC32#\x01" + digits.encode() + b"\x02"
    assert encode_checksum(b"") == b"__CRC32#\x010000000000\x02"
    assert len(encode_checksum(b"abc")) == CHECKSUM_SIZE == 20


def test_a_record_agrees_until_any_of_its_bytes_changes() -> None:
    data = ended(RECORD)
    assert agrees(data) is True
    for place in range(len(data) - CHECKSUM_SIZE):
        changed = bytearray(data)
        changed[place] ^= 1
        assert agrees(bytes(changed)) is False, place


@pytest.mark.parametrize(
    "data",
    [
        b"",
        encode_record(RECORD),
        ended(RECORD)[:-1],
        ended(RECORD)[:-1] + b"x",
        ended(RECORD)[:-2] + b"x\x02",
        ended(RECORD) + b"A\x01b\x02",
    ],
)
def test_what_does_not_end_so_has_none(data: bytes) -> None:
    assert stated_checksum(data) is None
    assert agrees(data) is None
