"""
An asker turns keyword arguments into one request and hands back the answer.

Header fields are text on the wire, whatever they mean; None leaves a field out.
The modules beside this one each add the requests of one subject, and
:class:`conformance.harness.speaker.Speaker` is all of them together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self, TypeAlias

from conformance.harness.address import Address
from conformance.harness.closing import Closing
from conformance.harness.peer import ANSWER_TIMEOUT_S, ONEWAY_FLAG, Peer
from conformance.harness.transcript import Transcript
from spec.wire.command import Command
from spec.wire.fastjson import dumps, loads
from spec.wire.response_code import ResponseCode

FieldValue: TypeAlias = str | int | bool | None


class RefusedError(AssertionError):
    """An answer that had to be a success is none."""


class Asker(Closing):
    """Somebody who asks one peer over one connection."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer

    @classmethod
    def connect(cls, address: Address) -> Self:
        """Return an asker with a fresh connection to *address*."""
        return cls(Peer(address))

    @property
    def transcript(self) -> Transcript:
        """What was said on this connection."""
        return self.peer.transcript

    @property
    def address(self) -> Address:
        """The address that we are connected to."""
        return self.peer.address

    def close(self) -> None:
        """Close the connection."""
        self.peer.close()

    def ask(
        self,
        code: int,
        fields: Mapping[str, FieldValue] | None = None,
        body: bytes = b"",
        *,
        timeout_s: float = ANSWER_TIMEOUT_S,
    ) -> Command:
        """Send a request with this code and return its answer."""
        return self.peer.request(request(code, fields, body), timeout_s=timeout_s)

    def tell(
        self,
        code: int,
        fields: Mapping[str, FieldValue] | None = None,
        body: bytes = b"",
    ) -> Command:
        """Send a oneway request, which nobody answers, and return it as sent."""
        return self.peer.send(request(code, fields, body, flag=ONEWAY_FLAG))


def request(
    code: int,
    fields: Mapping[str, FieldValue] | None = None,
    body: bytes = b"",
    *,
    flag: int = 0,
) -> Command:
    """Return a request with these fields, None left out and the rest made text."""
    texts = {k: text_of(v) for k, v in (fields or {}).items() if v is not None}
    return Command(code=int(code), flag=flag, fields=texts, body=body)


def text_of(value: FieldValue) -> str:
    """Return *value* as a header field carries it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def json_body(value: object) -> bytes:
    """Return *value* as a JSON body."""
    return dumps(value)


def body_of(answer: Command) -> object:
    """Return the JSON body of *answer*, which must be a success."""
    return loads(succeeded(answer).body)


def succeeded(answer: Command) -> Command:
    """Return *answer* if it is a success, and fail if it is not."""
    if answer.code != ResponseCode.SUCCESS:
        raise RefusedError(f"refused with code {answer.code}: {answer.remark}")
    return answer
