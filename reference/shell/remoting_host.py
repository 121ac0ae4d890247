"""
The asyncio host of a `RemotingServer`: sockets and timers in, effects out.

The host does not interpret the protocol. It stops reading from a peer that does not
read its responses, and bounds the memory that all peers hold: unsent responses and
unfinished frames. Above the bound it closes the peer that holds most.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterable
from itertools import count

from reference.core.remoting.effects import (
    Close,
    Connect,
    Effect,
    Flush,
    LogError,
    PauseReading,
    Send,
    SetTimer,
)
from reference.core.remoting.server import RemotingServer
from reference.core.remoting.timers import Timers
from reference.core.store.mapped.files import FilesError
from reference.core.unexpected import error_text
from reference.shell.clock import now_ms
from reference.shell.held_memory import MEMORY_MAX, HeldMemory
from reference.shell.listeners import BACKLOG, TlsListener, bind, cannot_listen
from reference.shell.loop_host import (
    LARGE_READ,
    LoopbackWindow,
    LoopHost,
    remote_host,
    without_delay,
)
from reference.shell.tls import NO_TLS, ServerTls, Tls

_numbers = count(1)
WRITE_BUFFER_MAX = 64 * 1024
"""Unsent bytes of a connection above which the host stops reading from it."""


class RemotingHost(LoopHost):
    """The event loop's side of a server: listeners, transports and one timer."""

    def __init__(
        self, server: RemotingServer, memory_max: int = MEMORY_MAX, tls: Tls = NO_TLS
    ) -> None:
        super().__init__()
        self.server = server
        self._tls = tls
        self._waiting: set[int] = set()
        """Connections with requests that wait until responses are read."""
        self._transports: dict[int, asyncio.Transport] = {}
        self._memory = HeldMemory(server, self._transports, memory_max)
        self._listeners: list[asyncio.Server | TlsListener] = []
        self._will_complete_reads = False

    async def listen(self, host: str, port: int) -> None:
        """Accept connections at a port, with TLS if the server has it."""
        tls = self._tls.server if self._tls.server.is_needed else None
        await self._listen(host, port, lambda: PeerProtocol(self), tls)

    async def _listen(
        self,
        host: str,
        port: int,
        protocol: Callable[[], asyncio.Protocol],
        tls: ServerTls | None = None,
    ) -> None:
        """Accept connections at a port; an OSError names the address."""
        try:
            if tls is not None:
                bound = await bind(host, port)
                self._listeners += [TlsListener(one, tls, protocol) for one in bound]
                return
            listener = await self._loop.create_server(
                protocol, host, port, backlog=BACKLOG, reuse_address=True
            )
            self._listeners.append(listener)
        except OSError as error:
            raise cannot_listen(host, port, error) from error

    async def stop(self) -> None:
        """Close the listeners and all connections, and wait for running tasks."""
        self._complete_reads()
        for listener in self._listeners:
            listener.close()
        self._cancel_timer()
        for transport in list(self._transports.values()):
            transport.close()
        # A file must not be closed while a thread flushes it.
        await self._tasks.wait()

    def perform(self, effects: Iterable[Effect]) -> None:
        """Perform *effects* in order. uvloop joins the writes to one connection."""
        for effect in effects:
            if type(effect) is Send:
                connection = effect.connection
                transport = self._transports.get(connection)
                if transport is not None:
                    size = len(effect.data)
                    transport.write(effect.data)
                    if size > WRITE_BUFFER_MAX or connection in self._memory.blocked:
                        self._memory.add_write(connection, size)
                        self._bound_memory()
            else:
                self._perform_other(effect)

    def connection_made(self, transport: asyncio.Transport) -> int:
        """Report a connection that a peer has opened; return its number.

        It is 0, which no connection has, where the peer is already gone.
        """
        remote = remote_host(transport)
        if remote is None:
            transport.abort()
            return 0
        number = self.add(transport)
        self.perform(self.server.connection_made(number, remote))
        return number

    def data_received(self, number: int, data: bytes) -> None:
        """Report received bytes."""
        self.perform(self.server.data_received(number, data, now_ms()))
        if self.server.unfinished_size or self._memory.blocked:
            self._bound_memory()
        if not self._will_complete_reads:
            # Runs after the reads of this loop iteration, and before the next ones.
            self._will_complete_reads = True
            self._loop.call_soon(self._complete_reads)

    def connection_lost(self, number: int) -> None:
        """Report a closed connection."""
        self.remove(number)
        self.perform(self.server.connection_lost(number, now_ms()))

    def add(self, transport: asyncio.Transport) -> int:
        """Return a new number for a connection, by which effects refer to it."""
        number = next(_numbers)
        transport.set_write_buffer_limits(high=WRITE_BUFFER_MAX)
        self._transports[number] = transport
        return number

    def remove(self, number: int) -> None:
        """Remove a closed connection."""
        self._transports.pop(number, None)
        self._waiting.discard(number)
        self.writing_resumed(number)

    def writing_paused(self, number: int) -> None:
        """Stop reading from a peer that does not read."""
        transport = self._transports.get(number)
        if transport is not None:
            transport.pause_reading()
            self._memory.blocked.add(number)
            self._bound_memory()

    def writing_resumed(self, number: int) -> None:
        """Read again from a peer that has read its responses."""
        if number in self._memory.blocked:
            self._memory.blocked.discard(number)
            self._continue(number)

    def _perform_other(self, effect: Effect) -> None:
        match effect:
            case Close(number, _):
                transport = self._transports.get(number)
                if transport is not None:
                    transport.close()
            case PauseReading(number):
                self._pause_reading(number)
            case SetTimer(at_ms):
                self._set_timer(at_ms)
            case Connect():
                self._tasks.run(self._connect(effect))
            case Flush():
                self._tasks.run(self._flush(effect))
            case LogError(text):
                sys.stderr.write(f"{text}\n")

    def _pause_reading(self, number: int) -> None:
        transport = self._transports.get(number)
        if transport is not None:
            transport.pause_reading()
            self._waiting.add(number)
            self._loop.call_soon(self._continue, number)

    def _continue(self, number: int) -> None:
        """Handle the requests that waited, and read on, unless the peer is blocked."""
        transport = self._transports.get(number)
        if transport is None or number in self._memory.blocked:
            return
        if number in self._waiting:
            self._waiting.discard(number)
            self.data_received(number, b"")
        is_stopped = number in self._waiting or number in self._memory.blocked
        if not is_stopped and not transport.is_closing():
            transport.resume_reading()

    def _bound_memory(self) -> None:
        """Close the peers that hold most until all hold no more than they may."""
        while self._memory.is_exceeded():
            number = self._memory.largest_holder()
            sys.stderr.write(
                f"closed {self.server.connections[number].remote}: it held "
                f"{self._memory.held_by(number)} bytes of unread responses and "
                f"unfinished requests, and all peers over {self._memory.size_max}\n"
            )
            self._transports[number].abort()
            self.connection_lost(number)

    def _complete_reads(self) -> None:
        if self._will_complete_reads:
            self._will_complete_reads = False
            self.perform(self.server.reads_completed(now_ms()))

    @property
    def _timers(self) -> Timers:
        return self.server.timers

    def _timer_expired(self) -> None:
        self.perform(self.server.timer_expired(now_ms()))

    async def _connect(self, connect: Connect) -> None:
        number, address = None, connect.address
        peer = PeerProtocol(self, is_outgoing=True)
        try:
            await self._create_connection(peer, str(address), tls=self._tls.client)
        except OSError as error:
            sys.stderr.write(f"cannot connect to {address}: {error}\n")
        else:
            number = peer.number = self.add(peer.transport)
        self.perform(self.server.connect_completed(connect, number, now_ms()))

    async def _flush(self, flush: Flush) -> None:
        error = await self._loop.run_in_executor(None, _flush_files, flush)
        self.perform(self.server.flush_completed(flush, error, now_ms()))


class PeerProtocol(asyncio.Protocol):
    """The asyncio protocol of one connection."""

    transport: asyncio.Transport

    def __init__(self, host: RemotingHost, *, is_outgoing: bool = False) -> None:
        self.number = 0
        self._host = host
        self._is_outgoing = is_outgoing

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Report an incoming connection; `_connect` reports an outgoing one."""
        self.transport = without_delay(transport)
        self._window = LoopbackWindow(self.transport)
        if not self._is_outgoing:
            self.number = self._host.connection_made(self.transport)

    def data_received(self, data: bytes) -> None:
        """Report the bytes."""
        if len(data) >= LARGE_READ:
            self._window.clamp()
        self._host.data_received(self.number, data)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """Report the closed connection."""
        self._host.connection_lost(self.number)

    def pause_writing(self) -> None:
        """Report that the peer does not read."""
        self._host.writing_paused(self.number)

    def resume_writing(self) -> None:
        """Report that the peer reads again."""
        self._host.writing_resumed(self.number)


def _flush_files(flush: Flush) -> str:
    """Flush files; return the error, or an empty text.

    Without a result the broker would never flush again.
    """
    try:
        for file in flush.files:
            file.flush()
    except FilesError as error:
        return str(error)
    except Exception as error:
        return error_text(error)
    return ""
