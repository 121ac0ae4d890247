"""
A server is a name server or a broker, with a request that it always responds to.

Everything about connections and frames is tested with both. The request writes
nothing, and its response is known, so that any change of its form can be checked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from conformance.harness.client.peer import Peer
from conformance.harness.client.peer_errors import PeerMisbehavedError
from conformance.harness.client.transcript import Transcript, describe_command
from conformance.harness.pytest_plugin.expectations import expect
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

QUIET_S = 0.2
"""Seconds without a frame after which none is expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """One server, a connection to it, and a request with a known response."""

    name: str
    peer: Peer
    known_request: Command
    response_code: int
    response_fields: Mapping[str, str]
    is_proxy: bool = False
    """Whether it forwards the request to another server, with a longer header."""

    @property
    def transcript(self) -> Transcript:
        """Frames sent and received on this connection."""
        return self.peer.transcript

    def request(self, **changes: object) -> Command:
        """Send the known request, modified by *changes*, and return the response."""
        return self.peer.request(replace(self.known_request, **changes))  # type: ignore[arg-type] # fields of Command

    def compared_parts(self, response: Command) -> tuple[int, dict[str, str]]:
        """Return the code and the known fields of *response*."""
        fields = {
            name: response.fields.get(name, "(absent)") for name in self.response_fields
        }
        return response.code, fields

    @property
    def expected_parts(self) -> tuple[int, dict[str, str]]:
        """Parts of a correct response, as :meth:`compared_parts` returns them."""
        return self.response_code, dict(self.response_fields)

    def json_header_of(self, frame: bytes) -> dict[str, Any]:
        """Return the JSON header in *frame*; fail WIRE-FRAME-003 for any other one."""
        expect(
            "WIRE-FRAME-003",
            found=frame[4],
            expected=0,
            what="serialize_type",
            transcript=self.transcript,
        )
        header: dict[str, Any] = json.loads(
            frame[8 : 8 + int.from_bytes(frame[5:8], "big")]
        )
        return header

    def responds_as_expected(self) -> bool:
        """Return whether the known request gets its response on this connection."""
        return self.compared_parts(self.request()) == self.expected_parts

    def expect_response(self, clause: str) -> None:
        """Fail *clause* unless the known request gets its response."""
        expect(
            clause,
            found=self.compared_parts(self.request()),
            expected=self.expected_parts,
            what="the response to a known request",
            transcript=self.transcript,
        )

    def expect_silence(self, clause: str) -> None:
        """Fail *clause* with the next command, or the close, that the peer sends."""
        expect(
            clause,
            found=self._next_within(QUIET_S),
            expected="nothing",
            what="what came",
            transcript=self.transcript,
        )

    def _next_within(self, quiet_s: float) -> str:
        try:
            if self.peer.is_silent(quiet_s):
                return "nothing"
            return describe_command(self.peer.receive())
        except PeerMisbehavedError as error:
            return error.reason

    def reconnected(self) -> Server:
        """Return the same server over a connection that the caller closes."""
        return replace(
            self, peer=Peer(self.peer.address, self.peer.access, self.peer.dialect)
        )


def name_server(peer: Peer, topic: str) -> Server:
    """Return a name server with a route request for *topic*, which does not exist."""
    return Server(
        name="name server",
        peer=peer,
        known_request=Command(
            code=RequestCode.GET_ROUTEINFO_BY_TOPIC, fields={"topic": topic}
        ),
        response_code=ResponseCode.TOPIC_NOT_EXIST,
        response_fields={},
    )


def broker(peer: Peer, topic: str) -> Server:
    """Return a broker with a max offset request for *topic*, which it does not have."""
    fields = {"topic": topic, "queueId": "0"}
    command = Command(code=RequestCode.GET_MAX_OFFSET, fields=fields)
    return Server(
        name="broker",
        peer=peer,
        known_request=peer.dialect.completed(command) if peer.dialect else command,
        response_code=ResponseCode.SUCCESS,
        response_fields={"offset": "0"},
    )
