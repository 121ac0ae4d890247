"""
Frames that five real releases sent are read, and written again byte for byte.

The frame's own parts are written exactly. Commands are written exactly too, with the
key order and escapes of the JSON header, apart from one case. Java writes an empty map
for a header object without fields, and no map without an object. A command has no
fields in both cases, and writes no map. The written frame is then shorter by that
member, and so are its length fields.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from spec.store.message_record import decode_records, encode_record
from spec.wire.bodies.fastjson import dumps, loads
from spec.wire.remoting.command import decode_command, encode_command
from spec.wire.remoting.frame import SerializeType, decode_frame, encode_frame
from spec.wire.remoting.header_rocketmq import (
    decode_rocketmq_header,
    encode_rocketmq_header,
)

RECORDED = sorted((Path(__file__).parents[3] / "fixtures" / "wire").rglob("*.bin"))
NO_FIELDS = b'"extFields":{},'
"""Java writes this for a header object without fields, and nothing for none at all."""


def name_of(path: Path) -> str:
    """Return the test id of *path*."""
    return f"{path.parent.name}-{path.stem}"


@pytest.mark.parametrize("path", RECORDED, ids=name_of)
def test_a_recorded_frame_is_written_again_as_it_was(path: Path) -> None:
    data = path.read_bytes()
    command = decode_command(data)
    again = encode_command(command)
    assert decode_command(again) == command
    if NO_FIELDS in decode_frame(data).header:
        assert again[8:] == data[8:].replace(NO_FIELDS, b"", 1)
    else:
        assert again == data


@pytest.mark.parametrize("path", RECORDED, ids=name_of)
def test_a_recorded_frame_is_taken_apart_and_put_together(path: Path) -> None:
    data = path.read_bytes()
    frame = decode_frame(data)
    assert encode_frame(frame) == data
    assert decode_frame(encode_frame(frame)) == frame
    if frame.serialize_type == SerializeType.ROCKETMQ:
        parts = decode_rocketmq_header(frame.header)
        assert encode_rocketmq_header(parts) == frame.header


@pytest.mark.parametrize("path", RECORDED, ids=name_of)
def test_a_recorded_json_body_is_written_again_as_it_was(path: Path) -> None:
    body = decode_command(path.read_bytes()).body
    if body.startswith(b"{"):
        assert dumps(loads(body)) == body


@pytest.mark.parametrize(
    "path",
    [path for path in RECORDED if path.stem == "pull_message.answer-0"],
    ids=name_of,
)
def test_the_records_of_a_pull_are_written_again_as_they_were(path: Path) -> None:
    body = decode_command(path.read_bytes()).body
    found = list(decode_records(body))
    assert found
    assert b"".join(map(encode_record, found)) == body


def test_six_releases_are_recorded_in_both_notations() -> None:
    folders = {path.parent.name for path in RECORDED}
    releases = ("4.4.0", "4.6.0", "4.9.7", "5.3.3", "5.4.0", "5.5.0")
    assert folders == {f"{one}-{kind}" for one in releases for kind in KINDS}


KINDS = ("json", "rocketmq")
