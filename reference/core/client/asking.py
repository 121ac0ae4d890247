"""
A client asks many peers many things, and waits for each answer by its opaque.

The asker has no socket. It hands out effects: what to write to which address, and when
to be woken; it is told what arrived, which connection could not be made or was lost,
and what time it is. Whoever asks says what is to be done with the outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from reference.core.answer import Answer, encode_answer, refusal
from reference.core.client.failure import Failure, Reason
from reference.core.client.message import Queue
from reference.core.effects import WakeAt
from reference.core.request import Request
from reference.core.schedule import Schedule
from spec.wire.command import Command, encode_command
from spec.wire.response_code import ResponseCode

Outcome = Request | Failure
"""An answer, whatever its code, or why there is none."""
Then = Callable[[Outcome, int], None]
"""What is done with an outcome; it is given the time too."""
Handler = Callable[[str, Request, int], Answer | None]
"""Does what the broker at an address asks of the client. None is no answer yet."""

_OPAQUE_END = 2**31


@dataclass(frozen=True, slots=True)
class Write:
    """Write this frame to the peer at *address*, connecting where it is needed."""

    address: str
    frame: bytes
    opaque: int | None
    """By which a failure to write it is told; None where nobody wants to know."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The call of this number has this result."""

    call: int
    result: object
    """What was asked for, or the ClientError that the application gets."""


@dataclass(frozen=True, slots=True)
class Deliver:
    """Hand these messages of a queue to the application, and say when it is done."""

    queue: Queue
    messages: tuple[Any, ...]
    """Of the kind that reference.core.client.pulling.Received is."""
    ticket: int | None = None
    """Of a message that an administrator hands over, which is of no queue of ours."""


@dataclass(frozen=True, slots=True)
class Remember:
    """Keep how far these queues have come, for a later start of this client."""

    offsets: Mapping[Queue, int]


Effect = Write | Finished | Deliver | Remember | WakeAt


@dataclass(frozen=True, slots=True)
class _Waiting:
    address: str
    then: Then


class Asker:
    """What a client has asked and not been answered, and what it has to do later."""

    def __init__(self, handlers: Mapping[int, Handler] | None = None) -> None:
        self.schedule = Schedule()
        self.handlers = dict(handlers or {})
        self._waiting: dict[int, _Waiting] = {}
        self._outbox: list[Effect] = []
        self._next_opaque = 0
        self._wake_ms: int | None = None

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits for an answer."""
        return not self._waiting

    def ask(self, address: str, command: Command, then: Then, *, until_ms: int) -> None:
        """Send *command* under a new opaque, and wait for its answer *until_ms*."""
        opaque = self._new_opaque()
        self._waiting[opaque] = _Waiting(address, then)
        self.schedule.at(until_ms, lambda now_ms: self._too_late(opaque, now_ms))
        self._write(address, command, opaque)

    def tell(self, address: str, command: Command) -> None:
        """Send *command* and forget it."""
        opaque = self._new_opaque()
        frame = encode_command(replace(command, opaque=opaque))
        self._outbox.append(Write(address, frame, None))

    def received(self, address: str, request: Request, now_ms: int) -> None:
        """Take a command from the peer at *address*: an answer, or a question."""
        if not request.is_response:
            self._handle(address, request, now_ms)
            return
        waiting = self._waiting.pop(request.opaque, None)
        if waiting is not None:  # [WIRE-COMMAND-006]
            waiting.then(request, now_ms)

    def failed(self, opaque: int, reason: Reason, now_ms: int) -> None:
        """Note that a request could not be written."""
        waiting = self._waiting.pop(opaque, None)
        if waiting is not None:
            waiting.then(Failure(reason=reason, remark=waiting.address), now_ms)

    def lost(self, address: str, now_ms: int) -> None:
        """Note that the connection to *address* is gone, with all it had asked."""
        # [CLIENT-RETRY-013]
        gone = [n for n, one in self._waiting.items() if one.address == address]
        for opaque in gone:
            self.failed(opaque, Reason.LOST, now_ms)

    def woken(self, now_ms: int) -> None:
        """Do what is due."""
        self._wake_ms = None
        self.schedule.run(now_ms)

    def answer(self, address: str, opaque: int, answer: Answer) -> None:
        """Answer what the peer at *address* has asked under this *opaque*."""
        self._outbox.append(Write(address, encode_answer(opaque, answer), None))

    def finish(self, call: int, result: object) -> None:
        """Tell the application what became of its call."""
        self.emit(Finished(call, result))

    def emit(self, effect: Effect) -> None:
        """Ask the shell for something."""
        self._outbox.append(effect)

    def abandon(self) -> None:
        """Wait no more for anything that was asked."""
        self._waiting.clear()

    def take(self) -> list[Effect]:
        """Return the effects so far, with a call for attention if a new one is due."""
        due_ms = self.schedule.next_ms
        if due_ms is not None and (self._wake_ms is None or due_ms < self._wake_ms):
            self._wake_ms = due_ms
            self._outbox.append(WakeAt(due_ms))
        effects, self._outbox = self._outbox, []
        return effects

    def _new_opaque(self) -> int:
        opaque = self._next_opaque  # [CLIENT-RETRY-006]
        self._next_opaque = (opaque + 1) % _OPAQUE_END
        return opaque

    def _write(self, address: str, command: Command, opaque: int) -> None:
        frame = encode_command(replace(command, opaque=opaque))
        self._outbox.append(Write(address, frame, opaque))

    def _too_late(self, opaque: int, now_ms: int) -> None:
        self.failed(opaque, Reason.TIMEOUT, now_ms)

    def _handle(self, address: str, request: Request, now_ms: int) -> None:
        handler = self.handlers.get(request.code)
        if handler is None:  # [CLIENT-REQUEST-001]
            code = ResponseCode.REQUEST_CODE_NOT_SUPPORTED
            answer: Answer | None = refusal(code, f"{request.code} is not known here")
        else:
            answer = handler(address, request, now_ms)
        if answer is not None:
            self.answer(address, request.opaque, answer)
