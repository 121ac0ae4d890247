"""
A server is a name server or a broker, with a question that it always responds to.

Everything about connections and frames is tested with both. The question writes
nothing, and its response is known, so that any change of its form can be checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from conformance.harness.client.peer import Peer
from conformance.harness.client.transcript import Transcript
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

QUIET_S = 0.2
"""Seconds without a frame after which none is expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """One server, a connection to it, and a question with a known response."""

    name: str
    peer: Peer
    question: Command
    response_code: int
    response_fields: Mapping[str, str]
    is_proxy: bool = False
    """Whether it forwards the question to another server, with a longer header."""

    @property
    def transcript(self) -> Transcript:
        """Frames sent and received on this connection."""
        return self.peer.transcript

    def request(self, **changes: object) -> Command:
        """Send the question, modified by *changes*, and return the response."""
        return self.peer.request(replace(self.question, **changes))  # type: ignore[arg-type] # fields of Command

    def known_parts(self, response: Command) -> tuple[int, dict[str, str]]:
        """Return the parts of *response* that are known beforehand."""
        fields = {
            name: response.fields.get(name, "(absent)") for name in self.response_fields
        }
        return response.code, fields

    @property
    def known(self) -> tuple[int, dict[str, str]]:
        """Parts of a right response, as :meth:`known_parts` returns them."""
        return self.response_code, dict(self.response_fields)

    def responds_as_known(self) -> bool:
        """Return whether the question gets its known response on this connection."""
        return self.known_parts(self.request()) == self.known

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
        question=Command(
            code=RequestCode.GET_ROUTEINFO_BY_TOPIC, fields={"topic": topic}
        ),
        response_code=ResponseCode.TOPIC_NOT_EXIST,
        response_fields={},
    )


def broker(peer: Peer, topic: str) -> Server:
    """Return a broker with a max offset request for *topic*, which it does not have."""
    fields = {"topic": topic, "queueId": "0"}
    question = Command(code=RequestCode.GET_MAX_OFFSET, fields=fields)
    return Server(
        name="broker",
        peer=peer,
        question=peer.dialect.completed(question) if peer.dialect else question,
        response_code=ResponseCode.SUCCESS,
        response_fields={"offset": "0"},
    )
