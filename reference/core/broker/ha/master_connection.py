"""
The connection of a slave to its master, over which the commit log comes.

The slave connects, reports the end of its own log, and appends the transfers that
begin there. Any other transfer is refused before a byte of it is written, and ends the
connection. Both ends then start again from what the slave has (Java:
HAService.HAClient).
"""

from __future__ import annotations

from reference.core.broker.broker_config import BrokerOptions
from reference.core.broker.ha.connection_state import (
    SLAVE_END_TRANSITIONS,
    HAEvent,
    HAState,
)
from reference.core.remoting.effects import ConnectToMaster, Send
from reference.core.remoting.server import RemotingServer
from reference.core.store.mapped.files import FilesError
from reference.core.store.mapped.mapped_file_queue import MappedFileQueue
from reference.core.store.message_store import MessageStore
from spec.derive.struct_codec import compile_codec
from spec.host import Host
from spec.wire.ha.replication import HEADER_SIZE, head_of_piece, slave_offset_layout
from spec.wire.ha.replication_rules import SLAVE_BUFFER_SIZE

WATCH_MS = 1_000
"""Period of connects, of heartbeats and of the search for silence."""
RECONNECT_MS = 5_000
SIZE_MAX = SLAVE_BUFFER_SIZE - HEADER_SIZE
slave_offset_codec = compile_codec(slave_offset_layout)


class MasterConnection:
    """The slave's end of the connection."""

    def __init__(
        self, remoting: RemotingServer, store: MessageStore, options: BrokerOptions
    ) -> None:
        self.address = ""
        """Address to connect to; empty while it is unknown."""
        self.connection: int | None = None
        self.state = SLAVE_END_TRANSITIONS.initial
        self._remoting = remoting
        self._store = store
        self._options = options
        self._part = bytearray()
        """First bytes of a transfer that is not complete."""
        self._connect_at_ms = 0
        self._sent_at_ms = 0
        self._read_at_ms = 0

    def start(self, now_ms: int) -> None:
        """Start the timer, which connects once the address is known."""
        self._remoting.timers.call_every(WATCH_MS, self._watch, first_ms=now_ms + 1)

    def connect_failed(self, now_ms: int) -> None:
        """Connect again later."""
        self.state = SLAVE_END_TRANSITIONS[self.state, HAEvent.CONNECT_FAILED]
        self._connect_at_ms = now_ms + RECONNECT_MS

    def connection_made(
        self,
        connection: int,
        address: Host,  # noqa: ARG002
        now_ms: int,
    ) -> None:
        """Report the log's end over a new connection."""
        self.state = SLAVE_END_TRANSITIONS[self.state, HAEvent.CONNECTED]
        self.connection = connection
        self._part.clear()
        self._read_at_ms = now_ms
        self._report(connection, now_ms)

    def data_received(self, connection: int, data: bytes, now_ms: int) -> None:
        """Append the transfers that are complete, and report the log's end."""
        if connection != self.connection:
            return
        self._read_at_ms = now_ms
        self._part += data
        error = self._append_transfers(connection, now_ms)
        self._store.dispatch()  # [HA-SLAVE-003] [HA-SLAVE-013]
        if error is not None:
            self._shut_down(connection, error, now_ms)

    def connection_lost(self, connection: int, now_ms: int) -> None:
        """Connect again soon."""
        if connection == self.connection:
            self._closed(now_ms + WATCH_MS)

    def _append_transfers(self, connection: int, now_ms: int) -> str | None:
        """Append every complete transfer; return the error of one that is wrong."""
        at = 0
        log = self._store.log.files
        while (head := head_of_piece(memoryview(self._part)[at:])) is not None:
            offset, size = head
            # Checked before its bytes are waited for. [HA-TRANSFER-014, -018]
            error = transfer_error(log, offset, size)
            if error is not None:
                return error
            end = at + HEADER_SIZE + size
            if end > len(self._part):
                break
            if size:
                try:
                    append_transferred(log, offset, self._part[at + HEADER_SIZE : end])
                except FilesError as failure:
                    return f"cannot be followed: {failure}"
                self.state = SLAVE_END_TRANSITIONS[
                    self.state, HAEvent.TRANSFER_APPENDED
                ]
                # [HA-TRANSFER-010] [HA-TRANSFER-015]
                self._report(connection, now_ms)
            at = end
        del self._part[:at]
        return None

    def _watch(self, now_ms: int) -> None:
        """Connect, send a heartbeat or close a silent connection."""
        if self.connection is None:
            is_ready = self.state is HAState.READY and now_ms >= self._connect_at_ms
            if self.address and is_ready:  # [HA-TRANSFER-016]
                self.state = SLAVE_END_TRANSITIONS[self.state, HAEvent.CONNECT]
                self._remoting.emit(ConnectToMaster(self.address))
            return
        silence_ms = self._options.ha_housekeeping_interval
        if now_ms - self._read_at_ms > silence_ms:  # [HA-TRANSFER-017]
            reason = f"was silent for more than {silence_ms} ms"
            self._shut_down(self.connection, reason, now_ms)
        elif now_ms - self._sent_at_ms > self._options.ha_send_heartbeat_interval:
            self._report(self.connection, now_ms)

    def _report(self, connection: int, now_ms: int) -> None:
        self._sent_at_ms = now_ms
        report = slave_offset_codec.encode((self._store.log.files.end,))
        self._remoting.emit(Send(connection, report))

    def _shut_down(self, connection: int, reason: str, now_ms: int) -> None:
        self._remoting.log_error(f"the master at {self.address} {reason}: closed")
        self._remoting.close(connection, reason)
        self._closed(now_ms + RECONNECT_MS)

    def _closed(self, connect_at_ms: int) -> None:
        self.state = SLAVE_END_TRANSITIONS[self.state, HAEvent.CLOSED]
        self.connection = None
        self._part.clear()
        self._connect_at_ms = connect_at_ms


def transfer_error(log: MappedFileQueue, offset: int, size: int) -> str | None:
    """Return the reason why a transfer cannot be appended to *log*, or None."""
    if not 0 <= size <= SIZE_MAX:
        return f"announces {size} bytes"
    if offset < 0:
        return f"begins at {offset}"
    # An empty log begins at the offset of its master's. [HA-TRANSFER-013]
    if log.end not in {0, offset}:  # [HA-TRANSFER-009]
        return f"begins at {offset}, where our log goes up to {log.end}"
    place = offset % log.file_size
    if size and log.end == 0 and place:
        return f"begins at {offset}, which is no beginning of a file of ours"
    if place + size > log.file_size:
        return f"has files of another size than {log.file_size}, which is ours"
    return None


def append_transferred(
    log: MappedFileQueue, offset: int, data: bytes | bytearray
) -> None:
    """Append a transfer without `transfer_error`; raise FilesError of the disk."""
    while log.end == 0 < offset and len(log):
        log.delete_last()  # made for an offset that the master no longer has
    if log.end == log.limit:
        log.add_file(offset)
    log.append(data)  # [HA-SLAVE-002]
