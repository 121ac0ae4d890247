"""
Invoker: one connection, and requests made of keyword arguments.

Header fields are text on the wire. None leaves a field out. Each module of this package
adds the requests of one subject. :class:`conformance.harness.client.client.Client`
combines all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Self, TypeAlias

from conformance.harness.client.access import OPEN, Access
from conformance.harness.client.address import Address
from conformance.harness.client.dialect import Dialect
from conformance.harness.client.peer import RESPONSE_TIMEOUT_S, Peer
from conformance.harness.client.transcript import Transcript
from conformance.harness.process.context import Closing
from spec.routing.topic_config import FIRST_RELEASE
from spec.wire.bodies.fastjson import dumps, loads
from spec.wire.remoting.command import Command, CommandFlag
from spec.wire.remoting.response_code import ResponseCode

FieldValue: TypeAlias = str | int | bool | None
_SETTING = re.compile(r"([^=:]*)[=:](.*)")


class RefusedError(AssertionError):
    """Error response where the test requires a success."""

    def __init__(self, response: Command, reason: str = "") -> None:
        super().__init__(f"refused with code {response.code}: {response.remark}")
        self.code = response.code
        self.opaque = response.opaque
        success = f"{ResponseCode.SUCCESS:d} SUCCESS"
        self.expected = f"{success}, because {reason}" if reason else success


class Invoker(Closing):
    """Sender of requests to one peer over one connection."""

    def __init__(
        self,
        peer: Peer,
        release: str = FIRST_RELEASE,
    ) -> None:
        self.peer = peer
        self.release = release
        """The release whose peers write bodies as this one does."""
        self.storage: Address | None = None
        """The broker that stores the messages, where the peer is a proxy before it."""

    @classmethod
    def connect(
        cls,
        address: Address,
        release: str = FIRST_RELEASE,
        access: Access = OPEN,
        *,
        broker_name: str = "",
        storage: Address | None = None,
    ) -> Self:
        """Return an invoker of *release* with a new connection to *address*."""
        dialect = Dialect(release=release, broker_name=broker_name)
        made = cls(Peer(address, access, dialect), release)
        made.storage = storage
        return made

    def another(self) -> Self:
        """Return an invoker with a connection of its own to the same server."""
        peer = Peer(self.address, self.peer.access, self.peer.dialect)
        made = type(self)(peer, self.release)
        made.storage = self.storage
        return made

    @property
    def transcript(self) -> Transcript:
        """Transcript of this connection."""
        return self.peer.transcript

    @property
    def address(self) -> Address:
        """The address that we are connected to."""
        return self.peer.address

    def close(self) -> None:
        """Close the connection."""
        self.peer.close()

    def invoke(
        self,
        code: int,
        fields: Mapping[str, FieldValue] | None = None,
        body: bytes = b"",
        *,
        timeout_s: float = RESPONSE_TIMEOUT_S,
    ) -> Command:
        """Send a request with this code and return its response."""
        return self.peer.request(request(code, fields, body), timeout_s=timeout_s)

    def invoke_oneway(
        self,
        code: int,
        fields: Mapping[str, FieldValue] | None = None,
        body: bytes = b"",
    ) -> Command:
        """Send a oneway request, which has no response, and return it as sent."""
        return self.peer.send(request(code, fields, body, flag=CommandFlag.ONEWAY))


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


class MissingMemberError(AssertionError):
    """The JSON body of a response lacks a member that the test reads."""

    def __init__(self, name: object, members: Iterable[object]) -> None:
        super().__init__(f"a body with the members {', '.join(map(str, members))}")
        self.name = name


class ReceivedMembers(dict[object, object]):
    """JSON object of a received body; a missing member is the peer's mistake."""

    def __missing__(self, name: object) -> object:
        """Raise the error about the member *name*, which was not received."""
        raise MissingMemberError(name, self)


def body_of(response: Command) -> object:
    """Return the JSON body of *response*, which must be a success."""
    return _received(loads(require_success(response).body))


def _received(value: object) -> object:
    """Return *value* with every JSON object as :class:`ReceivedMembers`."""
    if isinstance(value, dict):
        members = ((name, _received(member)) for name, member in value.items())
        return ReceivedMembers(members)
    return [_received(item) for item in value] if isinstance(value, list) else value


def require_success(response: Command, *, reason: str = "") -> Command:
    """Return *response* if it is a success, and fail if it is not.

    The failure contains the *reason* why a success is expected.
    """
    if response.code != ResponseCode.SUCCESS:
        raise RefusedError(response, reason)
    return response


def settings_in(response: Command) -> dict[str, str]:
    """Return the settings in the body of *response*, a success, by name.

    Java's clients read it with Properties#load: a name ends at an equals sign or colon.
    """
    text = require_success(response).body.decode()
    pairs = filter(None, map(_SETTING.fullmatch, text.splitlines()))
    return {pair[1].strip(): pair[2].strip() for pair in pairs}
