"""A host on asyncio's event loop: its timer, its tasks and its outgoing connections."""

from __future__ import annotations

import asyncio
import socket
import ssl
from abc import ABC, abstractmethod
from typing import cast

from reference.shell.clock import now_ms, system_s
from reference.shell.tasks import Tasks
from spec.host import Host

CONNECT_TIMEOUT_S = 3.0
"""Java: NettyClientConfig.connectTimeoutMillis."""


class LoopHost(ABC):
    """The event loop's side of a client or a server."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._tasks = Tasks()

    @abstractmethod
    def _timer_expired(self) -> None:
        """Report the time to the core."""

    async def _create_connection(
        self,
        protocol: asyncio.Protocol,
        address: str,
        *,
        timeout_s: float = CONNECT_TIMEOUT_S,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Connect *protocol* to ``host:port``; raise OSError or ValueError."""
        host, _, port = address.rpartition(":")
        async with asyncio.timeout(timeout_s):
            await self._loop.create_connection(
                lambda: protocol, host.strip("[]"), int(port), ssl=tls
            )

    def _set_timer(self, at_ms: int) -> None:
        self._cancel_timer()
        delay_s = system_s(max(at_ms - now_ms(), 0))
        self._timer = self._loop.call_later(delay_s, self._timer_expired)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


def remote_host(transport: asyncio.BaseTransport) -> Host | None:
    """Return the peer's address; None if it has already closed the connection."""
    peer = transport.get_extra_info("peername")
    return None if peer is None else Host.of(*peer[:2])


def without_delay(transport: asyncio.BaseTransport) -> asyncio.Transport:
    """Return *transport* with TCP_NODELAY set."""
    link = transport.get_extra_info("socket")
    if link is not None:
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return cast(asyncio.Transport, transport)
