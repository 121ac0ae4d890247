"""
Sockets between master and slaves (Java: HAService, HAConnection, HAClient).

They carry the commit log instead of frames, and have a protocol class of their own.
A slave that does not read gets no more data until it does: the commit log is the
buffer.
"""

from __future__ import annotations

import asyncio
import sys

from reference.core.broker.broker_controller import BrokerController
from reference.core.broker.ha.master_connection import MasterConnection
from reference.core.broker.ha.slave_connections import SlaveConnections
from reference.core.remoting.effects import (
    Close,
    ConnectToMaster,
    Effect,
    NotifyWritable,
)
from reference.shell.clock import now_ms
from reference.shell.held_memory import MEMORY_MAX
from reference.shell.loop_host import remote_host, without_delay
from reference.shell.remoting_host import RemotingHost
from reference.shell.tls import NO_TLS, Tls

MASTER_TIMEOUT_S = 5.0
"""Limit for opening a connection to the master."""


class BrokerHost(RemotingHost):
    """The host of a broker, with its connections to slaves and to its master."""

    def __init__(
        self, broker: BrokerController, memory_max: int = MEMORY_MAX, tls: Tls = NO_TLS
    ) -> None:
        super().__init__(broker, memory_max, tls)
        self.broker = broker
        self.links: dict[int, HAProtocol] = {}
        """Connections to slaves and master, by number."""

    async def listen_for_slaves(self, host: str, port: int) -> None:
        """Accept connections of slaves at a port."""
        await self._listen(host, port, lambda: HAProtocol(self, self.broker.ha.slaves))

    def complete_event(self) -> None:
        """Do the broker's deferred work and perform its effects."""
        self.broker.run_deferred_work(now_ms())
        self.perform(self.broker.take_effects())

    def _perform_other(self, effect: Effect) -> None:
        match effect:
            case ConnectToMaster(address):
                self._tasks.run(self._connect_to_master(address))
            case NotifyWritable(number) if number in self.links:
                self.links[number].notify_writable()
            case Close(number, _) if number in self.links:
                self.links[number].close()
            case _:
                super()._perform_other(effect)

    async def _connect_to_master(self, address: str) -> None:
        master = self.broker.ha.master
        link = HAProtocol(self, master)
        try:
            await self._create_connection(link, address, timeout_s=MASTER_TIMEOUT_S)
            if not link.number:
                raise ConnectionResetError("the peer has closed the connection")
        except (OSError, ValueError) as error:
            if link.number:  # connected at the last moment: `connection_lost` follows
                return
            sys.stderr.write(f"cannot connect to the master at {address}: {error}\n")
            master.connect_failed(now_ms())
            self.complete_event()


class HAProtocol(asyncio.Protocol):
    """The asyncio protocol of a connection to a slave or to the master."""

    transport: asyncio.Transport

    def __init__(
        self, host: BrokerHost, end: SlaveConnections | MasterConnection
    ) -> None:
        self.number = 0
        self._host = host
        self._end = end
        self._is_full = False
        self._must_notify = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Report the connection before the first byte of its peer arrives."""
        self.transport = without_delay(transport)
        remote = remote_host(transport)
        if remote is None:
            self.transport.abort()
            return
        self.number = self._host.add(self.transport)
        self._host.links[self.number] = self
        self._end.connection_made(self.number, remote, now_ms())
        self._host.complete_event()

    def data_received(self, data: bytes) -> None:
        """Report the bytes."""
        self._end.data_received(self.number, data, now_ms())
        self._host.complete_event()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """Report the closed connection."""
        self._host.links.pop(self.number, None)
        self._host.remove(self.number)
        self._end.connection_lost(self.number, now_ms())

    def pause_writing(self) -> None:
        """Record that the write buffer is full."""
        self._is_full = True

    def resume_writing(self) -> None:
        """Record that the write buffer has room again."""
        self._is_full = False
        if self._must_notify:
            self.notify_writable()

    def notify_writable(self) -> None:
        """Notify the broker as soon as the write buffer has room."""
        self._must_notify = self._is_full
        if not self._is_full:
            asyncio.get_running_loop().call_soon(self._on_writable)

    def close(self) -> None:
        """Close the connection; unsent data of a peer that does not read is dropped."""
        if self._is_full:
            self.transport.abort()
        else:
            self.transport.close()

    def _on_writable(self) -> None:
        self._host.broker.ha.slaves.writable(self.number, now_ms())
        self._host.complete_event()
