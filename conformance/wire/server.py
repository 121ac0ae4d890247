"""
A server is a name server or a broker, with a question that it always answers.

Everything about connections and frames is asked of both. The question writes
nothing, and its answer is known, so that any change to how it is put can be judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from conformance.harness.peer import Peer
from conformance.harness.transcript import Transcript
from spec.wire.command import Command
from spec.wire.request_code import RequestCode
from spec.wire.response_code import ResponseCode

QUIET_S = 0.2
"""How long nothing may come before we believe that nothing comes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """One server, a connection to it, and a question with a known answer."""

    name: str
    peer: Peer
    question: Command
    answer_code: int
    answer_fields: Mapping[str, str]

    @property
    def transcript(self) -> Transcript:
        """What was said on this connection."""
        return self.peer.transcript

    def ask(self, **changes: object) -> Command:
        """Ask the question, put differently by *changes*, and return the answer."""
        return self.peer.request(replace(self.question, **changes))  # type: ignore[arg-type] # fields of Command

    def judged(self, answer: Command) -> tuple[int, dict[str, str]]:
        """Return the parts of *answer* that are known beforehand."""
        fields = {
            name: answer.fields.get(name, "(absent)") for name in self.answer_fields
        }
        return answer.code, fields

    @property
    def known(self) -> tuple[int, dict[str, str]]:
        """What :meth:`judged` returns for a right answer."""
        return self.answer_code, dict(self.answer_fields)

    def answers(self) -> bool:
        """Return whether the question is answered rightly on this connection."""
        return self.judged(self.ask()) == self.known

    def reconnected(self) -> Server:
        """Return the same server over a connection that the caller closes."""
        return replace(self, peer=Peer(self.peer.address))


def name_server(peer: Peer, topic: str) -> Server:
    """Return a name server, asked for the route of *topic*, which nobody has."""
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
    """Return a broker, asked for the max offset of *topic*, which it does not have."""
    return Server(
        name="broker",
        peer=peer,
        question=Command(
            code=RequestCode.GET_MAX_OFFSET, fields={"topic": topic, "queueId": "0"}
        ),
        answer_code=ResponseCode.SUCCESS,
        answer_fields={"offset": "0"},
    )
