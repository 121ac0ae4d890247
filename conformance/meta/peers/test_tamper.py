"""Each tampering changes exactly the intended bytes."""

from __future__ import annotations

import pytest

from conformance.harness.client import tamper
from spec.store.consume_queue import unit_layout
from spec.wire.remoting.frame import Frame, encode_frame

FRAME = encode_frame(Frame(header=b"{}", body=b"body"))


@pytest.mark.parametrize(
    ("corrupted", "changed"),
    [
        (tamper.set_length(FRAME, 2**31 - 1), {0, 1, 2, 3}),
        (tamper.set_header_length(FRAME, 0xFFFFFF), {5, 6, 7}),
        (tamper.set_serialize_type(FRAME, 9), {4}),
        (tamper.flip_byte(FRAME, 8), {8}),
    ],
)
def test_only_the_named_bytes_change(corrupted: bytes, changed: set[int]) -> None:
    assert len(corrupted) == len(FRAME)
    differing = {i for i in range(len(FRAME)) if corrupted[i] != FRAME[i]}
    assert differing <= changed
    assert differing


def test_a_field_of_a_layout_is_found_by_name() -> None:
    unit = bytes(20)
    corrupted = tamper.set_field(unit_layout, unit, "size", -1)
    assert corrupted == bytes(8) + b"\xff\xff\xff\xff" + bytes(8)
    assert tamper.flip_field(unit_layout, unit, "size")[11] == 0xFF


def test_a_field_that_is_not_there_is_said() -> None:
    with pytest.raises(ValueError, match="no field colour"):
        tamper.flip_field(unit_layout, bytes(20), "colour")


def test_replacing_wants_one_place_and_the_same_size() -> None:
    assert tamper.replace_once(b"abc", b"b", b"x") == b"axc"
    with pytest.raises(ValueError, match="exactly once"):
        tamper.replace_once(b"abab", b"a", b"x")
    with pytest.raises(ValueError, match="another size"):
        tamper.replace_once(b"abc", b"b", b"xy")
