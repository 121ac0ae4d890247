"""
The host of a service: it carries bytes and time to it, and performs its effects.

It has no opinion on the protocol. A peer that does not read what it is sent is not
read from either, so that what waits for it stays small.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Iterable
from itertools import count
from typing import cast

from reference.core.effects import (
    Close,
    Complain,
    Dial,
    Effect,
    Flush,
    Send,
    WakeAt,
)
from reference.core.service import Service
from reference.core.store.files import FilesError
from reference.shell.clock import now_ms, system_s
from reference.shell.local_window import MUCH, LocalWindow
from spec.host import Host

_numbers = count(1)
WRITE_BUFFER_MAX = 4 * 1024 * 1024
"""Bytes that may wait for a peer before it is not read from any more."""


class ServiceHost:
    """A service with the connections it has."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self._transports: dict[int, asyncio.Transport] = {}
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._servers: list[asyncio.Server] = []
        self._will_settle = False

    async def listen(self, host: str, port: int) -> None:
        """Take connections at a port."""
        server = await self._loop.create_server(
            lambda: Peer(self), host, port, backlog=1024, reuse_address=True
        )
        self._servers.append(server)

    async def stop(self) -> None:
        """Take no more connections, and end the ones there are."""
        self._settle()
        for server in self._servers:
            server.close()
        if self._timer is not None:
            self._timer.cancel()
        for transport in list(self._transports.values()):
            transport.close()
        if self._tasks:
            # Files that are being flushed must not be closed meanwhile.
            await asyncio.wait(self._tasks)

    def perform(self, effects: Iterable[Effect]) -> None:
        """Do what the service asks, in order; what goes one way goes at once."""
        frames: list[bytes] = []
        connection = 0
        for effect in effects:
            if type(effect) is Send:
                if frames and effect.connection != connection:
                    self._write(connection, frames)
                    frames = []
                connection = effect.connection
                frames.append(effect.data)
                continue
            if frames:
                self._write(connection, frames)
                frames = []
            self._perform_rarer(effect)
        if frames:
            self._write(connection, frames)

    def _write(self, connection: int, frames: list[bytes]) -> None:
        """Write *frames* to a connection, if it is there, by one call of the system."""
        transport = self._transports.get(connection)
        if transport is None:
            return
        if len(frames) == 1:
            transport.write(frames[0])
        else:
            transport.writelines(frames)

    def opened(self, transport: asyncio.Transport) -> int:
        """Note a connection that a peer has opened; return its number."""
        number = self.note(transport)
        address, port = transport.get_extra_info("peername")[:2]
        self.perform(self.service.opened(number, Host.of(address, port)))
        return number

    def received(self, number: int, data: bytes) -> None:
        """Hand over what a peer has sent."""
        self.perform(self.service.heard(number, data, now_ms()))
        if self.service.is_unsettled and not self._will_settle:
            # After what is answered in this round of the loop is on its way, and
            # before anything that is sent on account of it can be heard.
            self._will_settle = True
            self._loop.call_soon(self._settle)

    def closed(self, number: int) -> None:
        """Note that a connection is gone."""
        self._transports.pop(number, None)
        self.perform(self.service.closed(number, now_ms()))

    def note(self, transport: asyncio.Transport) -> int:
        """Return a number for a connection, by which effects may name it."""
        number = next(_numbers)
        transport.set_write_buffer_limits(high=WRITE_BUFFER_MAX)
        self._transports[number] = transport
        return number

    def drop(self, number: int) -> None:
        """Forget a connection."""
        self._transports.pop(number, None)

    def _perform_rarer(self, effect: Effect) -> None:
        match effect:
            case Close(number, _):
                transport = self._transports.get(number)
                if transport is not None:
                    transport.close()
            case WakeAt(at_ms):
                self._wake_at(at_ms)
            case Dial(address):
                self._aside(self._dial(address))
            case Flush():
                self._aside(self._flush(effect))
            case Complain(text):
                sys.stderr.write(f"{text}\n")

    def _settle(self) -> None:
        if self._will_settle:
            self._will_settle = False
            self.perform(self.service.settled(now_ms()))

    def _wake_at(self, at_ms: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
        delay_s = system_s(max(at_ms - now_ms(), 0))
        self._timer = self._loop.call_later(delay_s, self._wake)

    def _wake(self) -> None:
        self._timer = None
        self.perform(self.service.woken(now_ms()))

    def _aside(self, work: asyncio._CoroutineLike[None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _dial(self, address: Host) -> None:
        host, port = str(address).rsplit(":", 1)
        number = None
        try:
            _, peer = await self._loop.create_connection(
                lambda: Peer(self, dialled=True), host.strip("[]"), int(port)
            )
        except OSError as error:
            sys.stderr.write(f"cannot connect to {address}: {error}\n")
        else:
            number = peer.number = self.note(peer.transport)
        self.perform(self.service.dialled(address, number, now_ms()))

    async def _flush(self, flush: Flush) -> None:
        refused = await self._loop.run_in_executor(None, _flush_files, flush)
        self.perform(self.service.flushed(flush.number, now_ms(), refused))


class Peer(asyncio.Protocol):
    """One connection, as the event loop sees it."""

    transport: asyncio.Transport

    def __init__(self, host: ServiceHost, *, dialled: bool = False) -> None:
        self.number = 0
        self._host = host
        self._was_dialled = dialled

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Tell the service; who dialled tells it itself."""
        self.transport = undelayed(transport)
        self._window = LocalWindow(self.transport)
        if not self._was_dialled:
            self.number = self._host.opened(self.transport)

    def data_received(self, data: bytes) -> None:
        """Hand the bytes over."""
        if len(data) >= MUCH:
            self._window.keep_open()
        self._host.received(self.number, data)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """Tell the service."""
        self._host.closed(self.number)

    def pause_writing(self) -> None:
        """Stop reading from a peer that does not read."""
        self.transport.pause_reading()

    def resume_writing(self) -> None:
        """Read again."""
        self.transport.resume_reading()


def undelayed(transport: asyncio.BaseTransport) -> asyncio.Transport:
    """Return *transport*, told to send small pieces at once."""
    link = transport.get_extra_info("socket")
    if link is not None:
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return cast(asyncio.Transport, transport)


def _flush_files(flush: Flush) -> str:
    """Bring files to disk; return what the disk refused, or nothing."""
    try:
        for file in flush.files:
            file.flush()
    except FilesError as error:
        return str(error)
    return ""
