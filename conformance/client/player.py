"""
A player plays a name server or a broker: it listens, keeps every request with its time,
and answers as its scripts say.

A script is called with each request of its code, and answers, or not: who keeps the
request may answer it later, twice, in pieces, glued to others or never. Nothing here
knows what the right answer is.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.client.conversation import Conversation
from conformance.harness.address import Address
from conformance.harness.deadline import TooLateError
from spec.layout import LayoutError
from spec.wire.command import Command, decode_command, encode_command

PATIENCE_S = 40.0
"""For what a client does at once, on a machine that is busy with other things."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Asked:
    """One request, and where it came from."""

    command: Command
    at_ms: float
    """On a clock of our own, which only goes forward, fine enough to tell an order."""
    conversation: Conversation
    player: Player

    def answer(self, code: int = 0, **changes: Any) -> None:
        """Answer it; *changes* are fields of the command."""
        self.write(self.frame(code, **changes))

    def frame(self, code: int = 0, **changes: Any) -> bytes:
        """Return the bytes of an answer."""
        values = {"opaque": self.command.opaque, "flag": 1, "language": "JAVA"}
        return encode_command(Command(code=code, **{**values, **changes}))

    def write(self, data: bytes) -> None:
        """Write bytes, frame or not, where the request came from."""
        self.conversation.write(data)

    def close(self) -> None:
        """Close the connection."""
        self.conversation.close()


Script = Callable[[Asked], None]


class Player:
    """Listens at an address of this machine."""

    def __init__(self, name: str, *, port: int = 0, also: int | None = None) -> None:
        self.name = name
        self.asked: list[Asked] = []
        """Every request, in the order in which they came."""
        self.scripts: dict[int, Script] = {}
        self.otherwise: Script = ignore
        """For codes without a script."""
        self._news = threading.Condition()
        self._listeners: list[socket.socket] = []
        self._open: set[Conversation] = set()
        self._ports = [port] if also is None else [port, also]
        self.start()

    @property
    def address(self) -> Address:
        """Where it listens."""
        return Address("127.0.0.1", self._ports[0])

    def start(self) -> None:
        """Listen, again at the same port."""
        for place, port in enumerate(self._ports):
            listener = socket.create_server(("127.0.0.1", port))
            self._ports[place] = listener.getsockname()[1]
            self._listeners.append(listener)
            serve = threading.Thread(target=self._serve, args=(listener,), daemon=True)
            serve.start()

    def stop(self) -> None:
        """Close every connection, and listen no more."""
        while self._listeners:
            listener = self._listeners.pop()
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        self.hang_up()

    def hang_up(self) -> None:
        """Close every connection that is open now."""
        for one in list(self._open):
            one.close()

    @property
    def is_left(self) -> bool:
        """Whether no connection is open."""
        return not self._open

    def on(self, code: int, script: Script) -> None:
        """Meet requests of *code* with *script* from now on."""
        self.scripts[code] = script

    def requests(self, *codes: int) -> list[Asked]:
        """Return the requests so far of one of *codes*."""
        return [one for one in list(self.asked) if one.command.code in codes]

    def wait_for(
        self,
        *codes: int,
        count: int = 1,
        where: Callable[[Asked], bool] = lambda _: True,
        timeout_s: float = PATIENCE_S,
    ) -> list[Asked]:
        """Return the first *count* requests of *codes* when they have come."""

        def found() -> list[Asked]:
            return [one for one in self.requests(*codes) if where(one)]

        with self._news:
            if not self._news.wait_for(lambda: len(found()) >= count, timeout_s):
                raise TooLateError(
                    f"waited {timeout_s:g} s until {count} requests with code"
                    f" {codes} reached {self.name}; {len(found())} did"
                )
        return found()[:count]

    def ask(self, conversation: Conversation, request: Command) -> None:
        """Ask the client something, as a broker may."""
        conversation.write(encode_command(request))

    def take(self, conversation: Conversation, frame: bytes) -> None:
        """Keep a request and let its script meet it; answers are kept with it."""
        try:
            command = decode_command(frame)
        except LayoutError as error:
            conversation.broken = f"what came is no command: {error}"
            conversation.close()
            return
        at_ms = self.now_ms()
        if command.is_response:
            conversation.answers.append(command)
            self.tell()
            return
        one = Asked(
            command=command, at_ms=at_ms, conversation=conversation, player=self
        )
        self.asked.append(one)
        script = self.scripts.get(command.code, self.otherwise)
        with contextlib.suppress(OSError):  # the client has gone meanwhile
            script(one)
        self.tell()

    @staticmethod
    def now_ms() -> float:
        """Return the time on the clock of requests."""
        return time.monotonic() * 1000

    def tell(self) -> None:
        """Wake who waits for something."""
        with self._news:
            self._news.notify_all()

    def wait_until(
        self, condition: Callable[[], bool], *, what: str, timeout_s: float = PATIENCE_S
    ) -> None:
        """Return when *condition* holds, which something that comes makes true."""
        with self._news:
            if not self._news.wait_for(condition, timeout_s):
                raise TooLateError(f"waited {timeout_s:g} s until {what}, in vain")

    def _serve(self, listener: socket.socket) -> None:
        while True:
            try:
                accepted, peer = listener.accept()
            except OSError:
                return
            conversation = Conversation(accepted, self.name, peer[1])
            self._open.add(conversation)
            talk = threading.Thread(
                target=self._talk, args=(conversation,), daemon=True
            )
            talk.start()

    def _talk(self, conversation: Conversation) -> None:
        for frame in conversation.frames():
            self.take(conversation, frame)
        self._open.discard(conversation)
        conversation.close()
        self.tell()


def ignore(_asked: Asked) -> None:
    """Say nothing."""


def close(asked: Asked) -> None:
    """Close the connection."""
    asked.close()


def answering(code: int = 0, **changes: Any) -> Script:
    """Return a script that answers so; a oneway request is not answered."""

    def script(asked: Asked) -> None:
        if not asked.command.is_oneway:
            asked.answer(code, **changes)

    return script


def each(*scripts: Script) -> Script:
    """Return a script by which the n-th request meets the n-th, later ones the last."""
    left = list(scripts)
    lock = threading.Lock()

    def script(asked: Asked) -> None:
        with lock:
            one = left.pop(0) if len(left) > 1 else left[0]
        one(asked)

    return script


def texts(fields: Mapping[str, object]) -> dict[str, str]:
    """Return header fields as the wire has them."""
    return {name: str(value) for name, value in fields.items()}
