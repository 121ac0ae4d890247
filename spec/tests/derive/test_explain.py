"""Explanations name every field, mark the wrong one, and never raise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.explain import explain, explained_fields, hex_rows, show_bytes, show_flags
from spec.layouts import LAYOUTS
from spec.store.message_record import Record, encode_record, record_layout
from spec.tests.strategies import mutated, records
from spec.wire.remoting.frame import Frame, encode_frame, frame_layout

SAMPLE = """\
  ·     0..4      size              260
  ·     4..5      serialize_type    0
  ✗     5..8      header_size       256
  ·     8..264    header            HEADER
  ·   264..264    body              ''

    0000  00 00 01 04 00 00 01 00 68 68 68 68 68 68 68 68  |........hhhhhhhh|
                         ^^^^^^^^
    0010  68 68 68 68 68 68 68 68 68 68 68 68 68 68 68 68  |hhhhhhhhhhhhhhhh|
    0020  68 68 68 68 68 68 68 68 68 68 68 68 68 68 68 68  |hhhhhhhhhhhhhhhh|
    0030  68 68 68 68 68 68 68 68 68 68 68 68 68 68 68 68  |hhhhhhhhhhhhhhhh|
    …     200 bytes""".replace("HEADER", f"'{'h' * 48}… (256 bytes)")


def test_the_wrong_field_has_a_mark_and_its_bytes_have_carets() -> None:
    data = encode_frame(Frame(header=b"h" * 256))
    assert explain(frame_layout, data, wrong="header_size") == SAMPLE


def test_a_base_is_added_to_every_place() -> None:
    text = explain(frame_layout, encode_frame(Frame(header=b"")), base=4096)
    assert "4096..4100" in text
    assert "    1000  00 00" in text


@pytest.mark.parametrize("base", [0, 0x12345678])
def test_carets_are_below_their_bytes_at_any_place_of_a_log(base: int) -> None:
    row, carets = hex_rows(b"\xab" * 16, [(3, 4)], base=base)
    assert len(row) <= 80
    assert row[carets.index("^") :].startswith("ab ab")
    assert row[: carets.index("^")].endswith("ab ab ab ")
    assert f"{base:04x}  ab" in row


def test_a_field_that_cannot_be_read_says_why() -> None:
    record = Record(topic="T", queue_id=0, queue_offset=0, physical_offset=0)
    found = explained_fields(record_layout, encode_record(record)[:60])
    assert [one.name for one in found if one.is_wrong] == ["stored_at_ms"]
    assert found[-1].start == 56


def test_a_structure_is_marked_with_all_of_its_fields() -> None:
    record = Record(topic="T", queue_id=0, queue_offset=0, physical_offset=0)
    found = explained_fields(record_layout, encode_record(record), wrong="born_host")
    wrong = [one.name for one in found if one.is_wrong]
    assert wrong == ["born_host.address", "born_host.port"]


@pytest.mark.parametrize("name", sorted(LAYOUTS))
@given(data=mutated(records().map(encode_record)) | st.binary(max_size=64))
def test_any_bytes_are_explained_by_any_layout(name: str, data: bytes) -> None:
    assert explain(LAYOUTS[name], data, wrong="size")


@given(data=records().map(encode_record))
def test_the_fields_of_a_record_cover_it_without_gaps(data: bytes) -> None:
    found = explained_fields(record_layout, data)
    ends = [0, *(one.end for one in found)]
    assert [one.start for one in found] == ends[:-1]
    assert ends[-1] == len(data)


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        (0, ""),
        (1, "COMPRESSED"),
        (4, "TRANSACTION_PREPARED"),
        (8, "TRANSACTION_COMMIT"),
        (12, "TRANSACTION_ROLLBACK"),
        (0x131, "COMPRESSED | BORN_HOST_V6 | STORE_HOST_V6 | 0x100"),
    ],
)
def test_flags_have_names_and_the_rest_is_hex(flags: int, text: str) -> None:
    assert show_flags(flags) == text


def test_text_is_shown_as_text_and_other_bytes_as_hex() -> None:
    assert show_bytes(b"K\x01v\x02") == r"'K\x01v\x02'"
    assert show_bytes(b"\xff\x00") == "ff 00"
    assert show_bytes(bytes(99)).endswith("(99 bytes)")


def test_rows_far_from_what_is_wrong_are_left_out() -> None:
    rows = list(hex_rows(bytes(1000), [(500, 501)]))
    assert [row for row in rows if "^^" in row]
    assert len(rows) == 8
