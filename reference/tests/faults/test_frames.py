"""Responses with a fault, as the effects that take their place."""

from __future__ import annotations

import pytest

from reference.core.remoting.effects import Close, Effect, Send
from reference.shell.faults.catalogue import Fault
from reference.shell.faults.frames import faulty_effects, frames_of
from spec.layout import LayoutError
from spec.wire.remoting.command import (
    Command,
    CommandFlag,
    decode_command,
    encode_command,
)

RESPONSE = Command(code=0, opaque=7, flag=int(CommandFlag.RESPONSE), body=b"body")
FRAME = encode_command(RESPONSE)


def effects(name: str) -> list[Effect]:
    """Return the effects in place of the response on connection 1."""
    return list(faulty_effects(Fault(name), 1, FRAME, RESPONSE))


def test_frames_are_separated() -> None:
    assert list(frames_of(FRAME * 3)) == [FRAME] * 3


def test_a_connection_is_closed_without_a_response_or_within_one() -> None:
    assert effects("close") == [Close(1, "close:100%")]
    half = Send(1, FRAME[: len(FRAME) // 2])
    assert effects("cut-frames") == [half, Close(1, "cut-frames:100%")]


def test_a_response_is_missing_or_repeated() -> None:
    assert effects("no-response") == []
    assert effects("repeat") == [Send(1, FRAME)] * 2


def test_a_response_has_the_opaque_of_no_request() -> None:
    (sent,) = effects("wrong-opaque")
    assert isinstance(sent, Send)
    changed = decode_command(sent.data)
    assert changed.opaque != RESPONSE.opaque
    assert (changed.body, changed.flag) == (RESPONSE.body, RESPONSE.flag)


def test_a_header_is_unreadable_in_a_frame_of_the_same_size() -> None:
    (sent,) = effects("garbage")
    assert isinstance(sent, Send)
    assert list(frames_of(sent.data)) == [sent.data]
    with pytest.raises(LayoutError):
        decode_command(sent.data)
