"""Commit log, consume queue, index and names: the content of whole files."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.integers import body_crc, java_string_hash, tags_code
from spec.layout import LayoutError
from spec.store import index_file
from spec.store.blank import BLANK_SIZE_MIN, Blank, encode_blank, room_for
from spec.store.checkpoint import Checkpoint
from spec.store.commit_log import Stop, scan
from spec.store.consume_queue import Unit, decode_units, encode_unit
from spec.store.file_names import FileKind, file_name, offset_of, store_file
from spec.store.index_file import IndexHeader, IndexItem, key_hash
from spec.store.message_record import Record, encode_record

LAST = encode_record(
    Record(topic="T", queue_id=0, queue_offset=0, physical_offset=0, body=b"x" * 9)
)


def log_of(count: int) -> bytes:
    """Return *count* records, one after the other."""
    data = b""
    for n in range(count):
        data += encode_record(
            Record(
                topic="T",
                queue_id=0,
                queue_offset=n,
                physical_offset=len(data),
                body=b"b" * n,
            )
        )
    return data


@pytest.mark.parametrize(
    ("tail", "stop"),
    [
        (b"", Stop.END),
        (bytes(100), Stop.ZEROS),
        (bytes(3), Stop.ZEROS),
        (encode_blank(Blank(50)) + b"anything", Stop.BLANK),
        (b"\xff" * 100, Stop.BROKEN),
        (LAST[:-1], Stop.BROKEN),
    ],
)
def test_a_scan_says_why_it_stopped(tail: bytes, stop: Stop) -> None:
    log = log_of(3)
    found = scan(log + tail, 4096)
    assert found.stop is stop
    assert found.end_offset == 4096 + len(log)
    assert [placed.record.queue_offset for placed in found.records] == [0, 1, 2]
    assert (found.error is not None) == (stop is Stop.BROKEN)
    assert (found.blank is not None) == (stop is Stop.BLANK)


def test_a_scan_of_a_log_torn_at_any_byte_keeps_the_records_before() -> None:
    log = log_of(2)
    for size in range(len(log), len(log) + len(LAST)):
        found = scan((log + LAST)[:size])
        assert len(found.records) == 2
        assert found.end_offset == len(log)


@given(place=st.integers(0, len(LAST) - 1), bit=st.integers(0, 7))
def test_a_flipped_bit_never_adds_a_record(place: int, bit: int) -> None:
    data = bytearray(LAST)
    data[place] ^= 1 << bit
    assert len(scan(bytes(data) + LAST).records) <= 2


def test_places_follow_one_another() -> None:
    found = scan(log_of(4), 100).records
    assert all(a.offset + a.size == b.offset for a, b in pairwise(found))


@pytest.mark.parametrize(("left", "fits"), [(107, False), (108, True), (109, True)])
def test_a_record_leaves_room_for_a_blank(left: int, fits: bool) -> None:
    assert room_for(100, left=left) is fits


@pytest.mark.parametrize("size", [-1, 0, BLANK_SIZE_MIN - 1])
def test_a_blank_is_no_smaller_than_its_words(size: int) -> None:
    with pytest.raises(LayoutError):
        encode_blank(Blank(size))


def test_a_topic_of_128_bytes_does_not_fit_the_signed_byte_before_it() -> None:
    with pytest.raises(LayoutError):
        encode_record(
            Record(topic="T" * 128, queue_id=0, queue_offset=0, physical_offset=0)
        )


def test_a_row_of_units_ends_before_the_first_unwritten_one() -> None:
    units = [Unit(commit_log_offset=n, size=91) for n in (0, 91)]
    data = b"".join(map(encode_unit, units)) + bytes(40)
    assert decode_units(data) == units
    with pytest.raises(LayoutError):
        decode_units(data + b"\0")


def test_a_filler_is_written_and_an_address_is_no_tags_code() -> None:
    filler = Unit(commit_log_offset=0, size=2**31 - 1)
    assert filler.is_written
    assert filler.is_filler
    assert Unit(commit_log_offset=0, size=1, tags_code=-(2**31) - 1).is_extended
    assert not Unit(commit_log_offset=0, size=1, tags_code=-(2**31)).is_extended


HASHES = [("", 0), ("a", 97), ("TagA", 2_598_919), ("polygenelubricants", -(2**31))]


@pytest.mark.parametrize(("text", "code"), HASHES)
def test_a_hash_is_javas(text: str, code: int) -> None:
    assert java_string_hash(text) == code


def test_a_key_is_hashed_with_its_topic_and_never_negative() -> None:
    assert key_hash("a", "b") == abs(java_string_hash("a#b"))
    assert tags_code(None) == tags_code("") == 0
    assert java_string_hash("\U0001f600") == java_string_hash("\ud83d\ude00")


@given(topic=st.text(), key=st.text())
def test_a_key_hash_fits_javas_int(topic: str, key: str) -> None:
    assert 0 <= key_hash(topic, key) < 2**31


def test_the_smallest_int_has_no_absolute_value_and_hashes_to_0() -> None:
    assert java_string_hash("T#ajvakuzm") == -(2**31)
    assert key_hash("T", "ajvakuzm") == 0


def test_an_index_chain_runs_from_new_to_old_and_ends() -> None:
    slots, items = 5, 20
    data = bytearray(index_file.file_size(slots, items))
    data[:40] = index_file.encode_header(IndexHeader(index_count=4))
    for number, previous in ((1, 0), (2, 1), (3, 2)):
        _put(data, slots, number, previous)
    slot = index_file.slot_position(7, slots)
    data[slot : slot + 4] = index_file.encode_slot(3)
    found = list(index_file.items_of_slot(data, 7, slots))
    assert [item.commit_log_offset for item in found] == [3, 2, 1]
    _put(data, slots, 1, 3)  # a ring
    assert len(list(index_file.items_of_slot(data, 7, slots))) == 3


def _put(data: bytearray, slots: int, number: int, previous: int) -> None:
    place = index_file.item_position(number, slots)
    item = IndexItem(key_hash=7, commit_log_offset=number, previous_item=previous)
    data[place : place + 20] = index_file.encode_item(item)


@pytest.mark.parametrize(
    ("begin", "stored", "seconds"),
    [(0, 9, 0), (9, 1008, 0), (9, 1009, 1), (5000, 1, 0), (1, 2**62, 2**31 - 1)],
)
def test_an_items_seconds_are_whole_and_bounded(
    begin: int, stored: int, seconds: int
) -> None:
    assert index_file.seconds_between(begin, stored) == seconds


def test_a_default_index_file_has_420_000_040_bytes() -> None:
    assert index_file.file_size(5_000_000, 20_000_000) == 420_000_040


def test_the_safe_time_is_3_seconds_before_the_smaller_of_two() -> None:
    assert Checkpoint(physic_ms=9000, logics_ms=8000).safe_ms == 5000
    assert Checkpoint(physic_ms=1, logics_ms=2).safe_ms == 0
    assert (
        Checkpoint(physic_ms=9000, logics_ms=9000, index_ms=1).safe_with_index_ms == 1
    )


def test_a_name_is_an_offset_in_20_digits() -> None:
    assert file_name(1_073_741_824) == "00000000001073741824"
    assert offset_of(file_name(2**63 - 1)) == 2**63 - 1


@pytest.mark.parametrize("name", ["", "1", "9" * 20, "0000000000000000000x", "٣" * 20])
def test_another_name_is_a_layout_error(name: str) -> None:
    with pytest.raises(LayoutError):
        offset_of(name)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("store/commitlog/00000000001073741824", FileKind.COMMIT_LOG),
        ("consumequeue/T/3/00000000000006000000", FileKind.CONSUME_QUEUE),
        ("/x/index/20191106002640123", FileKind.INDEX),
        ("checkpoint", FileKind.CHECKPOINT),
        ("store/abort", FileKind.ABORT),
        ("store/lock", FileKind.LOCK),
        ("store/config/topics.json", FileKind.CONFIG),
    ],
)
def test_a_path_says_what_a_file_is(path: str, kind: FileKind) -> None:
    assert store_file(path).kind is kind


@pytest.mark.parametrize("path", ["", "x", "commitlog/x", f"consumequeue/T/q/{0:020}"])
def test_another_path_is_a_layout_error(path: str) -> None:
    with pytest.raises(LayoutError):
        store_file(path)


def test_a_checksum_has_no_sign_bit() -> None:
    assert body_crc(b"") == 0
    assert body_crc(b"123456789") == 0x4BF43926  # CRC-32 is 0xCBF43926
