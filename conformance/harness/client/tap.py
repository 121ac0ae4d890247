"""
Tap: a proxy between a client and a server that records the frames.

A client learns a broker's address from the name server. To route that connection
through a tap as well, a tap may replace one address by another in the responses.
Recorded frames are the original ones.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from conformance.harness.client.address import Address
from conformance.harness.process.context import Closing

CHUNK = 65536
LENGTH_SIZE = 4


class Way(StrEnum):
    """Sender of a frame: the client or the server."""

    CLIENT = "client"
    SERVER = "server"


@dataclass(frozen=True, slots=True)
class TappedFrame:
    """One whole frame as it was sent, length word included."""

    connection: int
    """Counts the connections of a tap from 0."""
    sender: Way
    data: bytes


class Tap(Closing):
    """Listens on a port of its own and connects every client to *server*."""

    def __init__(
        self, server: Address, *, exchange: Mapping[bytes, bytes] | None = None
    ) -> None:
        """Start listening; *exchange* maps bytes of responses to as many others."""
        self._server = server
        self._exchange = dict(exchange or {})
        assert all(len(old) == len(new) for old, new in self._exchange.items())
        self._listener = socket.create_server((server.host, 0))
        self.address = Address(*self._listener.getsockname()[:2])
        self._frames: list[TappedFrame] = []
        self._sockets: list[socket.socket] = [self._listener]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def frames(self) -> list[TappedFrame]:
        """All frames so far, in the order in which they came past."""
        return list(self._frames)

    def close(self) -> None:
        """Stop listening and close every connection."""
        for one in self._sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self) -> None:
        number = 0
        while True:
            try:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._server)
            except OSError:  # closed, or the server is gone
                return
            self._sockets += [client, server]
            for sender, ends in (
                (Way.CLIENT, (client, server)),
                (Way.SERVER, (server, client)),
            ):
                arguments = (number, sender, *ends)
                threading.Thread(
                    target=self._pass_on, args=arguments, daemon=True
                ).start()
            number += 1

    def _pass_on(
        self, number: int, sender: Way, source: socket.socket, sink: socket.socket
    ) -> None:
        with contextlib.suppress(OSError):
            for data in frames_of(source):
                self._frames.append(TappedFrame(number, sender, data))
                sink.sendall(self._exchanged(data) if sender is Way.SERVER else data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)

    def _exchanged(self, data: bytes) -> bytes:
        for old, new in self._exchange.items():
            data = data.replace(old, new)
        return data


def frames_of(source: socket.socket) -> Iterator[bytes]:
    """Yield each whole frame that arrives, until the other end closes."""
    arrived = bytearray()
    while chunk := source.recv(CHUNK):
        arrived += chunk
        while len(arrived) >= LENGTH_SIZE:
            size = LENGTH_SIZE + int.from_bytes(arrived[:LENGTH_SIZE])
            if len(arrived) < size:
                break
            yield bytes(arrived[:size])
            del arrived[:size]
