"""
Checks of the baseline about any frame, and comparisons that name their clause.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace

from conformance.harness.client.address import Address
from conformance.harness.client.peer import Peer
from conformance.harness.client.peer_errors import (
    PeerMisbehavedError,
    UnreadableResponseError,
    WrongOpaqueError,
)
from conformance.harness.failure.failure import ConformanceFailure, Finding
from conformance.harness.targets.target import NoServerError
from spec.wire.remoting.command import Command, decode_command, encode_command
from spec.wire.remoting.frame import SerializeType, decode_frame

BETWEEN_PARTS_S = 0.02
"""Pause that lets a server read one part of a frame before the next arrives."""
LONG_REMARK = "r" * 300
"""It makes a header of more than 255 bytes, so that its size needs two bytes."""


def check_frame(address: Address | None, question: Command) -> None:
    """Check the responses to *question*: whole, long, in parts, in pairs."""
    with peer_of(address) as peer:
        peer.send_bytes(encode_command(replace(question, opaque=7)))
        frame = peer.receive_bytes()
        _check_header(frame)
        response = decode_command(frame)
        expect_wire(
            "WIRE-COMMAND-001",
            response.is_response,
            response.flag,
            "a flag with bit 0 set",
        )
        expect_wire(
            "WIRE-COMMAND-003", response.opaque == 7, response.opaque, "opaque 7"
        )
        long = encode_command(replace(question, remark=LONG_REMARK, opaque=8))
        check_are_answered("WIRE-FRAME-002", peer, [long], [8])
        data = encode_command(replace(question, opaque=9))
        check_are_answered("WIRE-FRAME-006", peer, [data[:9], data[9:]], [9])
        both = [encode_command(replace(question, opaque=n)) for n in (10, 11)]
        check_are_answered("WIRE-FRAME-006", peer, [b"".join(both)], [10, 11])


def peer_of(address: Address | None) -> Peer:
    """Return a connection to the server at *address*."""
    if address is None:
        raise NoServerError("no listener")
    return Peer(address)


def check_is_answered(peer: Peer, question: Command) -> None:
    """Check that *question* has a response with its opaque, which may be an error."""
    try:
        peer.request(question)
    except WrongOpaqueError as error:
        expect_wire(error.clause, False, error.reason, error.expected)


def check_opaque(peer: Peer, question: Command) -> None:
    """Check that the response to *question*, if there is one, has its opaque."""
    try:
        check_is_answered(peer, question)
    except PeerMisbehavedError:
        return  # other clauses are about a response that is missing or unreadable


def check_is_whole(peer: Peer) -> None:
    """Check that nothing follows a response: its frame contains the whole body."""
    try:
        peer.is_silent(BETWEEN_PARTS_S)
        found = f"{len(peer.rest)} bytes that are no frame"
        is_whole = not peer.rest
    except UnreadableResponseError as error:
        found, is_whole = error.reason, False
    expected = "nothing behind the frame of the response"
    expect_wire("WIRE-FRAME-004", is_whole, found, expected)


def check_are_answered(
    clause: str, peer: Peer, parts: Iterable[bytes], opaques: Iterable[int]
) -> None:
    """Check that requests in *parts*, each in a packet of its own, have responses."""
    try:
        for part in parts:
            peer.send_bytes(part)
            peer.is_silent(BETWEEN_PARTS_S)
        for opaque in opaques:
            peer.receive_response(opaque)
    except PeerMisbehavedError as error:
        expect_wire(clause, False, error.reason, "a response to the request")


def _check_header(frame: bytes) -> None:
    """Check the types of the members of a JSON header."""
    read = decode_frame(frame)
    if read.serialize_type != SerializeType.JSON:
        return
    header = json.loads(read.header)
    is_text = isinstance(header.get("language"), str)
    expect_wire("WIRE-JSON-005", is_text, header, "the name of a language")
    fields = (header.get("extFields") or {}).values()
    are_texts = all(isinstance(value, str) for value in fields)
    expect_wire("WIRE-JSON-002", are_texts, header, "texts as values of extFields")


def expect(clause: str, what: str, found: object, expected: object) -> None:
    """Fail *clause* unless the value *what* is as expected."""
    expect_that(clause, what, found == expected, found, expected)


def expect_that(
    clause: str, what: str, condition: bool, found: object, expected: object
) -> None:
    """Fail *clause* unless *condition* is met."""
    if not condition:
        finding = Finding(what=what, found=found, expected=expected)
        raise ConformanceFailure(clause, [finding])


def expect_wire(clause: str, condition: bool, found: object, expected: str) -> None:
    """Fail *clause* as a whole, because no response can be trusted without it."""
    if not condition:
        raise ConformanceFailure(clause, [Finding(found=found, expected=expected)])
