"""
A master's slaves: who is connected, what each has, and what it is sent next.

A slave that has named its log's end is sent what the master has behind it, in pieces,
as fast as it reads. How far slaves are is one number for all of them, as in 4.6.0:
the largest offset that any has named (Java: HAService, HAConnection).
"""

from __future__ import annotations

from dataclasses import dataclass

from reference.core.broker.options import BrokerOptions
from reference.core.effects import Drain, Send
from reference.core.replication.layouts import piece_codec, slave_offset_codec
from reference.core.service import Service
from reference.core.store.message_store import MessageStore
from reference.core.store.pending_puts import PendingPuts, Told
from spec.host import Host
from spec.wire.replication import ACK_SIZE

BURST_SIZE = 256 * 1024
"""Bytes that a slave is sent before we look whether it reads them."""
WATCH_MS = 100
"""How often slaves are looked after: heartbeats, silence, puts that wait too long."""


@dataclass(slots=True)
class Slave:
    """One connected slave."""

    connection: int
    address: Host
    heard_at_ms: int
    sent_at_ms: int
    next_offset: int | None = None
    """Where the next piece begins; None until the slave has spoken."""
    part: bytes = b""
    """The beginning of an offset whose rest has not come."""
    is_full: bool = False
    """Whether a burst is on its way, and the next has to wait for it."""


class Slaves:
    """All slaves of one master."""

    def __init__(
        self, service: Service, store: MessageStore, options: BrokerOptions
    ) -> None:
        self.connected: dict[int, Slave] = {}
        self.named = 0
        """The largest offset that a slave has named, of those that our log has."""
        self._waiting = PendingPuts()
        """Puts whose producers are answered when a slave has them."""
        self._service = service
        self._store = store
        self._options = options

    def start(self, now_ms: int) -> None:
        """Begin to look after slaves."""
        self._service.schedule.every(WATCH_MS, self._watch, first_ms=now_ms + WATCH_MS)

    def opened(self, connection: int, address: Host, now_ms: int) -> None:
        """Note a slave that has connected; it has to speak first."""
        # [HA-TRANSFER-001]
        self.connected[connection] = Slave(connection, address, now_ms, now_ms)

    def received(self, connection: int, data: bytes, now_ms: int) -> None:
        """Use what a slave says: how far its log goes."""
        slave = self.connected.get(connection)
        if slave is None:
            return
        slave.heard_at_ms = now_ms
        data = slave.part + data
        whole = len(data) - len(data) % ACK_SIZE
        slave.part = data[whole:]
        if not whole:
            return
        # [HA-TRANSFER-007]
        (offset,) = slave_offset_codec.decode(data, whole - ACK_SIZE)
        if offset < 0:  # [HA-TRANSFER-012]
            self._hang_up(slave, f"names the offset {offset}")
            return
        if slave.next_offset is None:
            self._begin(slave, offset)
        self._note(offset)
        self._feed(slave, now_ms)

    def drained(self, connection: int, now_ms: int) -> None:
        """Go on with a slave that has read most of what it was sent."""
        slave = self.connected.get(connection)
        if slave is not None:
            slave.is_full = False
            self._feed(slave, now_ms)

    def closed(self, connection: int) -> None:
        """Forget a slave whose connection is gone."""
        self.connected.pop(connection, None)

    def log_has_grown(self, now_ms: int) -> None:
        """Send what the log has new to all slaves that read."""
        for slave in self.connected.values():
            self._feed(slave, now_ms)

    def keep_up(self, end: int) -> bool:
        """Return whether it makes sense to wait for a slave to have all before *end*.

        4.6.0 org.apache.rocketmq.store.ha.HAService#isSlaveOK.
        """
        lag = end - self.named
        # [HA-WAIT-002] [HA-WAIT-003]
        return bool(self.connected) and lag < self._options.number(
            "haSlaveFallbehindMax"
        )

    def wait(self, end: int, *, now_ms: int, tell: Told) -> None:
        """Tell *tell* when a slave has the log up to *end*, or that it takes too long.

        As in 4.6.0, slaves are given the time that the disk is given.
        """
        deadline_ms = now_ms + self._options.number("syncFlushTimeout")
        self._waiting.wait(end, deadline_ms=deadline_ms, tell=tell)

    def _begin(self, slave: Slave, offset: int) -> None:
        """Decide where a slave's first piece begins."""
        log = self._store.log.queue
        if offset == 0:
            offset = log.end - log.end % log.file_size  # [HA-TRANSFER-004]
        elif not log.start <= offset <= log.end:  # [HA-TRANSFER-011]
            self._service.complain(
                f"the slave at {slave.address} has a log up to {offset}; ours goes from"
                f" {log.start} to {log.end}, so it is sent nothing"
            )
        slave.next_offset = offset  # [HA-TRANSFER-003]

    def _note(self, offset: int) -> None:
        """Note how far a slave is; what our log does not have, nobody has from us."""
        if self.named < offset <= self._store.log.queue.end:
            self.named = offset
            self._waiting.reached(offset)  # [HA-WAIT-001]

    def _feed(self, slave: Slave, now_ms: int) -> None:
        """Send a slave a burst of pieces, unless it has not read the one before."""
        if slave.is_full or slave.next_offset is None:
            return
        size_max = self._options.number("haTransferBatchSize")
        left, frames = BURST_SIZE, []
        while left > 0:
            view = self._store.log.queue.view_from(slave.next_offset)
            if view is None:
                break
            # [HA-TRANSFER-002] [HA-TRANSFER-005]
            data = bytes(view[:size_max])
            frames.append(piece_codec.encode((slave.next_offset, len(data), data)))
            slave.next_offset += len(data)
            left -= len(data)
        if frames:
            self._send(slave, b"".join(frames), now_ms)
            slave.is_full = True
            self._service.ask(Drain(slave.connection))

    def _watch(self, now_ms: int) -> None:
        """Give signs of life, hang up on the silent, answer puts that wait too long."""
        silence_ms = self._options.number("haHousekeepingInterval")
        period_ms = self._options.number("haSendHeartbeatInterval")
        for slave in list(self.connected.values()):
            if now_ms - slave.heard_at_ms > silence_ms:  # [HA-TRANSFER-008]
                self._hang_up(slave, f"was silent for more than {silence_ms} ms")
                continue
            is_quiet = now_ms - slave.sent_at_ms > period_ms and not slave.is_full
            if is_quiet and slave.next_offset is not None:  # [HA-TRANSFER-006]
                sign = piece_codec.encode((slave.next_offset, 0, b""))
                self._send(slave, sign, now_ms)
        self._waiting.give_up(now_ms)  # [SEND-STATE-012]

    def _send(self, slave: Slave, data: bytes, now_ms: int) -> None:
        slave.sent_at_ms = now_ms
        self._service.ask(Send(slave.connection, data))

    def _hang_up(self, slave: Slave, why: str) -> None:
        self.connected.pop(slave.connection, None)
        self._service.complain(f"the slave at {slave.address} {why}: hanging up")
        self._service.close(slave.connection, why)
