"""
A slave's master: the connection over which its commit log comes.

The slave dials, says how far its own log goes, and appends what it is sent, if that
begins where its log ends. Anything else ends the connection; the slave dials again,
and both begin anew from what the slave has (Java: HAService.HAClient).
"""

from __future__ import annotations

from reference.core.broker.options import BrokerOptions
from reference.core.effects import Follow, Send
from reference.core.replication.copying import append_copy, refusal
from reference.core.replication.layouts import slave_offset_codec
from reference.core.service import Service
from reference.core.store.files import FilesError
from reference.core.store.message_store import MessageStore
from spec.wire.replication import HEADER_SIZE, head_of_piece

LOOK_MS = 1_000
"""How often a slave looks after its connection."""
REDIAL_MS = 5_000


class Master:
    """The master of this broker, as a slave sees it."""

    def __init__(
        self, service: Service, store: MessageStore, options: BrokerOptions
    ) -> None:
        self.address = ""
        """Where to dial; empty while nobody has said."""
        self.connection: int | None = None
        self._service = service
        self._store = store
        self._options = options
        self._part = bytearray()
        """The beginning of a piece whose rest has not come."""
        self._is_dialling = False
        self._dial_at_ms = 0
        self._spoken_at_ms = 0
        self._heard_at_ms = 0

    def start(self, now_ms: int) -> None:
        """Begin to look for the master, as soon as its address is known."""
        self._service.schedule.every(LOOK_MS, self._look, first_ms=now_ms + 1)

    def reached(self, connection: int | None, now_ms: int) -> None:
        """Use a connection that was asked for; None says it could not be had."""
        self._is_dialling = False
        if connection is None:
            self._dial_at_ms = now_ms + REDIAL_MS
            return
        self.connection = connection
        self._part.clear()
        self._heard_at_ms = now_ms
        self._report(now_ms)

    def received(self, connection: int, data: bytes, now_ms: int) -> None:
        """Append what has come as a whole, and say how far the log is now."""
        if connection != self.connection:
            return
        self._heard_at_ms = now_ms
        self._part += data
        wrong = self._take_pieces(now_ms)
        self._store.dispatch()  # [HA-SLAVE-003] [HA-SLAVE-013]
        if wrong is not None:
            self._hang_up(wrong, now_ms)

    def closed(self, connection: int, now_ms: int) -> None:
        """Note that the connection is gone, and dial again before long."""
        if connection == self.connection:
            self.connection = None
            self._dial_at_ms = now_ms + LOOK_MS

    def _take_pieces(self, now_ms: int) -> str | None:
        """Append every piece that is whole; return why one cannot be taken."""
        at = 0
        log = self._store.log.queue
        while (head := head_of_piece(memoryview(self._part)[at:])) is not None:
            offset, size = head
            # Checked before its bytes are waited for. [HA-TRANSFER-014, -018]
            wrong = refusal(log, offset, size)
            if wrong is not None:
                return wrong
            end = at + HEADER_SIZE + size
            if end > len(self._part):
                break
            if size:
                try:
                    append_copy(log, offset, self._part[at + HEADER_SIZE : end])
                except FilesError as error:
                    return f"cannot be followed: {error}"
                self._report(now_ms)  # [HA-TRANSFER-010] [HA-TRANSFER-015]
            at = end
        del self._part[:at]
        return None

    def _look(self, now_ms: int) -> None:
        """Dial, speak or hang up, as it is time to."""
        if self.connection is None:
            is_time = now_ms >= self._dial_at_ms and not self._is_dialling
            if self.address and is_time:  # [HA-TRANSFER-016]
                self._is_dialling = True
                self._service.ask(Follow(self.address))
            return
        silence_ms = self._options.number("haHousekeepingInterval")
        if now_ms - self._heard_at_ms > silence_ms:  # [HA-TRANSFER-017]
            self._hang_up(f"was silent for more than {silence_ms} ms", now_ms)
        elif now_ms - self._spoken_at_ms > self._options.number(
            "haSendHeartbeatInterval"
        ):
            self._report(now_ms)

    def _report(self, now_ms: int) -> None:
        """Say how far the log goes."""
        assert self.connection is not None
        self._spoken_at_ms = now_ms
        report = slave_offset_codec.encode((self._store.log.queue.end,))
        self._service.ask(Send(self.connection, report))

    def _hang_up(self, why: str, now_ms: int) -> None:
        assert self.connection is not None
        self._service.complain(f"the master at {self.address} {why}: hanging up")
        self._service.close(self.connection, why)
        self.connection = None
        self._part.clear()
        self._dial_at_ms = now_ms + REDIAL_MS
