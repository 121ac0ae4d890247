"""Frames: their two size words, and that TCP's chunks mean nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.harness.client.client import Client, require_success
from conformance.harness.pytest_plugin.expectations import expect, expect_that
from conformance.strategies.boundaries import OVER_THE_WIRE, near
from conformance.strategies.frames import cut_at, cuts
from conformance.wire.server import Server
from spec.store.message_record import decode_record
from spec.wire.remoting.command import encode_command

FRAME_SIZE_MAX = 16_777_216
"""4.6.0 org.apache.rocketmq.remoting.netty.NettyDecoder.

The specification has it too, but a mutant may change it there."""
ROOM_FOR_FORWARDING = 1024
"""Bytes that a proxy may add to the header of a request that it forwards."""


@pytest.mark.read_only
@pytest.mark.clause("WIRE-FRAME-002", "WIRE-CONN-028")
@OVER_THE_WIRE
@given(padding=near(2**7, 2**8, 2**15, 2**16, 2**17))
def test_a_header_of_any_size_is_read_whole(server: Server, padding: int) -> None:
    fields = {**server.known_request.fields, "padding": "p" * padding}
    response = server.request(fields=fields)
    expect(
        "WIRE-FRAME-002",
        found=server.compared_parts(response),
        expected=server.expected_parts,
        what=f"the answer to a header with {padding} more bytes",
        transcript=server.transcript,
    )


@pytest.mark.read_only
@pytest.mark.clause("WIRE-FRAME-001", "WIRE-CONN-015")
@OVER_THE_WIRE
@given(sizes=st.lists(near(2**8, 2**16), min_size=1, max_size=3))
def test_a_body_nobody_needs_is_skipped_whole(server: Server, sizes: list[int]) -> None:
    for size in sizes:
        response = server.request(body=b"\x7f" * size)
        expect(
            "WIRE-CONN-015",
            found=server.compared_parts(response),
            expected=server.expected_parts,
            what=f"the answer to a request with a body of {size} bytes",
            transcript=server.transcript,
        )


@pytest.mark.clause("WIRE-FRAME-004")
@OVER_THE_WIRE
@given(padding=near(2**8, 2**16), size=near(2**8, 2**16).filter(bool))
def test_a_body_begins_where_the_header_ends(
    broker: Client, topic: str, padding: int, size: int
) -> None:
    body = bytes(index % 251 for index in range(size))
    sent = require_success(
        broker.send_message(
            topic=topic, body=body, properties={"p": "p" * (padding // 3)}
        )
    )
    viewed = require_success(broker.view_stored(sent.fields["msgId"]))
    expect(
        "WIRE-FRAME-004",
        found=decode_record(viewed.body).body,
        expected=body,
        what="the stored body",
        transcript=broker.transcript,
    )


@pytest.mark.read_only
@pytest.mark.clause("WIRE-FRAME-001", "WIRE-FRAME-002", "WIRE-FRAME-003")
def test_a_response_is_one_whole_frame_with_a_json_header(server: Server) -> None:
    sent = server.peer.send(server.known_request)
    frame = server.peer.receive_bytes()
    size = int.from_bytes(frame[:4], "big")
    expect(
        "WIRE-FRAME-001",
        found=size,
        expected=len(frame) - 4,
        what="length",
        transcript=server.transcript,
    )
    header = server.json_header_of(frame)
    expect(
        "WIRE-FRAME-002",
        found=int(header["opaque"]),  # clients accept a number in quotes
        expected=sent.opaque,
        what="opaque",
        transcript=server.transcript,
    )


@pytest.mark.read_only
@pytest.mark.clause("WIRE-FRAME-006")
@OVER_THE_WIRE
@given(data=st.data())
def test_a_frame_cut_anywhere_waits_for_the_rest(
    server: Server, data: st.DataObject
) -> None:
    frames = encode_command(replace(server.known_request, opaque=71))
    frames += encode_command(replace(server.known_request, opaque=72))
    for piece in cut_at(frames, data.draw(cuts(len(frames)))):
        server.peer.send_bytes(piece)
    found = [
        server.compared_parts(server.peer.receive_response(opaque))
        for opaque in (71, 72)
    ]
    expect(
        "WIRE-FRAME-006",
        found=found,
        expected=[server.expected_parts] * 2,
        what="the answers",
        transcript=server.transcript,
    )


@pytest.mark.read_only
@pytest.mark.clause("WIRE-FRAME-006")
def test_a_frame_may_come_byte_by_byte(server: Server) -> None:
    for byte in encode_command(replace(server.known_request, opaque=73)):
        server.peer.send_bytes(bytes([byte]))
    expect(
        "WIRE-FRAME-006",
        found=server.compared_parts(server.peer.receive_response(73)),
        expected=server.expected_parts,
        what="the answer",
        transcript=server.transcript,
    )


@pytest.mark.read_only
@pytest.mark.clause("WIRE-FRAME-006", "WIRE-CONN-001")
@OVER_THE_WIRE
@given(count=st.integers(2, 40))
def test_frames_glued_together_are_each_answered(server: Server, count: int) -> None:
    opaques = range(1000, 1000 + count)
    frames = [encode_command(replace(server.known_request, opaque=n)) for n in opaques]
    server.peer.send_bytes(b"".join(frames))
    answered = {server.peer.receive().opaque for _ in opaques}
    expect(
        "WIRE-CONN-001",
        found=sorted(answered),
        expected=list(opaques),
        what="the opaques that were answered",
        transcript=server.transcript,
    )


@pytest.mark.read_only
@pytest.mark.clause("WIRE-FRAME-005")
def test_a_frame_of_the_largest_size_is_read(server: Server) -> None:
    sent = server.peer.completed(replace(server.known_request, opaque=74))
    empty = len(encode_command(sent))
    size = FRAME_SIZE_MAX - (ROOM_FOR_FORWARDING if server.is_proxy else 0)
    expect(
        "WIRE-FRAME-005",
        found=server.compared_parts(
            server.request(opaque=74, body=bytes(size - empty))
        ),
        expected=server.expected_parts,
        what=f"the answer to a frame of {size} bytes",
        transcript=server.transcript,
    )


@pytest.mark.read_only
@pytest.mark.clause("WIRE-FRAME-005")
def test_a_frame_one_byte_too_large_closes_the_connection(server: Server) -> None:
    expect_that(
        "WIRE-FRAME-005",
        server.responds_as_expected(),
        found="none",
        expected="an answer",
        transcript=server.transcript,
    )
    server.peer.send_bytes((FRAME_SIZE_MAX - 4 + 1).to_bytes(4, "big") + bytes(64))
    expect(
        "WIRE-FRAME-005",
        found=server.peer.received_close(),
        expected=True,
        what="whether the connection was closed",
        transcript=server.transcript,
    )
