"""
A server is a name server or a broker, with a question that it always answers.

Everything about connections and frames is tested with both. The question writes
nothing, and its answer is known, so that any change of its form can be checked.
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
    """One server, a connection to it, and a question with a known answer."""

    name: str
    peer: Peer
    question: Command
    answer_code: int
    answer_fields: Mapping[str, str]
    is_proxy: bool = False
    """Whether it forwards the question to another server, with a longer header."""

    @property
    def transcript(self) -> Transcript:
        """Frames sent and received on this connection."""
        return self.peer.transcript

    def request(self, **changes: object) -> Command:
        """Send the question, modified by *changes*, and return the answer."""
        return self.peer.request(replace(self.question, **changes))  # type: ignore[arg-type] # fields of Command

    def known_parts(self, answer: Command) -> tuple[int, dict[str, str]]:
        """Return the parts of *answer* that are known beforehand."""
        fields = {
            name: answer.fields.get(name, "(absent)") for name in self.answer_fields
        }
        return answer.code, fields

    @property
    def known(self) -> tuple[int, dict[str, str]]:
        """Parts of a right answer, as :meth:`known_parts` returns them."""
        return self.answer_code, dict(self.answer_fields)

    def answers(self) -> bool:
        """Return whether the question is answered rightly on this connection."""
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
        answer_code=ResponseCode.TOPIC_NOT_EXIST,
        answer_fields={},
    )


def broker(peer: Peer, topic: str) -> Server:
    """Return a broker with a max offset request for *topic*, which it does not have."""
    fields = {"topic": topic, "queueId": "0"}
    question = Command(code=RequestCode.GET_MAX_OFFSET, fields=fields)
    return Server(
        name="broker",
        peer=peer,
        question=peer.dialect.completed(question) if peer.dialect else question,
        answer_code=ResponseCode.SUCCESS,
        answer_fields={"offset": "0"},
    )
