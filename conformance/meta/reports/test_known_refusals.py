"""Requests that a peer has refused, by transcripts."""

from __future__ import annotations

from conformance.harness.blocked.known_refusals import refused_in
from conformance.harness.blocked.preconditions import precondition_reason
from conformance.harness.client.conversations import CONVERSATIONS
from conformance.harness.client.requests.invoker import RefusedError
from conformance.harness.client.transcript import Direction, Entry, Transcript
from conformance.meta.reports.made_transcripts import transcript_of
from spec.wire.remoting.command import Command, encode_command


def test_a_peer_that_takes_a_response_for_a_request_has_not_refused_that() -> None:
    refusal = (Direction.RECEIVED, Command(code=3, opaque=7, flag=1))
    for flag, refused in ((1, []), (0, [105])):
        sent = (Direction.SENT, Command(code=105, opaque=7, flag=flag))
        transcript = transcript_of(sent, refusal)
        assert refused_in([transcript], frozenset({105})) == refused


def test_a_refused_request_in_one_write_with_others_is_found() -> None:
    frame = encode_command(Command(code=10, opaque=7))
    bad = (1 << 30).to_bytes(4) + bytes(16)
    refusal = encode_command(Command(code=3, opaque=7, flag=1))
    for writes in ([frame + bad], [frame[:5], frame[5:]], [bad[:9], frame]):
        transcript = Transcript("a peer")
        for data in writes:
            transcript.add(Entry(direction=Direction.SENT, at_ms=0, data=data))
        transcript.add(Entry(direction=Direction.RECEIVED, at_ms=1, data=refusal))
        assert refused_in([transcript], frozenset({10})) == [10]


def test_a_refused_precondition_names_the_request_of_its_response() -> None:
    frames = [(100, Direction.SENT, Command(code=17, opaque=7))]
    frames += [(0, Direction.SENT, Command(code=200, opaque=8))]
    refusal = Command(code=3, opaque=8, flag=1, remark="type 200")
    frames += [(1, Direction.RECEIVED, refusal)]
    transcript = Transcript("a peer")
    for at_ms, direction, command in frames:
        data = encode_command(command)
        transcript.add(Entry(direction=direction, at_ms=at_ms, data=data))
    CONVERSATIONS.begin()
    CONVERSATIONS.add(transcript)
    reason = precondition_reason(RefusedError(refusal))
    named = "ADMIN-GROUP-001, UPDATE_AND_CREATE_SUBSCRIPTIONGROUP"
    assert reason == f"blocked by {named}: refused with code 3: type 200"
