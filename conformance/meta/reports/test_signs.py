"""Signs of narrow defects, by transcripts."""

from __future__ import annotations

import pytest

from conformance.harness.baseline.signs import clauses_seen_in
from conformance.harness.client.transcript import Direction, Entry
from conformance.meta.reports.made_transcripts import transcript_of
from spec.wire.remoting.command import Command, CommandFlag, encode_command
from spec.wire.remoting.frame import SerializeType


def test_a_response_to_no_request_is_found_in_a_transcript() -> None:
    frames = [
        (Direction.SENT, Command(code=34, opaque=7)),
        (Direction.RECEIVED, Command(code=40, opaque=1)),  # a request of the peer
        (Direction.RECEIVED, Command(code=0, opaque=7, flag=1)),
    ]
    assert not clauses_seen_in([transcript_of(*frames)])
    assert clauses_seen_in([transcript_of(*frames[:2])]) == {"WIRE-COMMAND-009"}
    stray = (Direction.RECEIVED, Command(code=0, opaque=8, flag=1))
    assert clauses_seen_in([transcript_of(*frames, stray)]) == {"WIRE-COMMAND-003"}


def test_a_response_to_a_oneway_request_is_found_in_a_transcript() -> None:
    oneway = (Direction.SENT, Command(code=34, opaque=7, flag=CommandFlag.ONEWAY))
    response = (Direction.RECEIVED, Command(code=0, opaque=7, flag=1))
    found = clauses_seen_in([transcript_of(oneway, response)])
    assert found == {"WIRE-COMMAND-002"}


@pytest.mark.parametrize(
    ("direction", "found"),
    [(Direction.SENT, set()), (Direction.RECEIVED, {"WIRE-FRAME-004"})],
)
def test_bytes_that_are_no_frame_count_if_the_peer_sent_them(
    direction: Direction, found: set[str]
) -> None:
    transcript = transcript_of((Direction.SENT, Command(code=34, opaque=7)))
    transcript.add(Entry(direction=direction, at_ms=0, data=b"\0\0\0\1x"))
    response = Command(code=0, opaque=8, flag=1)
    transcript.add(
        Entry(direction=Direction.RECEIVED, at_ms=1, data=encode_command(response))
    )
    stray = set() if direction is Direction.SENT else {"WIRE-COMMAND-003"}
    unanswered = {"WIRE-COMMAND-009"} if direction is Direction.RECEIVED else set()
    assert clauses_seen_in([transcript]) == found | stray | unanswered


def test_a_request_with_a_binary_header_is_found_in_a_transcript() -> None:
    request = Command(code=34, opaque=7, serialize_type=SerializeType.ROCKETMQ)
    response = Command(code=0, opaque=7, flag=1)
    frames = (Direction.SENT, request), (Direction.RECEIVED, response)
    assert clauses_seen_in([transcript_of(*frames)]) == {"WIRE-BINARY-001"}


@pytest.mark.parametrize(
    ("code", "body", "found"),
    [
        (0, b'{"brokerDatas":[],"queueDatas":[]}', {"ROUTE-DATA-003"}),
        (0, b"", {"ROUTE-DATA-003"}),
        (0, b"{", set()),
        (17, b"", set()),
    ],
)
def test_a_route_without_a_broker_is_found_in_a_transcript(
    code: int, body: bytes, found: set[str]
) -> None:
    request = Command(code=105, opaque=7, fields={"topic": "t"})
    response = Command(code=code, opaque=7, flag=1, body=body)
    frames = (Direction.SENT, request), (Direction.RECEIVED, response)
    assert clauses_seen_in([transcript_of(*frames)]) == found
