"""
The host of a client: sockets, clock, timers and files for the effects of the core.

There is one connection for each address, made by the first write to it.
"""

from __future__ import annotations

import asyncio
import ssl
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from reference.core.client.client_instance import ClientInstance
from reference.core.client.effects import DeliverMessages, PersistOffsets, Write
from reference.core.client.message import MessageQueue
from reference.core.client.options import ClientOptions, RebalanceOptions
from reference.core.client.remoting.errors import ClientError, Failure, Reason
from reference.core.client.remoting.tasks import Task, Value, start
from reference.core.remoting.connection import Connection
from reference.core.remoting.effects import LogError, SetTimer
from reference.core.remoting.timers import Timers
from reference.shell.client.identity import client_id
from reference.shell.client.local_offset_store import LocalOffsetStore
from reference.shell.clock import now_ms
from reference.shell.loop_host import LoopHost, without_delay
from spec.host import Host

STOP_TIMEOUT_S = 3.0


class ClientHost(LoopHost):
    """Connections, pending calls and local offsets of one client.

    Addresses of *name_servers* are separated by semicolons. A push consumer passes
    *deliver*. Local offsets are in *offset_folder*, by default in the user's home. With
    *tls* every connection is encrypted.
    """

    def __init__(
        self,
        name_servers: str,
        options: ClientOptions,
        *,
        deliver: Callable[[DeliverMessages], None] | None = None,
        offset_folder: Path | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        super().__init__()
        self.tls = tls
        servers = [one for one in name_servers.split(";") if one]
        own_id = options.client_id or client_id()
        self.offsets = LocalOffsetStore(offset_folder, own_id, options.group)
        broadcasts = isinstance(options, RebalanceOptions) and options.broadcasts
        self.client = ClientInstance(
            own_id,
            name_servers=servers,
            clock=now_ms,
            credentials=options.credentials,
            local_offsets=self.offsets.read() if broadcasts else {},
        )
        self._deliver = deliver
        self._protocols: dict[str, _ClientProtocol] = {}
        self._calls: set[asyncio.Future[Any]] = set()
        """Calls of the application that have not ended."""

    async def call(self, task: Task[Value]) -> Value:
        """Run a task of the core, and return its value.

        Raises ClientError where the client stops before.
        """
        future: asyncio.Future[Value] = self._loop.create_future()

        async def run() -> None:
            try:
                value = await task
            except Exception as error:  # such as one of the application's selector
                if not future.done():
                    future.set_exception(error)
            else:
                if not future.done():
                    future.set_result(value)

        self._calls.add(future)
        start(run())
        self.perform()
        try:
            return await future
        finally:
            self._calls.discard(future)

    def perform(self) -> None:
        """Perform the effects of the core while it has any."""
        while effects := self.client.rpc.take_effects():
            for effect in effects:
                match effect:
                    case Write():
                        self._write(effect)
                    case SetTimer(at_ms):
                        self._set_timer(at_ms)
                    case DeliverMessages():
                        assert self._deliver is not None, "a push consumer has it"
                        self._deliver(effect)
                    case PersistOffsets(offsets):
                        self._persist(offsets)
                    case LogError(text):
                        sys.stderr.write(f"{text}\n")

    async def stop(self) -> None:
        """Wait up to 3 s for pending responses, then end all calls and connections."""
        self.perform()
        deadline_s = self._loop.time() + STOP_TIMEOUT_S
        while not self.client.rpc.is_idle and self._loop.time() < deadline_s:
            await asyncio.sleep(0.001)
        self._cancel_timer()
        self._tasks.cancel()
        self.client.rpc.abandon()  # a retry would connect again
        for protocol in list(self._protocols.values()):
            protocol.close()
        for future in self._calls:
            if not future.done():
                future.set_exception(ClientError(Failure(reason=Reason.NOT_RUNNING)))

    def data_received(self, address: str, connection: Connection, data: bytes) -> None:
        """Process the commands in received bytes."""
        connection.receive(data, now_ms())
        while (request := connection.next_request()) is not None:
            self.client.rpc.command_received(address, request)
        self.perform()

    def connection_lost(self, protocol: _ClientProtocol) -> None:
        """Fail the pending requests of a connection."""
        if self._protocols.get(protocol.address) is protocol:
            self._protocols.pop(protocol.address, None)
        self.client.rpc.connection_lost(protocol.address)
        self.perform()

    def _write(self, write: Write) -> None:
        protocol = self._protocols.get(write.address)
        if protocol is None:
            protocol = self._protocols[write.address] = _ClientProtocol(
                self, write.address
            )
            self._tasks.run(self._connect(protocol))
        protocol.write(write)

    async def _connect(self, protocol: _ClientProtocol) -> None:
        """Make a connection, or fail the requests that wait for it."""
        try:
            await self._create_connection(protocol, protocol.address, tls=self.tls)
        except (OSError, ValueError) as error:
            if isinstance(error, ssl.SSLError):
                sys.stderr.write(f"no TLS connection to {protocol.address}: {error}\n")
            self._protocols.pop(protocol.address, None)
            for write in protocol.waiting:
                if write.opaque is not None:
                    self.client.rpc.request_failed(write.opaque, Reason.CONNECT)
            self.perform()

    def _persist(self, offsets: Mapping[MessageQueue, int]) -> None:
        """Write local offsets; the client works on without the disk."""
        try:
            self.offsets.persist(offsets)
        except OSError as error:
            sys.stderr.write(f"offsets are not persisted: {error}\n")

    @property
    def _timers(self) -> Timers:
        return self.client.rpc.timers

    def _timer_expired(self) -> None:
        self.client.rpc.run_timers(now_ms())
        self.perform()


class _ClientProtocol(asyncio.Protocol):
    """One connection; frames wait until it is made."""

    def __init__(self, host: ClientHost, address: str) -> None:
        self.address = address
        self.waiting: list[Write] = []
        self._host = host
        self._connection = Connection(0, Host.ANY_V4)
        self._transport: asyncio.Transport | None = None

    def write(self, write: Write) -> None:
        """Write a frame as soon as the connection is made."""
        if self._transport is None:
            self.waiting.append(write)
        else:
            self._transport.write(write.frame)

    def close(self) -> None:
        """Close the connection."""
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Write the waiting frames, but no request that has failed by now.

        4.6.0 NettyRemotingClient#invokeSync sends nothing after its timeout.
        """
        self._transport = without_delay(transport)
        is_pending = self._host.client.rpc.is_pending
        for write in self.waiting:
            if write.opaque is None or is_pending(write.opaque):
                self._transport.write(write.frame)
        self.waiting.clear()

    def data_received(self, data: bytes) -> None:
        """Process the bytes; close a connection with an invalid frame."""
        self._host.data_received(self.address, self._connection, data)
        if self._connection.decode_error is not None:
            self.close()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """Report the loss."""
        self._host.connection_lost(self)
