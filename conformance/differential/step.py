"""
A step is one request of a program, in symbols, and how a target is asked it.

What comes back is the target's answer, or that there was none: a silence, a closed
connection. A step that has nothing to be about yet, such as a view of a message before
one was sent, asks nothing, which is the same on both sides.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import ClassVar, TypeAlias

from conformance.differential.world import World
from conformance.harness.peer import (
    ClosedError,
    NoAnswerError,
    UnreadableAnswerError,
)
from spec.wire.command import Command

SHOWN_SIZE = 80


class Nothing(StrEnum):
    """What came instead of an answer."""

    SILENCE = "no answer"
    CLOSED = "the connection was closed"
    UNREADABLE = "bytes that are no answer"
    NOT_ASKED = "nothing to ask about"


class Body(StrEnum):
    """How the body of an answer is read."""

    RECORDS = "records"
    JSON = "json"
    TABLE = "table"
    """JSON in which entries of other programs stand beside this one's."""
    PLAIN = "plain"


Answer: TypeAlias = Command | Nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One request of a program; its fields are what generation and shrinking vary."""

    kind: ClassVar[str] = ""
    """What is asked, in words that explanations name."""
    body: ClassVar[Body] = Body.PLAIN
    changes: ClassVar[bool] = False
    """Whether a success leaves the target in another state."""

    def ask(self, world: World) -> Answer:
        """Ask the target of *world*, and return what it answered."""
        raise NotImplementedError

    def __str__(self) -> str:
        default = {one.name: one.default for one in fields(self)}
        told = [
            f"{name}={_short(value)}"
            for name, usual in default.items()
            if (value := getattr(self, name)) != usual
        ]
        return " ".join([self.kind, *told])


def _short(value: object) -> str:
    text = str(value) if isinstance(value, StrEnum) else repr(value)
    return text if len(text) <= SHOWN_SIZE else f"{text[:40]}...{text[-30:]}"


def perform(step: Step, world: World) -> Answer:
    """Return what the target of *world* answers to *step*, or how it does not."""
    try:
        return step.ask(world)
    except NoAnswerError:
        return Nothing.SILENCE
    except ClosedError:
        found = Nothing.CLOSED
    except UnreadableAnswerError:
        found = Nothing.UNREADABLE
    world.forget()
    return found
