"""Scan, dispatch and the specification accept the same bytes as a record."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from reference.core.store.commitlog.dispatch_request import dispatch_request_of
from reference.core.store.commitlog.record_reader import (
    ArrayTooLarge,
    Blank,
    InvalidRecord,
    ScannedRecord,
    read_record,
)
from reference.core.store.delay.delay_levels import DelayLevels
from reference.core.store.recovery.rules import REFERENCE, RULES
from spec.store.commit_log import scan
from spec.store.message_record import MAGIC_V2, Record, encode_record
from spec.wire.message.delay_levels import DEFAULT_DELAY_LEVELS

STORES = Path(__file__).parents[3] / "fixtures" / "store"
LEVELS = DelayLevels(DEFAULT_DELAY_LEVELS)
PLAIN = Record(topic="T", queue_id=1, queue_offset=2, physical_offset=3, body=b"hello")
RECORD = encode_record(PLAIN)


WRITERS = [one for one in RULES if (STORES / f"{one}-stopped").exists()]


@pytest.mark.parametrize("release", WRITERS)
def test_a_release_reads_what_it_wrote(release: str) -> None:
    for path in sorted((STORES / f"{release}-stopped" / "commitlog").iterdir()):
        data = path.read_bytes()
        at = 0
        for placed in scan(data).records:
            seen = read_record(memoryview(data), at, RULES[release], check_crc=True)
            assert isinstance(seen, ScannedRecord)
            assert (at, seen.size) == (placed.offset, placed.size)
            assert seen.queue_offset == placed.record.queue_offset
            assert seen.stored_at_ms == placed.record.stored_at_ms
            assert seen.topic.decode() == placed.record.topic
            at += seen.size
        rest = read_record(memoryview(data), at, RULES[release], check_crc=True)
        assert isinstance(rest, Blank | InvalidRecord)


@settings(deadline=None, derandomize=True, max_examples=500)
@given(
    at=st.integers(0, len(RECORD) - 1),
    value=st.integers(0, 255),
    cut=st.integers(0, 12),
)
def test_dispatch_has_the_fields_of_any_scanned_record(
    at: int, value: int, cut: int
) -> None:
    data = bytearray(RECORD + bytes(8))
    data[at] = value
    del data[len(data) - cut :]
    seen = read_record(memoryview(data), 0, REFERENCE, check_crc=True)
    if isinstance(seen, ScannedRecord):
        found = dispatch_request_of(seen, LEVELS)
        assert seen.size == found.size
        assert seen.queue_id == found.queue_id
        assert seen.system_flags == found.system_flags


@settings(deadline=None, derandomize=True, max_examples=300)
@given(data=st.binary(max_size=300), release=st.sampled_from(sorted(RULES)))
def test_no_bytes_are_too_strange(data: bytes, release: str) -> None:
    magic = RECORD[4:8]
    strange = memoryview(data[:4] + magic + data[8:])
    seen = read_record(strange, 0, RULES[release], check_crc=True)
    assert isinstance(seen, ScannedRecord | InvalidRecord | Blank | ArrayTooLarge)


@pytest.mark.parametrize(
    ("release", "is_taken"), [("4.6.0", False), ("4.9.7", False), ("5.3.3", True)]
)
def test_a_long_topic_is_a_record_since_5(release: str, is_taken: bool) -> None:
    long = encode_record(replace(PLAIN, topic="T" * 200, magic=MAGIC_V2))
    seen = read_record(memoryview(long), 0, RULES[release], check_crc=True)
    assert isinstance(seen, ScannedRecord) is is_taken


def test_a_negative_body_is_none_but_to_the_reference() -> None:
    empty = bytearray(encode_record(replace(PLAIN, body=b"")))
    empty[84] = 0xFF
    apache = RULES["4.6.0"]
    assert isinstance(
        read_record(memoryview(empty), 0, apache, check_crc=True), ScannedRecord
    )
    careful = structs.replace(apache, reads_negative_as_zero=False)
    assert isinstance(
        read_record(memoryview(empty), 0, careful, check_crc=True), InvalidRecord
    )


@pytest.mark.parametrize(("release", "ends"), [("4.6.0", True), ("5.3.3", False)])
def test_the_largest_size_ends_a_broker_of_4(release: str, ends: bool) -> None:
    huge = b"\x7f\xff\xff\xff" + RECORD[4:]
    seen = read_record(memoryview(huge), 0, RULES[release], check_crc=True)
    assert isinstance(seen, ArrayTooLarge) is ends
