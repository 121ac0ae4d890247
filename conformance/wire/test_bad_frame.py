"""Bad frames: the connection is closed, the others are served, nothing is lost."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given

from conformance.harness.client.client import Client, plain_send, require_success
from conformance.harness.process.deadline import TooLateError
from conformance.harness.pytest_plugin.expectations import expect
from conformance.strategies.boundaries import OVER_THE_WIRE
from conformance.strategies.frames import frame_of, no_json_headers, word
from conformance.wire.server import Server
from spec.store.message_record import decode_records
from spec.wire.remoting.command import encode_command
from spec.wire.remoting.response_code import ResponseCode

QUESTION = b'{"code":30,"extFields":{"topic":"t","queueId":"0"},"opaque":1,"flag":0}'

BAD_FRAMES = {
    "size_is_0": ("WIRE-FRAME-010", word(0) + bytes(16)),
    "size_is_1": ("WIRE-FRAME-010", word(1) + bytes(16)),
    "size_is_3": ("WIRE-FRAME-010", word(3) + bytes(16)),
    "size_is_negative": ("WIRE-FRAME-010", word(-1) + bytes(16)),
    "size_is_the_smallest_int": ("WIRE-FRAME-010", word(-(2**31)) + bytes(16)),
    "size_is_17_megabytes": ("WIRE-FRAME-005", word(17 << 20) + bytes(16)),
    "size_is_the_largest_int": ("WIRE-FRAME-005", word(2**31 - 1) + bytes(16)),
    "header_is_one_byte_past_the_end": (
        "WIRE-FRAME-007",
        frame_of(QUESTION, header_size=len(QUESTION) + 1),
    ),
    "header_is_far_past_the_end": (
        "WIRE-FRAME-007",
        frame_of(QUESTION, header_size=2**24 - 1),
    ),
    "notation_is_2": ("WIRE-FRAME-008", frame_of(QUESTION, kind=2)),
    "notation_is_127": ("WIRE-FRAME-008", frame_of(QUESTION, kind=127)),
    "notation_is_255": ("WIRE-FRAME-008", frame_of(QUESTION, kind=255)),
    "header_is_empty": ("WIRE-FRAME-009", frame_of(b"") + bytes(16)),
    "header_is_an_array": ("WIRE-FRAME-009", frame_of(b"[1, 2, 3, 4, 5]")),
    "header_is_null": ("WIRE-FRAME-009", frame_of(b"null            ")),
    "header_is_cut": ("WIRE-FRAME-009", frame_of(QUESTION[:-1])),
    "fields_are_an_array": (
        "WIRE-FRAME-009",
        frame_of(b'{"code":30,"extFields":[1],"opaque":1}'),
    ),
    "binary_header_is_json": ("WIRE-FRAME-009", frame_of(QUESTION, kind=1)),
    "binary_header_is_short": ("WIRE-FRAME-009", frame_of(bytes(12), kind=1)),
}


@pytest.mark.read_only
@pytest.mark.parametrize("name", BAD_FRAMES)
@pytest.mark.clause(
    "WIRE-FRAME-005",
    "WIRE-FRAME-007",
    "WIRE-FRAME-008",
    "WIRE-FRAME-009",
    "WIRE-FRAME-010",
    "WIRE-FRAME-011",
)
def test_a_bad_frame_closes_its_connection_and_no_other(
    server: Server, name: str
) -> None:
    clause, bad = BAD_FRAMES[name]
    other = server.reconnected()
    with other.peer:
        served = server.responds_as_expected(), other.responds_as_expected()
        expect(
            "WIRE-FRAME-011",
            found=served,
            expected=(True, True),
            what="before it",
            transcript=(other if served[0] else server).transcript,
        )
        server.peer.send_bytes(bad)
        expect(
            clause,
            found=server.peer.received_close(),
            expected=True,
            what="whether the connection was closed",
            transcript=server.transcript,
        )
        fresh = server.reconnected()
        with fresh.peer:
            served = other.responds_as_expected(), fresh.responds_as_expected()
    expect(
        "WIRE-FRAME-011",
        found=served,
        expected=(True, True),
        what="whether an older and a fresh connection are served",
        transcript=(fresh if served[0] else other).transcript,
    )


@pytest.mark.read_only
@pytest.mark.clause("WIRE-FRAME-009")
@OVER_THE_WIRE
@given(header=no_json_headers())
def test_a_header_that_is_no_json_closes_the_connection(
    server: Server, header: bytes
) -> None:
    one = server.reconnected()
    with one.peer:
        one.peer.send_bytes(frame_of(header) + bytes(16))
        expect(
            "WIRE-FRAME-009",
            found=one.peer.received_close(),
            expected=True,
            what="whether the connection was closed",
            transcript=one.transcript,
        )


@pytest.mark.clause("WIRE-CONN-020")
def test_a_bad_frame_takes_no_message_back(broker: Client, topic: str) -> None:
    bodies = [b"kept %d" % number for number in range(20)]
    with broker.another() as producer:
        for body in bodies:
            require_success(producer.send_message(topic=topic, body=body))
        producer.peer.send_bytes(frame_of(b"no header at all"))
        producer.peer.received_close()
    broker.wait_for_max_offset(topic=topic, offset=len(bodies))
    pulled = require_success(broker.pull(topic=topic, offset=0))
    expect(
        "WIRE-CONN-020",
        found=[record.body for record in decode_records(pulled.body)],
        expected=bodies,
        what="the bodies that were pulled",
        transcript=broker.transcript,
    )


@pytest.mark.clause("WIRE-CONN-021")
def test_a_cut_request_is_not_done(broker: Client, topic: str) -> None:
    frame = encode_command(broker.peer.completed(plain_send(topic)))
    for cut in (1, 8, len(frame) // 2):
        with broker.another() as other:
            other.peer.send_bytes(frame[:-cut])
    sent = require_success(broker.send_message(topic=topic, body=b"first"))
    expect(
        "WIRE-CONN-021",
        found=sent.fields["queueOffset"],
        expected="0",
        what="queueOffset",
        transcript=broker.transcript,
    )


@pytest.mark.clause("WIRE-CONN-022")
def test_a_whole_request_before_a_bad_frame_is_done(broker: Client, topic: str) -> None:
    with broker.another() as other:
        peer = other.peer
        frame = encode_command(peer.completed(plain_send(topic, body=b"before")))
        peer.send_bytes(frame + word(16_777_216 + 1) + bytes(16))
        peer.received_close()
    with suppress(TooLateError):
        broker.wait_for_max_offset(topic=topic, offset=1)
    pulled = broker.pull(topic=topic, offset=0)
    found = decode_records(pulled.body) if pulled.code == ResponseCode.SUCCESS else []
    expect(
        "WIRE-CONN-022",
        found=[record.body for record in found],
        expected=[b"before"],
        what="bodies that were stored, at most 10 s later",
        transcript=other.transcript,
        sent="a whole SEND_MESSAGE, and behind it, in the same bytes, a size word of "
        "16,777,217 with 16 bytes",
    )
