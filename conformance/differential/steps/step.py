"""
Step: one request of a program, in symbols.

Its result is the target's response, or the lack of one: a silence, a closed connection.
A step without a subject yet, such as a view before any send, sends nothing, which is
equal on both sides.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import ClassVar, TypeAlias

from conformance.differential.world import World
from conformance.harness.client.peer_errors import (
    ClosedError,
    NoResponseError,
    UnreadableResponseError,
)
from spec.wire.remoting.command import Command

SHOWN_SIZE = 80


class Nothing(StrEnum):
    """Result without a response."""

    SILENCE = "no answer"
    CLOSED = "the connection was closed"
    UNREADABLE = "bytes that are no answer"
    NOT_SENT = "no subject"


class Body(StrEnum):
    """Kind of a response's body."""

    RECORDS = "records"
    JSON = "json"
    TABLE = "table"
    """JSON in which entries of other programs stand beside this one's."""
    PLAIN = "plain"


Response: TypeAlias = Command | Nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One request of a program; its fields are what generation and shrinking vary."""

    kind: ClassVar[str] = ""
    """Kind of request, used by explanations."""
    body: ClassVar[Body] = Body.PLAIN
    changes: ClassVar[bool] = False
    """Whether a success leaves the target in another state."""

    @property
    def request(self) -> str:
        """Name of the request, which a target may lack; empty for an unknown code."""
        return self.kind

    def invoke(self, world: World) -> Response:
        """Send the request to the target of *world*, and return the response."""
        raise NotImplementedError

    def __str__(self) -> str:
        default = {one.name: one.default for one in fields(self)}
        reported = [
            f"{name}={_short(value)}"
            for name, usual in default.items()
            if (value := getattr(self, name)) != usual
        ]
        return " ".join([self.kind, *reported])


def _short(value: object) -> str:
    text = str(value) if isinstance(value, StrEnum) else repr(value)
    return text if len(text) <= SHOWN_SIZE else f"{text[:40]}...{text[-30:]}"


def perform(step: Step, world: World) -> Response:
    """Return the target's response to *step*, or its kind of absence."""
    try:
        return step.invoke(world)
    except NoResponseError:
        return Nothing.SILENCE
    except ClosedError:
        found = Nothing.CLOSED
    except UnreadableResponseError:
        found = Nothing.UNREADABLE
    world.close()
    return found
