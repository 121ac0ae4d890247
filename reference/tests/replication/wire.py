"""
A connection between a master and a slave, in memory.

A test controls delivery, the size of each part, and disconnection.
"""

from __future__ import annotations

from msgspec.structs import replace

from reference.core.broker.broker_config import BrokerOptions
from reference.core.broker.ha.master_connection import MasterConnection
from reference.core.broker.ha.slave_connections import SlaveConnections
from reference.core.remoting.effects import (
    Close,
    ConnectToMaster,
    Effect,
    LogError,
    NotifyWritable,
    Send,
)
from reference.core.remoting.server import RemotingServer
from reference.core.store.message_store import MessageStore
from reference.tests.memory_files import MemoryFiles
from reference.tests.store.small_stores import NOON_MS, TINY, killed, started
from spec.host import Host

PLACE = Host.of("127.0.0.1", 40000)
OPTIONS = BrokerOptions({"haTransferBatchSize": "100", "haSlaveFallbehindMax": "5000"})
COPY = replace(TINY, is_slave=True)


class Pair:
    """A master with a store, a slave with another, and the wire between."""

    def __init__(self) -> None:
        self.now_ms = NOON_MS
        self.original = started()
        self.files = MemoryFiles()
        self.copy = started(self.files, COPY)
        self.complaints: list[str] = []
        self._services = [RemotingServer(), RemotingServer()]
        self.slaves = SlaveConnections(self._services[0], self.original, OPTIONS)
        self.slaves.start(NOON_MS)
        self._number = 0
        self.to_master = self.to_slave = b""
        self._owes_drain = False
        self._arrive()

    def wait(self, duration_ms: int) -> None:
        """Let time pass on both sides."""
        self.now_ms += duration_ms
        for service in self._services:
            service.timers.run_due(self.now_ms)
        self._perform()

    def grow(self) -> None:
        """Notify the master that its log has grown."""
        self.slaves.on_append(self.now_ms)
        self._perform()

    def deliver(self, size: int) -> None:
        """Let up to so many bytes arrive on either side."""
        data, self.to_master = self.to_master[:size], self.to_master[size:]
        if data:
            self.slaves.data_received(self._number, data, self.now_ms)
        data, self.to_slave = self.to_slave[:size], self.to_slave[size:]
        if data:
            self.master.data_received(self._number, data, self.now_ms)
        self._perform()

    def cut(self) -> None:
        """End the connection; what was under way is lost."""
        self.to_master = self.to_slave = b""
        self._owes_drain = False
        self.slaves.connection_lost(self._number, self.now_ms)
        self.master.connection_lost(self._number, self.now_ms)
        self._perform()

    def kill_slave(self) -> None:
        """Let the slave's process die, and another begin with its files."""
        self.cut()
        self.copy = killed(self.copy, self.files)
        self._arrive()

    def settle(self) -> None:
        """Let everything arrive, and the slave dial again if it must."""
        for _ in range(12):
            self.wait(1_000)
            while self.to_master or self.to_slave:
                self.deliver(1 << 20)

    def send_as_master(self, data: bytes) -> None:
        """Let bytes of a strange master arrive."""
        self.master.data_received(self._number, data, self.now_ms)
        self._perform()

    def _arrive(self) -> None:
        service = self._services[1] = RemotingServer()
        self.master = MasterConnection(service, self.copy, OPTIONS)
        self.master.address = str(PLACE)
        self.master.start(self.now_ms)

    def _perform(self) -> None:
        for service in self._services:
            for effect in service.take_effects():
                self._do(effect, is_slave=service is self._services[1])
        if self._owes_drain and not self.to_slave:
            self._owes_drain = False
            self.slaves.writable(self._number, self.now_ms)
            self._perform()

    def _do(self, effect: Effect, *, is_slave: bool) -> None:
        match effect:
            case Send(_, data) if is_slave:
                self.to_master += data
            case Send(_, data):
                self.to_slave += data
            case NotifyWritable():
                self._owes_drain = True
            case ConnectToMaster():
                self._number += 1
                self.slaves.connection_made(self._number, PLACE, self.now_ms)
                self.master.connection_made(self._number, PLACE, self.now_ms)
                self._perform()
            case Close():
                self.cut()
            case LogError(text):
                self.complaints.append(text)
            case _:
                pass


def log_of(store: MessageStore) -> bytes:
    """Return all that a store's log has, from its first file on."""
    queue = store.log.files
    views = (queue.view(base) for base in queue.start_offsets)
    return b"".join(bytes(view) for view in views if view is not None)
