"""Transcripts as text: equal polls are folded, and the first frames are kept."""

from __future__ import annotations

import pytest

from conformance.harness.client.transcript import (
    Direction,
    Entry,
    Transcript,
    describe_command,
)
from conformance.harness.failure.failure import ConformanceFailure, Finding
from spec.wire.remoting.command import Command, encode_command
from spec.wire.remoting.frame import SerializeType
from spec.wire.remoting.request_code import RequestCode

POLLS = 200


def exchanged(
    transcript: Transcript, code: int, serialize_type: int, **fields: str
) -> None:
    """Add a request with the next opaque, and its response, to *transcript*."""
    opaque = len(transcript) + 1
    sent = Command(code, opaque=opaque, fields=fields, serialize_type=serialize_type)
    received = Command(0, opaque=opaque, flag=1, serialize_type=serialize_type)
    for direction, command in ((Direction.SENT, sent), (Direction.RECEIVED, received)):
        data = encode_command(command)
        transcript.add(Entry(direction=direction, at_ms=opaque, data=data))


@pytest.mark.parametrize("serialize_type", list(SerializeType))
def test_equal_polls_are_folded_behind_the_first_frames(serialize_type: int) -> None:
    transcript = Transcript("a peer")
    exchanged(transcript, RequestCode.SEND_MESSAGE, serialize_type)
    for _ in range(POLLS):
        exchanged(transcript, RequestCode.GET_MAX_OFFSET, serialize_type, topic="T")
    heading, *lines = transcript.render().splitlines()
    assert heading == "with a peer"
    assert [line.split()[:3] for line in lines] == [
        ["1", "ms", "->"],
        ["1", "ms", "<-"],
        ["3", "ms", "->"],
        ["3", "ms", "<-"],
        ["...", f"{2 * (POLLS - 2)}", "more"],
        [f"{2 * POLLS + 1}", "ms", "->"],
        [f"{2 * POLLS + 1}", "ms", "<-"],
    ]
    assert "request 10 SEND_MESSAGE" in lines[0]


def test_of_many_different_frames_the_first_and_the_last_are_shown() -> None:
    transcript = Transcript("a peer")
    for number in range(20):
        exchanged(transcript, 30, SerializeType.JSON, topic=str(number))
    _, *lines = transcript.render().splitlines()
    assert [line.split()[0] for line in lines] == [
        *("1", "1", "3", "3", "5", "5", "..."),
        *(str(one) for time in range(29, 40, 2) for one in (time, time)),
    ]
    assert lines[6] == "   ... 22 more frames"


def test_a_response_is_called_so_even_with_an_unknown_code() -> None:
    assert describe_command(Command(105, opaque=7, flag=1)) == (
        "response 105 (unknown code) opaque=7"
    )


def test_a_request_after_the_last_response_is_unanswered() -> None:
    transcript = Transcript("a peer")
    assert not transcript.ends_unanswered()
    exchanged(transcript, RequestCode.GET_MAX_OFFSET, SerializeType.JSON)
    assert not transcript.ends_unanswered()
    sent = encode_command(Command(RequestCode.GET_MIN_OFFSET, opaque=9))
    transcript.add(Entry(direction=Direction.SENT, at_ms=9, data=sent))
    transcript.add(Entry(direction=Direction.NOTE, at_ms=9, note="the peer closed"))
    assert transcript.ends_unanswered()
    finding = Finding(found=0, expected=1, what="code")
    text = str(ConformanceFailure("WIRE-FRAME-002", [finding], transcript=transcript))
    assert "nothing came back; the last frame that came before, " in text
