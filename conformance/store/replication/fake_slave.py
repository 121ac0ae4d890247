"""A scripted slave: it reports any offset and records what the master sends."""

from __future__ import annotations

import socket
import time

from conformance.harness.client.peer_errors import ClosedError, NoResponseError
from conformance.harness.client.replication_link import receive
from conformance.harness.targets.target import Target
from spec.wire.ha.replication import (
    PORT_DISTANCE,
    Piece,
    decode_piece,
    encode_slave_offset,
    size_of_piece,
)

PATIENCE_S = 10.0


class FakeSlave:
    """One connection to a master's port for slaves."""

    def __init__(self, master: Target) -> None:
        assert master.broker is not None
        address = (master.broker.host, master.broker.port + PORT_DISTANCE)
        self._link = socket.create_connection(address, PATIENCE_S)
        self._waiting = b""

    def close(self) -> None:
        """End the connection."""
        self._link.close()

    def report_ends(self, *offsets: int) -> None:
        """Report the ends of a log, all in one write."""
        self._link.sendall(b"".join(map(encode_slave_offset, offsets)))

    def piece(self, *, timeout_s: float = PATIENCE_S) -> Piece:
        """Return the master's next piece."""
        deadline = time.monotonic() + timeout_s
        while (size := size_of_piece(self._waiting)) is None or size > len(
            self._waiting
        ):
            left_s = deadline - time.monotonic()
            self._waiting += receive(self._link, "the master's next piece", left_s)
        piece = decode_piece(self._waiting[:size])
        self._waiting = self._waiting[size:]
        return piece

    def pieces(self) -> list[Piece]:
        """Return the master's pieces, up to the first heartbeat after a piece."""
        found: list[Piece] = []
        while not found or found[-1].data or len(found) == 1:
            found.append(self.piece())
            self.report_ends(found[-1].end_offset)
        return found

    def is_hung_up_on(self, *, timeout_s: float = 20.0) -> bool:
        """Return whether the master ends the connection in time."""
        deadline = time.monotonic() + timeout_s
        while (left_s := deadline - time.monotonic()) > 0:
            try:
                self.piece(timeout_s=left_s)
            except NoResponseError:
                return False
            except ClosedError:
                return True
        return False

    def pieces_in(self, timeout_s: float) -> list[Piece]:
        """Return the pieces of the next seconds, or until the master hangs up."""
        found: list[Piece] = []
        deadline = time.monotonic() + timeout_s
        while (left_s := deadline - time.monotonic()) > 0:
            try:
                found.append(self.piece(timeout_s=left_s))
            except (NoResponseError, ClosedError):
                break
        return found
