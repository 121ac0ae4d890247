"""Bytes are recognised by their content and by their path; neither is trusted."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.host import Host
from spec.layout import LayoutError
from spec.recognise import KINDS, recognise
from spec.store.blank import Blank, encode_blank
from spec.store.checkpoint import Checkpoint, encode_checkpoint
from spec.store.consume_queue import Unit, encode_unit
from spec.store.file_names import store_file
from spec.store.index_file import IndexHeader, encode_header
from spec.store.message_record import Record, encode_record
from spec.tests.strategies import commands, mutated, records
from spec.views.view import Reading
from spec.wire.remoting.command import Command, encode_command

RECORD = Record(
    topic="T",
    queue_id=0,
    queue_offset=0,
    physical_offset=4096,
    body=b"hello",
    properties="KEYS\x01a b\x02",
    store_host=Host.of("127.0.0.1", 10_911),
)
UNITS = b"".join(
    encode_unit(Unit(commit_log_offset=n * 91, size=91, tags_code=n)) for n in range(3)
)
INDEX = IndexHeader(
    begin_stored_at_ms=10**12,
    end_stored_at_ms=10**12,
    end_offset=5,
    slot_count=1,
    index_count=2,
)
CONTENTS = {
    "message record": encode_record(RECORD),
    "blank": encode_blank(Blank(100)).ljust(100, b"\0"),
    "frame": encode_command(Command(310, fields={"a": "g"}, serialize_type=1)),
    "consume queue unit": UNITS + bytes(60),
    "index header": encode_header(INDEX).ljust(500, b"\0"),
    "checkpoint": encode_checkpoint(Checkpoint(physic_ms=10**12)),
    "message id": bytes.fromhex("7F00000100002A9F00000000000010E1"),
    "unique key": bytes.fromhex("7F0000013D0C18B4AAC25D2A3F5E0003"),
}


@pytest.mark.parametrize("kind", CONTENTS)
def test_a_thing_is_recognised_by_its_content(kind: str) -> None:
    found = recognise(CONTENTS[kind])
    assert found.kind == kind
    assert found.is_sound
    assert found.text


def test_every_kind_has_a_sample() -> None:
    assert set(CONTENTS) == set(KINDS)


PATHS = {
    "commitlog/00000000000000004096": "message record",
    "consumequeue/T/0/00000000000000000000": "consume queue unit",
    "index/20191106002640123": "index header",
    "checkpoint": "checkpoint",
}


@pytest.mark.parametrize("path", PATHS)
def test_a_thing_is_recognised_by_its_path(path: str) -> None:
    kind = PATHS[path]
    assert recognise(CONTENTS[kind], file=store_file(path)).kind == kind


def test_a_record_at_another_place_than_it_says_is_not_sound() -> None:
    file = store_file("commitlog/00000000000000004096")
    found = recognise(CONTENTS["message record"], file=file, position=8)
    assert not found.is_sound
    assert "✗ physical_offset: the record lies at 4104" in found.text


def test_a_record_with_another_checksum_is_not_sound() -> None:
    data = bytearray(CONTENTS["message record"])
    data[90] ^= 1
    found = recognise(bytes(data))
    assert not found.is_sound
    assert "✗" in found.text


@pytest.mark.parametrize(
    "data",
    [
        b"",
        bytes(100),
        b"#!/bin/sh\necho\n",
        CONTENTS["message record"][:-1],
        b"\xff" * 9,
    ],
)
def test_what_is_nothing_is_a_layout_error(data: bytes) -> None:
    with pytest.raises(LayoutError):
        recognise(data)


def test_a_config_file_is_not_called_corrupt() -> None:
    with pytest.raises(LayoutError, match="may be JSON, such as a config file"):
        recognise(b'{\n\t"topicConfigTable":{}\n}')


anything = mutated(
    st.sampled_from(list(CONTENTS.values()))
    | records().map(encode_record)
    | commands().map(encode_command)
)

readings = st.builds(
    Reading,
    release=st.none() | st.sampled_from(["4.4.0", "4.6.0", "4.9.7", "5.4.0"]),
    slot_count=st.none() | st.integers(1, 10),
)


@given(
    data=anything,
    path=st.none() | st.sampled_from(list(PATHS)),
    position=st.integers(0, 500),
    reading=readings,
)
def test_any_bytes_are_recognised_or_refused(
    data: bytes, path: str | None, position: int, reading: Reading
) -> None:
    file = None if path is None else store_file(path)
    with contextlib.suppress(LayoutError):
        found = recognise(data, file=file, position=position, reading=reading)
        found.text.encode("utf-8")


@pytest.mark.parametrize("kind", KINDS)
@given(data=anything, reading=readings)
def test_any_bytes_are_read_as_any_kind_or_refused(
    kind: str, data: bytes, reading: Reading
) -> None:
    with contextlib.suppress(LayoutError):
        KINDS[kind](data, 0, reading).text.encode("utf-8")
