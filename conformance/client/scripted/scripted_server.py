"""
A scripted server: the base of the name servers and brokers of a client's tests.

It records every request with its time and calls the script of its request code. A
script responds immediately, later, twice, in pieces or never. It does not
validate anything itself.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.client.scripted.server_connection import ServerConnection
from conformance.harness.client.address import Address
from conformance.harness.process.deadline import TooLateError
from spec.layout import LayoutError
from spec.wire.remoting.command import Command, decode_command, encode_command
from spec.wire.remoting.request_code import RequestCode

PATIENCE_S = 40.0
"""Timeout for a client's reaction, on a busy machine."""
FUTILE_CHECK_S = 0.2
"""Seconds between two checks of whether waiting is futile."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReceivedRequest:
    """One request with its time and connection."""

    command: Command
    at_ms: float
    """Monotonic time."""
    connection: ServerConnection
    server: ScriptedServer

    def respond(self, code: int = 0, **changes: Any) -> None:
        """Send a response; *changes* are fields of the command."""
        self.write(self.frame(code, **changes))

    def frame(self, code: int = 0, **changes: Any) -> bytes:
        """Build the frame of a response."""
        values = {"opaque": self.command.opaque, "flag": 1, "language": "JAVA"}
        return encode_command(Command(code=code, **{**values, **changes}))

    def write(self, data: bytes) -> None:
        """Write bytes, frame or not, to the connection."""
        self.connection.write(data)

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()


def is_about(topic: str, request: ReceivedRequest) -> bool:
    """Return whether *request* has the field ``topic`` with this value."""
    return request.command.fields.get("topic") == topic


Script = Callable[[ReceivedRequest], None]
Alter = Callable[[Command], Sequence[Command]]


def unaltered(request: Command) -> Sequence[Command]:
    """Return *request* alone."""
    return (request,)


class ScriptedServer:
    """A server on the loopback address."""

    def __init__(
        self, name: str, *, port: int = 0, vip_port: int | None = None
    ) -> None:
        self.name = name
        self.received: list[ReceivedRequest] = []
        """Every request in order of arrival."""
        self.scripts: dict[int, Script] = {}
        self.default_script: Script = ignore
        """Script of codes without one."""
        self.tls: ssl.SSLContext | None = None
        """TLS of the connections accepted from now on."""
        self.alter: Alter = unaltered
        """Changes each request before it is recorded, to stand for a wrong client."""
        self.is_futile: Callable[[], bool] = lambda: False
        """Whether the client will not send what a test waits for."""
        self.failed_handshakes: list[str] = []
        """Reasons of the connections that ended before TLS was agreed."""
        self._news = threading.Condition()
        self._listeners: list[socket.socket] = []
        self._open: set[ServerConnection] = set()
        self._ports = [port] if vip_port is None else [port, vip_port]
        self.start()

    @property
    def address(self) -> Address:
        """The address that it listens on."""
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
        """Stop listening and close every connection."""
        while self._listeners:
            listener = self._listeners.pop()
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        self.close_connections()

    def close_connections(self) -> None:
        """Close every open connection."""
        for one in list(self._open):
            one.close()

    @property
    def has_no_connection(self) -> bool:
        """Whether no connection is open."""
        return not self._open

    def on(self, code: int, script: Script) -> None:
        """Set the script of *code*."""
        self.scripts[code] = script

    def requests(self, *codes: int) -> list[ReceivedRequest]:
        """Return the requests received with one of *codes*."""
        return [one for one in list(self.received) if one.command.code in codes]

    def wait_for(
        self,
        *codes: int,
        count: int = 1,
        where: Callable[[ReceivedRequest], bool] = lambda _: True,
        timeout_s: float = PATIENCE_S,
    ) -> list[ReceivedRequest]:
        """Wait for *count* requests of *codes*, and return them."""

        def found() -> list[ReceivedRequest]:
            return [one for one in self.requests(*codes) if where(one)]

        if not self._comes_true(lambda: len(found()) >= count, timeout_s):
            what = f"{requests_in_words(count, *codes)} at {self.name}"
            found_text = requests_in_words(len(found()), *codes)
            raise TooLateError(what, timeout_s, found_text)
        return found()[:count]

    def send_request(self, connection: ServerConnection, request: Command) -> None:
        """Send a request to the client."""
        connection.write(encode_command(request))

    def on_frame(self, connection: ServerConnection, frame: bytes) -> None:
        """Record a request and run its script; record a response."""
        try:
            command = decode_command(frame)
        except LayoutError as error:
            connection.broken = f"the frame is not a command: {error}"
            connection.close()
            return
        at_ms = self.now_ms()
        if command.is_response:
            connection.responses.append(command)
            self.notify()
            return
        for request in self.alter(command):
            one = ReceivedRequest(
                command=request, at_ms=at_ms, connection=connection, server=self
            )
            self.received.append(one)
            script = self.scripts.get(request.code, self.default_script)
            with contextlib.suppress(OSError):  # the client has gone meanwhile
                script(one)
        self.notify()

    @staticmethod
    def now_ms() -> float:
        """Return the monotonic time in ms."""
        return time.monotonic() * 1000

    def notify(self) -> None:
        """Wake waiting threads."""
        with self._news:
            self._news.notify_all()

    def wait_until(
        self, condition: Callable[[], bool], *, what: str, timeout_s: float = PATIENCE_S
    ) -> None:
        """Wait until *condition* holds; it is checked after each command."""
        if not self._comes_true(condition, timeout_s):
            raise TooLateError(what, timeout_s)

    def _comes_true(self, condition: Callable[[], bool], timeout_s: float) -> bool:
        """Return whether *condition* holds in time, or before waiting is futile."""
        deadline = time.monotonic() + timeout_s
        with self._news:
            while not condition():
                left_s = deadline - time.monotonic()
                if left_s <= 0 or self.is_futile():
                    return False
                self._news.wait(min(left_s, FUTILE_CHECK_S))
        return True

    def _serve(self, listener: socket.socket) -> None:
        while True:
            try:
                accepted, peer = listener.accept()
            except OSError:
                return
            talk = threading.Thread(
                target=self._receive_frames, args=(accepted, peer[1]), daemon=True
            )
            talk.start()

    def _receive_frames(self, accepted: socket.socket, peer_port: int) -> None:
        try:
            if self.tls is not None:
                accepted = self.tls.wrap_socket(accepted, server_side=True)
        except OSError as error:
            accepted.close()
            self.failed_handshakes.append(str(error))
            self.notify()
            return
        connection = ServerConnection(accepted, self.name, peer_port)
        self._open.add(connection)
        for frame in connection.frames():
            self.on_frame(connection, frame)
        self._open.discard(connection)
        connection.close()
        self.notify()


def requests_in_words(count: int, *codes: int) -> str:
    """Return a number of requests of *codes* in words."""
    names = " or ".join(f"{RequestCode(code).name} ({code:d})" for code in codes)
    return f"{count} request{'' if count == 1 else 's'} {names}"


def ignore(_request: ReceivedRequest) -> None:
    """Do not respond."""


def close(request: ReceivedRequest) -> None:
    """Close the connection."""
    request.close()


def responding(code: int = 0, **changes: Any) -> Script:
    """Build a script with a fixed response, for requests that are not oneway."""

    def script(request: ReceivedRequest) -> None:
        if not request.command.is_oneway:
            request.respond(code, **changes)

    return script


def each(*scripts: Script) -> Script:
    """Build a script that runs each of *scripts* once, then the last one."""
    left = list(scripts)
    lock = threading.Lock()

    def script(request: ReceivedRequest) -> None:
        with lock:
            one = left.pop(0) if len(left) > 1 else left[0]
        one(request)

    return script


def texts(fields: Mapping[str, object]) -> dict[str, str]:
    """Return header fields as the wire has them."""
    return {name: str(value) for name, value in fields.items()}
