"""
Listeners: free ports, and ports for connections with and without TLS.

The first byte of a connection is read without removing it from the socket. Then the
connection goes to the event loop, with TLS or without (Java: HandshakeHandler). The
files of the certificate are compared at each connection; Java compares them every
500 ms.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from reference.core.remoting.server import IDLE_LIMIT_MS
from reference.shell.loop_host import Tasks
from reference.shell.tls import ServerTls, is_handshake

BACKLOG = 1024
HANDSHAKE_TIMEOUT_S = 10.0
SILENCE_MAX_S = IDLE_LIMIT_MS / 1000
"""Limit of the wait for a connection's first byte."""
ACCEPT_PAUSE_S = 1.0
"""Pause after an accept that the system refused, as asyncio's own servers make."""
PORT_ATTEMPTS = 100


async def bind(host: str, port: int) -> list[socket.socket]:
    """Return a listening socket for each address of *host*."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    return [
        socket.create_server(address[:2], family=family, backlog=BACKLOG)
        for family, address in dict.fromkeys((row[0], row[4]) for row in found)
    ]


class TlsListener:
    """Accepts the connections of one bound socket, as `asyncio.Server` does."""

    def __init__(
        self,
        bound: socket.socket,
        tls: ServerTls,
        protocol: Callable[[], asyncio.Protocol],
    ) -> None:
        bound.setblocking(False)
        self._socket, self._tls, self._protocol = bound, tls, protocol
        self._loop = asyncio.get_running_loop()
        self._tasks = Tasks()
        self._tasks.run(self._accept())

    def close(self) -> None:
        """Stop accepting, and close the connections that have sent nothing."""
        self._tasks.cancel()
        self._socket.close()

    async def _accept(self) -> None:
        """Accept for ever, with a pause when the system has no descriptor left."""
        while True:
            try:
                link, _ = await self._loop.sock_accept(self._socket)
            except ConnectionAbortedError:
                continue
            except OSError as error:
                sys.stderr.write(f"cannot accept a connection: {error}\n")
                await asyncio.sleep(ACCEPT_PAUSE_S)
            else:
                self._tasks.run(self._begin(link))

    async def _begin(self, link: socket.socket) -> None:
        """Give *link* to the event loop if the server admits its first byte."""
        try:
            first = await self._first_byte(link)
            self._tls.reload()
            if not self._tls.admits(first):
                link.close()
                return
            if not is_handshake(first):
                await self._loop.connect_accepted_socket(self._protocol, link)
                return
            await self._loop.connect_accepted_socket(
                self._protocol,
                link,
                ssl=self._tls.context,
                ssl_handshake_timeout=HANDSHAKE_TIMEOUT_S,
            )
        except (OSError, asyncio.CancelledError):
            link.close()

    async def _first_byte(self, link: socket.socket) -> bytes:
        """Return the first byte of *link*, which stays there; empty at its end."""
        readable = self._loop.create_future()
        self._loop.add_reader(link, readable.set_result, None)
        try:
            async with asyncio.timeout(SILENCE_MAX_S):
                await readable
        finally:
            self._loop.remove_reader(link)
        return link.recv(1, socket.MSG_PEEK)


def free_port(host: str, beside: Sequence[int] = ()) -> int:
    """Return a port at which nothing listens, also not *beside* it.

    *beside* are distances from the port. Raises OSError without such a port.
    """
    for _ in range(PORT_ATTEMPTS):
        with ExitStack() as bound:
            port = _bind(bound, host, 0)
            try:
                for distance in beside:
                    _bind(bound, host, port + distance)
            except (OSError, OverflowError):
                continue
            return port
    raise OSError(f"no free port at {host}")


def _bind(bound: ExitStack, host: str, port: int) -> int:
    """Bind a socket until *bound* is closed, and return its port."""
    info = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    one = bound.enter_context(socket.socket(info[0], info[1]))
    one.bind(info[4])
    port = one.getsockname()[1]
    assert isinstance(port, int)
    return port


async def require_free_port(host: str, port: int) -> None:
    """Raise an OSError that names the address if its port cannot be bound."""
    loop = asyncio.get_running_loop()
    try:
        listener = await loop.create_server(
            asyncio.Protocol, host, port, reuse_address=True, start_serving=False
        )
    except OSError as error:
        raise cannot_listen(host, port, error) from error
    listener.close()


def cannot_listen(host: str, port: int, error: OSError) -> OSError:
    """Return *error* of an address that cannot be listened at, with the address."""
    number = error.errno or 0
    reason = os.strerror(number) if number > 0 else str(error)
    return OSError(f"cannot listen on {host}:{port}: {reason}")
