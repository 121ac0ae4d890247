"""One connection of a client to a scripted server, with its transcript."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

from conformance.harness.client.conversations import CONVERSATIONS
from conformance.harness.client.transcript import Direction, Entry, Transcript
from spec.layout import LayoutError
from spec.wire.remoting.command import Command
from spec.wire.remoting.frame import take_frame

PIECE = 1 << 18


class ServerConnection:
    """Reads whole frames and writes any bytes."""

    def __init__(self, accepted: socket.socket, name: str, peer_port: int) -> None:
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket = accepted
        self._writing = threading.Lock()
        self._begun = time.monotonic()
        self.local_port = accepted.getsockname()[1]
        """The server's port."""
        self.responses: list[Command] = []
        """Responses to the server's requests."""
        self.broken = ""
        """Reason why the client's bytes are not frames."""
        self.is_open = True
        self.transcript = Transcript(
            f"the client at port {peer_port}, as {name}",
            opened_at_ms=time.time_ns() // 1_000_000,
            is_server=True,
        )
        CONVERSATIONS.add(self.transcript)

    def frames(self) -> Iterator[bytes]:
        """Yield the frames until the connection is closed."""
        arrived = bytearray()
        while data := self._receive():
            arrived += data
            try:
                while (frame := take_frame(arrived)) is not None:
                    self._note(Direction.RECEIVED, frame)
                    yield frame
            except LayoutError as error:
                self.broken = f"what came is not a frame: {error}"
                return

    def write(self, data: bytes) -> None:
        """Write *data*; raise OSError after a disconnect."""
        with self._writing:
            self._note(Direction.SENT, data)
            self._socket.sendall(data)

    def close(self) -> None:
        """Close the connection, unless it is closed."""
        if self.is_open:
            self.is_open = False
            self._note(Direction.NOTE, note="closed")
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _receive(self) -> bytes:
        try:
            return self._socket.recv(PIECE)
        except OSError:
            return b""

    def _note(self, direction: Direction, data: bytes = b"", note: str = "") -> None:
        at_ms = round((time.monotonic() - self._begun) * 1000)
        self.transcript.add(
            Entry(direction=direction, at_ms=at_ms, data=data, note=note)
        )
