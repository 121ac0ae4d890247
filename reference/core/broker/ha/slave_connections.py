"""
The slaves of a master (Java: HAConnection).

A slave reports the end of its commit log; the master transfers from there on, as fast
as the slave reads. The replicated offset is one number for all slaves, as in 4.6.0: the
largest that any has reported (Java: push2SlaveMaxOffset).
"""

from __future__ import annotations

from msgspec import Struct

from reference.core.broker.broker_config import BrokerOptions
from reference.core.broker.ha.connection_state import (
    MASTER_END_TRANSITIONS,
    HAEvent,
    HAState,
)
from reference.core.remoting.effects import NotifyWritable, Send
from reference.core.remoting.server import RemotingServer
from reference.core.store.flush import GroupCommitQueue, OnCommit
from reference.core.store.message_store import MessageStore
from spec.derive.struct_codec import compile_codec
from spec.host import Host
from spec.wire.ha.replication import ACK_SIZE, piece_layout, slave_offset_layout

BURST_SIZE = 256 * 1024
"""Bytes sent before the slave must have read them."""
WATCH_MS = 100
"""Period of heartbeats, of the search for silence and of put timeouts."""
transfer_codec = compile_codec(piece_layout)
slave_offset_codec = compile_codec(slave_offset_layout)


class SlaveConnection(Struct):
    """One connected slave."""

    connection: int
    address: Host
    read_at_ms: int
    sent_at_ms: int
    next_offset: int = -1
    """Offset of the next transfer, in the state TRANSFER."""
    part: bytes = b""
    """First bytes of an offset that is not complete."""
    is_full: bool = False
    """Whether the slave has yet to read the last burst."""
    state: HAState = MASTER_END_TRANSITIONS.initial


class SlaveConnections:
    """All slaves of one master."""

    def __init__(
        self, remoting: RemotingServer, store: MessageStore, options: BrokerOptions
    ) -> None:
        self.connected: dict[int, SlaveConnection] = {}
        self.replicated = 0
        """Largest offset that a slave has reported and our log has."""
        self._waiting = GroupCommitQueue()
        """Puts whose response waits for a slave."""
        self._remoting = remoting
        self._store = store
        self._options = options

    def start(self, now_ms: int) -> None:
        """Start the timer."""
        self._remoting.timers.call_every(
            WATCH_MS, self._watch, first_ms=now_ms + WATCH_MS
        )

    def connection_made(self, connection: int, address: Host, now_ms: int) -> None:
        """Wait for the offset of a new slave."""
        # [HA-TRANSFER-001]
        self.connected[connection] = SlaveConnection(
            connection, address, read_at_ms=now_ms, sent_at_ms=now_ms
        )

    def data_received(self, connection: int, data: bytes, now_ms: int) -> None:
        """Transfer from the offset that a slave reports."""
        slave = self.connected.get(connection)
        if slave is None:
            return
        slave.read_at_ms = now_ms
        data = slave.part + data
        whole = len(data) - len(data) % ACK_SIZE
        slave.part = data[whole:]
        if not whole:
            return
        # [HA-TRANSFER-007]
        (offset,) = slave_offset_codec.decode(data, whole - ACK_SIZE)
        if offset < 0:  # [HA-TRANSFER-012]
            self._shut_down(slave, f"names the offset {offset}")
            return
        if slave.state is HAState.HANDSHAKE:
            self._begin(slave, offset)
        slave.state = MASTER_END_TRANSITIONS[slave.state, HAEvent.OFFSET_REPORTED]
        # An offset that our log does not have was not transferred by us.
        if self.replicated < offset <= self._store.log.files.end:
            self.replicated = offset
            self._waiting.commit(offset)  # [HA-WAIT-001]
        self._transfer(slave, now_ms)

    def writable(self, connection: int, now_ms: int) -> None:
        """Go on with a slave that has read the last burst."""
        slave = self.connected.get(connection)
        if slave is not None:
            slave.is_full = False
            self._transfer(slave, now_ms)

    def connection_lost(self, connection: int, now_ms: int) -> None:  # noqa: ARG002
        """Remove a slave whose connection is closed."""
        self._remove(connection)

    def on_append(self, now_ms: int) -> None:
        """Transfer new messages to all slaves that read."""
        for slave in self.connected.values():
            self._transfer(slave, now_ms)

    def is_slave_ok(self, end: int) -> bool:
        """Return whether a slave is connected and near enough to *end* to wait for it.

        4.6.0 org.apache.rocketmq.store.ha.HAService#isSlaveOK.
        """
        lag = end - self.replicated
        # [HA-WAIT-002] [HA-WAIT-003]
        return bool(self.connected) and lag < self._options.ha_slave_fallbehind_max

    def wait(self, end: int, *, now_ms: int, on_done: OnCommit) -> None:
        """Call *on_done* with True when a slave has the log up to *end*.

        The argument is False after syncFlushTimeout, which 4.6.0 uses for slaves too.
        """
        deadline_ms = now_ms + self._options.sync_flush_timeout
        self._waiting.put(end, deadline_ms=deadline_ms, on_commit=on_done)

    def _begin(self, slave: SlaveConnection, offset: int) -> None:
        """Choose the offset of the first transfer."""
        log = self._store.log.files
        if offset == 0:
            offset = log.end - log.end % log.file_size  # [HA-TRANSFER-004]
        elif not log.start <= offset <= log.end:  # [HA-TRANSFER-011]
            self._remoting.log_error(
                f"the slave at {slave.address} has a log up to {offset}; ours goes from"
                f" {log.start} to {log.end}, so it is sent nothing"
            )
        slave.next_offset = offset  # [HA-TRANSFER-003]

    def _transfer(self, slave: SlaveConnection, now_ms: int) -> None:
        """Send a burst of transfers, unless the slave has yet to read the last."""
        if slave.is_full or slave.state is not HAState.TRANSFER:
            return
        size_max = self._options.ha_transfer_batch_size
        left, frames = BURST_SIZE, []
        while left > 0:
            view = self._store.log.files.view(slave.next_offset)
            if view is None:
                break
            # [HA-TRANSFER-002] [HA-TRANSFER-005]
            data = bytes(view[:size_max])
            frames.append(transfer_codec.encode((slave.next_offset, len(data), data)))
            slave.next_offset += len(data)
            left -= len(data)
        if frames:
            self._send(slave, b"".join(frames), now_ms)
            slave.is_full = True
            self._remoting.emit(NotifyWritable(slave.connection))

    def _watch(self, now_ms: int) -> None:
        """Send heartbeats, close silent connections, time puts out."""
        silence_ms = self._options.ha_housekeeping_interval
        period_ms = self._options.ha_send_heartbeat_interval
        for slave in list(self.connected.values()):
            if now_ms - slave.read_at_ms > silence_ms:  # [HA-TRANSFER-008]
                self._shut_down(slave, f"was silent for more than {silence_ms} ms")
                continue
            is_quiet = now_ms - slave.sent_at_ms > period_ms and not slave.is_full
            if is_quiet and slave.state is HAState.TRANSFER:  # [HA-TRANSFER-006]
                heartbeat = transfer_codec.encode((slave.next_offset, 0, b""))
                self._send(slave, heartbeat, now_ms)
        self._waiting.expire(now_ms)

    def _send(self, slave: SlaveConnection, data: bytes, now_ms: int) -> None:
        slave.sent_at_ms = now_ms
        self._remoting.emit(Send(slave.connection, data))

    def _remove(self, connection: int) -> None:
        slave = self.connected.pop(connection, None)
        if slave is not None:
            slave.state = MASTER_END_TRANSITIONS[slave.state, HAEvent.CLOSED]

    def _shut_down(self, slave: SlaveConnection, why: str) -> None:
        self._remove(slave.connection)
        self._remoting.log_error(f"the slave at {slave.address} {why}: closed")
        self._remoting.close(slave.connection, why)
