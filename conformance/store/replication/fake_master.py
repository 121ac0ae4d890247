"""A master that is a script: slaves connect to it, and are sent what a test likes."""

from __future__ import annotations

import socket
import time

from conformance.harness.client.address import Address
from conformance.harness.client.peer_errors import ClosedError, NoResponseError
from conformance.harness.client.replication_link import accept, receive
from spec.store.message_record import Record, encode_record
from spec.wire.ha.replication import ACK_SIZE, Piece, decode_slave_offset, encode_piece
from spec.wire.message.properties import encode_properties
from spec.wire.message.topic_names import SCHEDULE_TOPIC

PATIENCE_S = 60.0
"""A slave may wait 5 s before it connects again, and learn the address after 10 s."""


class FakeMaster:
    """A port for slaves."""

    def __init__(self) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self.address = Address("127.0.0.1", self._server.getsockname()[1])

    def close(self) -> None:
        """Listen no more."""
        self._server.close()

    def accept(self, *, timeout_s: float = PATIENCE_S) -> SlaveLink:
        """Return the next connection of a slave."""
        return SlaveLink(accept(self._server, timeout_s))

    def is_dialled(self, *, timeout_s: float) -> bool:
        """Return whether a slave connects in time."""
        try:
            self.accept(timeout_s=timeout_s).close()
        except NoResponseError:
            return False
        return True


class SlaveLink:
    """A connection that a slave has opened."""

    def __init__(self, connection: socket.socket) -> None:
        self._link = connection
        self._waiting = b""

    def close(self) -> None:
        """End the connection."""
        self._link.close()

    def report(self, *, timeout_s: float = PATIENCE_S) -> int:
        """Return the next offset that the slave names."""
        deadline = time.monotonic() + timeout_s
        while len(self._waiting) < ACK_SIZE:
            left_s = deadline - time.monotonic()
            self._waiting += receive(self._link, "the slave's next report", left_s)
        offset = decode_slave_offset(self._waiting)
        self._waiting = self._waiting[ACK_SIZE:]
        return offset

    def reports_in(self, timeout_s: float) -> list[int]:
        """Return the offsets of the next seconds, or until the slave hangs up."""
        found: list[int] = []
        deadline = time.monotonic() + timeout_s
        while (left_s := deadline - time.monotonic()) > 0:
            try:
                found.append(self.report(timeout_s=left_s))
            except (NoResponseError, ClosedError):
                break
        return found

    def report_until(self, end: int) -> list[int]:
        """Return the slave's reported offsets, up to the first *end*."""
        found = [self.report()]
        while found[-1] != end and len(found) < 1000:
            found.append(self.report())
        return found

    def send(self, offset: int, data: bytes = b"") -> int:
        """Send a piece of the log; return where it ends."""
        piece = Piece(offset=offset, data=data)
        self._link.sendall(encode_piece(piece))
        return piece.end_offset

    def send_bytes(self, data: bytes) -> None:
        """Send bytes as they are."""
        self._link.sendall(data)

    def is_closed(self, *, timeout_s: float = 20.0) -> bool:
        """Return whether the slave hangs up in time."""
        self._link.settimeout(timeout_s)
        try:
            while self._link.recv(65_536):
                pass
        except ConnectionResetError:
            return True
        except TimeoutError:
            return False
        return True


def record(
    topic: str, number: int, *, at: int, stored_at_ms: int, delayed: str = ""
) -> bytes:
    """Return message *number* of queue 0 of *topic*, as it stands at *at*.

    One that is *delayed* waits for a second, and is then for the topic of that name.
    """
    words = {"DELAY": "1", "REAL_TOPIC": delayed, "REAL_QID": "0"} if delayed else {}
    return encode_record(
        Record(
            topic=SCHEDULE_TOPIC if delayed else topic,
            properties=encode_properties(words),
            queue_id=0,
            queue_offset=number,
            physical_offset=at,
            body=f"replicated {number}".encode(),
            born_at_ms=stored_at_ms,
            stored_at_ms=stored_at_ms,
        )
    )
