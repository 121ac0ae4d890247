"""
A port for connections with and without TLS (Java: HandshakeHandler).

The first byte of a connection is read without removing it from the socket. Then the
connection goes to the event loop, with TLS or without. The files of the certificate are
compared at each connection; Java compares them every 500 ms.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Coroutine
from typing import Any

from reference.shell.tls import ServerTls, is_handshake

BACKLOG = 1024
HANDSHAKE_TIMEOUT_S = 10.0


class TlsListener:
    """Accepts the connections of one port, as `asyncio.Server` does."""

    def __init__(
        self,
        address: tuple[str, int],
        tls: ServerTls,
        protocol: Callable[[], asyncio.Protocol],
    ) -> None:
        family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self._socket = socket.create_server(address, family=family, backlog=BACKLOG)
        self._socket.setblocking(False)
        self._tls, self._protocol = tls, protocol
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._run(self._accept())

    def close(self) -> None:
        """Stop accepting, and close the connections that have sent nothing."""
        for task in self._tasks:
            task.cancel()
        self._socket.close()

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _accept(self) -> None:
        while True:
            link, _ = await self._loop.sock_accept(self._socket)
            self._run(self._begin(link))

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
            await readable
        finally:
            self._loop.remove_reader(link)
        return link.recv(1, socket.MSG_PEEK)
