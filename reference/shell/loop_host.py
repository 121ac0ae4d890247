"""A host on asyncio's event loop: its timer, its tasks and its connections."""

from __future__ import annotations

import asyncio
import signal
import socket
import ssl
from abc import ABC, abstractmethod
from contextlib import suppress
from ipaddress import ip_address
from typing import cast

from reference.core.remoting.timers import Timers
from reference.shell.clock import now_ms, system_s, uptime_ms
from spec.host import Host

CONNECT_TIMEOUT_S = 3.0
"""Java: NettyClientConfig.connectTimeoutMillis."""
LARGE_READ = 64 * 1024
"""Bytes of one read after which the peer may be waiting for the window."""
_WINDOW = 256 * 1024
_SET_BACK_MIN_MS = 1_000
"""A clock that is set back by less soon catches up."""


def stop_signal() -> asyncio.Event:
    """Return an event that SIGTERM, SIGINT and SIGHUP set, as they end Java in order.

    A SIGHUP that is ignored, as by nohup, stays so.
    """
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    return stopping


class LoopHost(ABC):
    """The event loop's side of a client or a server."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._tasks = Tasks()
        self._times_ms = now_ms(), uptime_ms()
        """Clock and uptime when they were last compared."""

    @property
    @abstractmethod
    def _timers(self) -> Timers:
        """The timers of the core."""

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
        try:
            async with asyncio.timeout(timeout_s):
                await self._loop.create_connection(
                    lambda: protocol, host.strip("[]"), int(port), ssl=tls
                )
        except OverflowError as error:  # a port that no socket can have
            raise OSError(str(error)) from error

    def _set_timer(self, at_ms: int) -> None:
        self._cancel_timer()
        at_ms -= self._follow_clock()
        delay_s = system_s(max(at_ms - now_ms(), 0))
        self._timer = self._loop.call_later(delay_s, self._on_timer)

    def _on_timer(self) -> None:
        self._follow_clock()
        self._timer_expired()

    def _follow_clock(self) -> int:
        """Return the ms by which the clock was set back; move the timers by as many.

        Otherwise no timer would expire until the clock has caught up. Java's executors
        measure their delays by the uptime.
        """
        clock_ms, up_ms = self._times_ms
        self._times_ms = now_ms(), uptime_ms()
        back_ms = (self._times_ms[1] - up_ms) - (self._times_ms[0] - clock_ms)
        if back_ms < _SET_BACK_MIN_MS:
            return 0
        self._timers.move(-back_ms)
        return back_ms

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


class Tasks:
    """Running tasks of one owner: the event loop lets unowned tasks disappear."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()

    def run(self, work: asyncio._CoroutineLike[None]) -> None:
        """Run *work* as a task."""
        task = asyncio.get_running_loop().create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def cancel(self) -> None:
        """Cancel all tasks."""
        for task in self._running:
            task.cancel()

    async def wait(self) -> None:
        """Return when all tasks have ended."""
        if self._running:
            await asyncio.wait(self._running)


class LoopbackWindow:
    """A large receive window of a connection over loopback (TCP_WINDOW_CLAMP).

    Linux does not grow the window while it is small beside the socket's buffer. The
    sender then waits for each of our reads. The 4.6.0 client scans its whole send
    buffer, up to 128 KiB, on every write, so that waiting costs it a third of its
    throughput. There is no effect where the peer is remote.
    """

    def __init__(self, transport: asyncio.BaseTransport) -> None:
        link = transport.get_extra_info("socket")
        self._socket = link if link is not None and _is_loopback(link) else None

    def clamp(self) -> None:
        """Set the window again; Linux shrinks it from time to time."""
        if self._socket is not None:
            with suppress(OSError):  # the peer has closed the connection
                self._socket.setsockopt(
                    socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, _WINDOW
                )


def _is_loopback(link: socket.socket) -> bool:
    if not hasattr(socket, "TCP_WINDOW_CLAMP"):
        return False
    try:
        return ip_address(link.getpeername()[0]).is_loopback
    except (OSError, ValueError):
        return False
