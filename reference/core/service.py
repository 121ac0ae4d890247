"""
A service is what name server and broker have in common: connections, a table of
handlers, a schedule, and an outbox.

The shell calls opened, heard, closed, dialled and woken; each returns the effects
that it led to. One service is driven by one thread. When the shell has performed what
one round of arrivals led to, and before it brings more, it calls settled: what many
requests began is finished together, and nobody waits for that to be answered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from reference.core.answer import SYSTEM_ERROR, Answer, encode_answer, refusal
from reference.core.connection import Connection
from reference.core.effects import (
    Close,
    Complain,
    Dial,
    Effect,
    Send,
    WakeAt,
)
from reference.core.request import FieldError, Request
from reference.core.schedule import Schedule
from spec.host import Host

IDLE_SCAN_MS = 1_000
IDLE_LIMIT_MS = 120_000

Handler = Callable[[Request], Answer | None]
"""Check, act, answer. None is no answer, or one that comes later."""


class Service:
    """A peer that answers requests."""

    def __init__(self) -> None:
        self.connections: dict[int, Connection] = {}
        self.schedule = Schedule()
        self.handlers: Mapping[int, Handler] = {}
        self.idle_limit_ms = IDLE_LIMIT_MS
        self.is_unsettled = False
        """Whether something was begun that settle has to finish."""
        self._outbox: list[Effect] = []
        self._wake_ms: int | None = None

    def opened(self, connection: int, remote: Host) -> list[Effect]:
        """Note that a peer has connected."""
        self.connections[connection] = Connection(connection, remote)
        return self.take()

    def received(self, connection: int, data: bytes, now_ms: int) -> list[Effect]:
        """Handle the requests that *data* completes, and finish what they began."""
        return self.heard(connection, data, now_ms) + self.settled(now_ms)

    def settled(self, now_ms: int) -> list[Effect]:
        """Finish what the requests of one round of arrivals began."""
        self.settle(now_ms)
        return self.take()

    def heard(self, connection: int, data: bytes, now_ms: int) -> list[Effect]:
        """Handle the requests that *data* completes; settled has to follow."""
        peer = self.connections.get(connection)
        if peer is None:
            return []
        answers = []
        requests = peer.receive(data, now_ms)
        together = self.handle_together(requests) if len(requests) > 1 else ()
        for number, request in enumerate(requests):  # [WIRE-CONN-001]
            if number < len(together):
                answer = together[number]
            elif request.flag & 1:
                self.response(request)
                continue
            else:
                answer = self._handle(request)
            # [WIRE-COMMAND-002] [WIRE-CONN-019]
            if answer is not None and not request.flag & 2:
                answers.append(encode_answer(request.opaque, answer))
        if answers:
            data = answers[0] if len(answers) == 1 else b"".join(answers)
            self._outbox.append(Send(connection, data))
        if peer.broken is not None:
            self.close(connection, peer.broken)  # [WIRE-FRAME-011]
        return self.take()

    def closed(self, connection: int, now_ms: int) -> list[Effect]:
        """Forget a peer whose connection is gone."""
        if self.connections.pop(connection, None) is not None:
            self.forget(connection, now_ms)
        return self.take()

    def dialled(
        self, address: Host, connection: int | None, now_ms: int
    ) -> list[Effect]:
        """Use the connection that was asked for; None says it could not be had."""
        if connection is not None:
            self.connections[connection] = Connection(connection, address)
        self.reached(address, connection, now_ms)
        return self.take()

    def woken(self, now_ms: int) -> list[Effect]:
        """Do what is due."""
        self._wake_ms = None
        self.schedule.run(now_ms)
        self.settle(now_ms)
        return self.take()

    def flushed(
        self,
        number: int,  # noqa: ARG002
        now_ms: int,  # noqa: ARG002
        refused: str = "",  # noqa: ARG002
    ) -> list[Effect]:
        """Note that what a Flush asked for is done, or why the disk refuses it."""
        return self.take()

    def handle_together(
        self,
        requests: Sequence[Request],  # noqa: ARG002
    ) -> Sequence[Answer | None]:
        """Handle what *requests* begin with in one go; return the answers to that."""
        return ()

    def settle(self, now_ms: int) -> None:
        """Finish what was begun since the last time, all of it together."""

    def response(self, response: Request) -> None:  # [WIRE-COMMAND-006]
        """Use the answer to something this service has asked; the rest is dropped."""

    def forget(self, connection: int, now_ms: int) -> None:
        """Undo what this service holds on account of a connection that is gone."""

    def reached(self, address: Host, connection: int | None, now_ms: int) -> None:
        """Begin to use a connection that this service has asked for."""

    def send(self, connection: int, data: bytes) -> None:
        """Send *data* unless the peer is gone."""
        peer = self.connections.get(connection)
        if peer is not None:
            peer.active_at_ms = None
            self._outbox.append(Send(connection, data))

    def close_idle(self, now_ms: int) -> None:
        """Close connections on which nothing was sent or received for too long."""
        for number, peer in self.connections.items():
            if peer.active_at_ms is None:
                peer.active_at_ms = now_ms
            elif peer.active_at_ms + self.idle_limit_ms <= now_ms:  # [WIRE-CONN-024]
                self.close(number, "nothing was sent or received for too long")

    def close(self, connection: int, reason: str) -> None:
        """Close a connection from this side."""
        self._outbox.append(Close(connection, reason))

    def dial(self, address: Host) -> None:
        """Ask for a connection to *address*."""
        self._outbox.append(Dial(address))

    def complain(self, text: str) -> None:
        """Tell the operator."""
        self._outbox.append(Complain(text))

    def ask(self, effect: Effect) -> None:
        """Ask the shell for something."""
        self._outbox.append(effect)

    def take(self) -> list[Effect]:
        """Return the effects so far, with a call for attention if a new one is due."""
        due_ms = self.schedule.next_ms
        if due_ms is not None and (self._wake_ms is None or due_ms < self._wake_ms):
            self._wake_ms = due_ms
            self._outbox.append(WakeAt(due_ms))
        effects, self._outbox = self._outbox, []
        return effects

    def _handle(self, request: Request) -> Answer | None:
        handler = self.handlers.get(request.code)
        if handler is None:  # [WIRE-CONN-002] [WIRE-CONN-004]
            return None
        try:
            return handler(request)
        except FieldError as error:
            return refusal(SYSTEM_ERROR, str(error))
        except Exception as error:  # [WIRE-COMMAND-009]
            # A request must never take the service down, whatever it found wrong.
            text = f"{type(error).__name__}: {error}"
            self.complain(f"request {request.code} failed: {text}")
            return refusal(SYSTEM_ERROR, text)
