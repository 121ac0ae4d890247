"""ROCKETMQ headers: RocketMQ's own binary notation, read, and responded to in JSON."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import assume, given

from conformance.harness.client.client import Client, require_success
from conformance.harness.pytest_plugin.expectations import expect
from conformance.strategies.boundaries import OVER_THE_WIRE, int32s, near, texts
from conformance.strategies.frames import frame_of, word
from conformance.wire.server import Server
from spec.wire.remoting.command import Command
from spec.wire.remoting.frame import SerializeType
from spec.wire.remoting.header_rocketmq import encode_entries
from spec.wire.remoting.request_code import RequestCode


@pytest.mark.read_only
@pytest.mark.clause("WIRE-FRAME-003", "WIRE-BINARY-001", "WIRE-BINARY-003")
@OVER_THE_WIRE
@given(opaque=int32s().filter(bool))
def test_a_binary_request_is_understood(server: Server, opaque: int) -> None:
    response = server.request(opaque=opaque, serialize_type=SerializeType.ROCKETMQ)
    expect(
        "WIRE-BINARY-001",
        found=(response.opaque, server.compared_parts(response)),
        expected=(opaque, server.expected_parts),
        what="opaque and answer",
        transcript=server.transcript,
    )


def _expect_response_in(server: Server, notation: SerializeType, clause: str) -> None:
    response = server.request(serialize_type=SerializeType.ROCKETMQ)
    expect(
        clause,
        found=response.serialize_type,
        expected=notation,
        what="serialize_type",
        transcript=server.transcript,
    )


@pytest.mark.read_only
@pytest.mark.clause("WIRE-BINARY-006")
def test_a_binary_request_expect_response_in_json(server: Server) -> None:
    _expect_response_in(server, SerializeType.JSON, "WIRE-BINARY-006")


@pytest.mark.read_only
@pytest.mark.clause("WIRE-BINARY-008")
def test_a_binary_request_expect_response_in_its_notation(server: Server) -> None:
    _expect_response_in(server, SerializeType.ROCKETMQ, "WIRE-BINARY-008")


@pytest.mark.read_only
@pytest.mark.clause("WIRE-BINARY-009")
def test_a_binary_request_expect_response_in_json_again(server: Server) -> None:
    _expect_response_in(server, SerializeType.JSON, "WIRE-BINARY-009")


@pytest.mark.clause("WIRE-BINARY-002")
@OVER_THE_WIRE
@given(text=texts(max_size=200))
def test_values_of_a_binary_header_are_read_in_utf8(
    namesrv: Client, unique: Callable[[str], str], text: str
) -> None:
    space = unique("binary")
    fields = {"namespace": space, "key": "k", "value": text}
    code = RequestCode.PUT_KV_CONFIG
    require_success(
        namesrv.peer.request(
            Command(code=code, fields=fields, serialize_type=SerializeType.ROCKETMQ)
        )
    )
    response = require_success(namesrv.get_kv(namespace=space, key="k"))
    expect(
        "WIRE-BINARY-002",
        found=response.fields.get("value"),
        expected=text,
        what="value",
        transcript=namesrv.transcript,
    )


@pytest.mark.read_only
@pytest.mark.clause("WIRE-BINARY-002", "WIRE-FRAME-002")
@OVER_THE_WIRE
@given(size=near(2**7, 2**8, 2**15, 2**16))
def test_a_binary_value_of_any_size_is_skipped_whole(server: Server, size: int) -> None:
    # A broker reads an empty value as null, and finds "null" in the signed content
    # (5.3.3 RocketMQSerializable#readStr, AclUtils#combineRequestContent).
    assume(size or server.peer.access.credentials is None)
    fields = {"padding": "p" * size, **server.known_request.fields}
    response = server.request(fields=fields, serialize_type=SerializeType.ROCKETMQ)
    expect(
        "WIRE-BINARY-002",
        found=server.compared_parts(response),
        expected=server.expected_parts,
        what=f"the answer to a header with a value of {size} bytes",
        transcript=server.transcript,
    )


@pytest.mark.read_only
@pytest.mark.clause("WIRE-BINARY-003")
@OVER_THE_WIRE
@given(remark=texts(max_size=100))
def test_a_binary_remark_is_skipped_whole(server: Server, remark: str) -> None:
    response = server.request(remark=remark, serialize_type=SerializeType.ROCKETMQ)
    expect(
        "WIRE-BINARY-003",
        found=server.compared_parts(response),
        expected=server.expected_parts,
        what="the answer to a header with a remark",
        transcript=server.transcript,
    )


@pytest.mark.read_only
@pytest.mark.clause("WIRE-CONN-006")
def test_any_language_byte_is_served(server: Server) -> None:
    for language in ("JAVA", "CPP", "OTHER", "GO"):
        response = server.request(
            language=language, serialize_type=SerializeType.ROCKETMQ
        )
        expect(
            "WIRE-CONN-006",
            found=server.compared_parts(response),
            expected=server.expected_parts,
            what=f"the answer to a header of language {language}",
            transcript=server.transcript,
        )


@pytest.mark.read_only
@pytest.mark.parametrize("claimed", [1, 100, 2**20])
@pytest.mark.clause("WIRE-FRAME-009")
def test_binary_fields_past_the_headers_end_close_the_connection(
    server: Server, claimed: int
) -> None:
    entries = encode_entries({"topic": "t", "queueId": "0"})
    start = bytes(13) + word(0)
    server.peer.send_bytes(
        frame_of(start + word(len(entries) + claimed) + entries, kind=1)
    )
    expect(
        "WIRE-FRAME-009",
        found=server.peer.received_close(),
        expected=True,
        what="whether the connection was closed",
        transcript=server.transcript,
    )
