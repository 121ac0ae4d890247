"""
The host of a client: it connects where the client asks, and carries bytes and time.

There is one connection an address, made when something is to be written to it. It has
no opinion on the protocol.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from reference.core.client.asking import Asker, Deliver, Finished, Remember, Write
from reference.core.client.failure import ClientError, Reason
from reference.core.client.message import Queue
from reference.core.client.periods import Periods
from reference.core.client.routes import Routes
from reference.core.connection import Connection
from reference.core.effects import WakeAt
from reference.shell.clock import now_ms, system_s
from reference.shell.host import undelayed
from spec.host import Host

CONNECT_TIMEOUT_S = 3.0
STOP_TIMEOUT_S = 3.0


def routes_from(name_servers: str, asker: Asker, periods: Periods) -> Routes:
    """Return the routes that *name_servers*, with semicolons between, tell."""
    servers = [one for one in name_servers.split(";") if one]
    return Routes(asker, servers, period_ms=periods.route_ms)


class Links:
    """The connections of one client, and its calls that have not ended."""

    def __init__(
        self,
        asker: Asker,
        deliver: Callable[[Deliver], None] | None = None,
        remember: Callable[[Mapping[Queue, int]], None] | None = None,
    ) -> None:
        self.asker = asker
        self._deliver = deliver
        self._remember = remember
        self._links: dict[str, _Link] = {}
        self._calls: dict[int, asyncio.Future[object]] = {}
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def call(self, begin: Callable[[int], int]) -> object:
        """Begin a call, which is given the time, and return its result."""
        number = begin(now_ms())
        future = self._calls[number] = self._loop.create_future()
        self.perform()
        return await future

    def perform(self) -> None:
        """Do what the client asks, until it asks for nothing more."""
        while effects := self.asker.take():
            for effect in effects:
                match effect:
                    case Write():
                        self._write(effect)
                    case Finished(number, result):
                        self._finish(number, result)
                    case WakeAt(at_ms):
                        self._wake_at(at_ms)
                    case Deliver():
                        assert self._deliver is not None, "a producer gets no messages"
                        self._deliver(effect)
                    case Remember(offsets):
                        assert self._remember is not None, "it keeps no offsets"
                        self._remember(offsets)

    async def stop(self) -> None:
        """Wait for answers that may still come, then end every connection."""
        self.perform()
        deadline_s = self._loop.time() + STOP_TIMEOUT_S
        while not self.asker.is_idle and self._loop.time() < deadline_s:
            await asyncio.sleep(0.001)
        if self._timer is not None:
            self._timer.cancel()
        for task in self._tasks:
            task.cancel()
        for link in list(self._links.values()):
            link.close()

    def received(self, address: str, link: Connection, data: bytes) -> None:
        """Hand over what a peer has sent."""
        for request in link.receive(data, now_ms()):
            self.asker.received(address, request, now_ms())
        self.perform()

    def lost(self, link: _Link) -> None:
        """Note that a connection is gone."""
        if self._links.get(link.address) is link:
            del self._links[link.address]
        self.asker.lost(link.address, now_ms())
        self.perform()

    def not_made(self, link: _Link) -> None:
        """Note that a connection could not be made, nor what waited be written."""
        self._links.pop(link.address, None)
        for write in link.waiting:
            if write.opaque is not None:
                self.asker.failed(write.opaque, Reason.CONNECT, now_ms())
        self.perform()

    def _write(self, write: Write) -> None:
        link = self._links.get(write.address)
        if link is None:
            link = self._links[write.address] = _Link(self, write.address)
            task = self._loop.create_task(link.connect())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        link.write(write)

    def _finish(self, number: int, result: object) -> None:
        future = self._calls.pop(number, None)
        if future is None or future.done():
            return
        if isinstance(result, ClientError):
            future.set_exception(result)
        else:
            future.set_result(result)

    def _wake_at(self, at_ms: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
        delay_s = system_s(max(at_ms - now_ms(), 0))
        self._timer = self._loop.call_later(delay_s, self._wake)

    def _wake(self) -> None:
        self._timer = None
        self.asker.woken(now_ms())
        self.perform()


class _Link(asyncio.Protocol):
    """One connection; what is written before it is made waits."""

    def __init__(self, links: Links, address: str) -> None:
        self.address = address
        self.waiting: list[Write] = []
        self._links = links
        self._connection = Connection(0, Host.ANY_V4)
        self._transport: asyncio.Transport | None = None

    async def connect(self) -> None:
        """Make the connection, or say that it cannot be made."""
        host, _, port = self.address.rpartition(":")
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                await loop.create_connection(lambda: self, host.strip("[]"), int(port))
        except (OSError, ValueError):
            self._links.not_made(self)

    def write(self, write: Write) -> None:
        """Write a frame, now or when the connection is made."""
        if self._transport is None:
            self.waiting.append(write)
        else:
            self._transport.write(write.frame)

    def close(self) -> None:
        """End the connection."""
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Write what waits."""
        self._transport = undelayed(transport)
        for write in self.waiting:
            self._transport.write(write.frame)
        self.waiting.clear()

    def data_received(self, data: bytes) -> None:
        """Hand the bytes over, and end a connection that cannot be understood."""
        self._links.received(self.address, self._connection, data)
        if self._connection.broken is not None:
            self.close()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """Tell the client."""
        self._links.lost(self)
