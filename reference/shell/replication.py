"""
The sockets between master and slaves.

They carry no frames, so they have a protocol class of their own; for the rest they are
connections of the broker like any other. A slave that does not read is sent nothing
more until it does: what waits for it is in the commit log anyway.
"""

from __future__ import annotations

import asyncio
import sys

from reference.core.broker.broker import Broker
from reference.core.effects import Close, Drain, Effect, Follow
from reference.shell.clock import now_ms
from reference.shell.host import ServiceHost, undelayed
from spec.host import Host

CONNECT_TIMEOUT_S = 5.0
"""How long a master may take to be connected to."""


class BrokerHost(ServiceHost):
    """A broker with its clients, its slaves and its master."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self.broker = broker
        self.links: dict[int, Link] = {}
        """The connections to slaves and master, by number."""

    async def listen_for_slaves(self, host: str, port: int) -> None:
        """Take connections of slaves at a port."""
        server = await self._loop.create_server(
            lambda: SlaveLink(self), host, port, reuse_address=True
        )
        self._servers.append(server)

    def settle(self) -> None:
        """Do what the broker asks for after something came by a link."""
        self.broker.settle(now_ms())
        self.perform(self.broker.take())

    def _perform_rarer(self, effect: Effect) -> None:
        match effect:
            case Follow(address):
                self._aside(self._follow(address))
            case Drain(number) if number in self.links:
                self.links[number].report_drained()
            case Close(number, _) if number in self.links:
                self.links[number].hang_up()
            case _:
                super()._perform_rarer(effect)

    async def _follow(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                await self._loop.create_connection(
                    lambda: MasterLink(self), host.strip("[]"), int(port)
                )
        except (OSError, ValueError) as error:
            sys.stderr.write(f"cannot follow the master at {address}: {error}\n")
            self.broker.replicas.master.reached(None, now_ms())
            self.settle()


class Link(asyncio.Protocol):
    """A connection to a slave or to the master."""

    transport: asyncio.Transport

    def __init__(self, host: BrokerHost) -> None:
        self.number = 0
        self._host = host
        self._is_full = False
        self._owes_report = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Give the connection a number."""
        self.transport = undelayed(transport)
        self.number = self._host.note(self.transport)
        self._host.links[self.number] = self

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """Forget the connection."""
        self._host.links.pop(self.number, None)
        self._host.drop(self.number)

    def pause_writing(self) -> None:
        """Note that the peer does not read as fast as we write."""
        self._is_full = True

    def resume_writing(self) -> None:
        """Note that it has read."""
        self._is_full = False
        if self._owes_report:
            self.report_drained()

    def report_drained(self) -> None:
        """Tell the broker, now or later, that the peer has read what was sent."""
        self._owes_report = self._is_full
        if not self._is_full:
            asyncio.get_running_loop().call_soon(self._drained)

    def hang_up(self) -> None:
        """End the connection; what a peer does not read is not waited for."""
        if self._is_full:
            self.transport.abort()
        else:
            self.transport.close()

    def _drained(self) -> None:
        self._host.broker.replicas.slaves.drained(self.number, now_ms())
        self._host.settle()


class SlaveLink(Link):
    """A connection that a slave has opened."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Tell the broker."""
        super().connection_made(transport)
        name = transport.get_extra_info("peername")
        slaves = self._host.broker.replicas.slaves
        slaves.opened(self.number, Host.of(*name[:2]), now_ms())
        self._host.settle()

    def data_received(self, data: bytes) -> None:
        """Hand the bytes over."""
        self._host.broker.replicas.slaves.received(self.number, data, now_ms())
        self._host.settle()

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the broker."""
        super().connection_lost(exc)
        self._host.broker.replicas.slaves.closed(self.number)


class MasterLink(Link):
    """The connection that a slave has opened to its master."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Tell the broker, before the first byte of a master that does not wait."""
        super().connection_made(transport)
        self._host.broker.replicas.master.reached(self.number, now_ms())
        self._host.settle()

    def data_received(self, data: bytes) -> None:
        """Hand the bytes over."""
        self._host.broker.replicas.master.received(self.number, data, now_ms())
        self._host.settle()

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the broker."""
        super().connection_lost(exc)
        self._host.broker.replicas.master.closed(self.number, now_ms())
