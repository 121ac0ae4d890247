"""
Whole frames on a socket, and the transcript of all bytes.

A frame is not decoded here, so that a test may also send and receive invalid bytes.
"""

from __future__ import annotations

import socket
import time

from conformance.harness.client.access import OPEN, Access
from conformance.harness.client.address import Address
from conformance.harness.client.conversations import CONVERSATIONS
from conformance.harness.client.peer_errors import (
    ClosedError,
    NoResponseError,
    PeerError,
    UnreadableResponseError,
)
from conformance.harness.client.secrets import SECRETS
from conformance.harness.client.transcript import Direction, Entry, Transcript
from conformance.harness.process.deadline import Deadline
from spec.layout import LayoutError
from spec.wire.remoting.frame import take_frame

CONNECT_TIMEOUT_S = 5.0
HANDSHAKE_TIMEOUT_S = 20.0
"""For a Java machine, whose first handshake loads several hundred classes."""
SEND_TIMEOUT_S = 5.0
READ_SIZE = 1 << 18
CLOSED = -1
"""File descriptor of a closed socket."""


class FrameSocket:
    """One open connection, which sends bytes and receives frames."""

    def __init__(self, address: Address, access: Access) -> None:
        self.address = address
        self.access = access
        self._opened, opened_ns = time.monotonic(), time.time_ns()
        self._arrived = bytearray()
        self._noted_rest = b""
        self._socket = open_socket(address, access)
        self._lost_in: int | None = None
        """The beginning after which the peer closed, as conversations count them."""
        self.transcript = Transcript(
            str(self._peer_address()),
            local=str(self.local_address),
            opened_at_ms=opened_ns // 1_000_000,
        )

    @property
    def local_address(self) -> Address:
        """Our own end of the connection, the born host of the messages that we send."""
        host, port = self._socket.getsockname()[:2]
        return Address(host, port)

    @property
    def is_open(self) -> bool:
        """Whether neither end has closed the connection, as far as it was read."""
        return self._socket.fileno() != CLOSED and self._lost_in is None

    @property
    def rest(self) -> bytes:
        """The bytes behind the last frame, which are no whole frame yet."""
        return bytes(self._arrived)

    def close(self) -> None:
        """Close the connection; closing twice is harmless."""
        self._socket.close()

    def send(self, data: bytes) -> None:
        """Send *data*, frame or not. Raises ClosedError.

        A connection that the peer closed in an earlier example of the running test is
        opened anew, so that no example suffers from another.
        """
        if self._lost_in not in (None, CONVERSATIONS.beginnings):
            self._reconnect()
        self._note(Direction.SENT, data)
        self._socket.settimeout(SEND_TIMEOUT_S)
        try:
            self._socket.sendall(data)
        except OSError as error:
            self._lost(f"closed while we sent: {error}")
            reason = f"the peer closed while we sent: {error}"
            raise ClosedError(reason, self.transcript) from error

    def next_frame(self, expected: str, deadline: Deadline) -> bytes:
        """Return the next whole frame, its size word included, undecoded.

        *expected* names it in the text of an error. Raises PeerMisbehavedError.
        """
        while True:
            try:
                frame = take_frame(self._arrived)
            except LayoutError as error:
                self._note(Direction.RECEIVED, self.rest)
                reason = f"what came is not a frame: {error}"
                raise UnreadableResponseError(reason, self.transcript) from error
            if frame is not None:
                self._note(Direction.RECEIVED, frame)
                return frame
            self._receive(expected, deadline)

    def note_rest(self) -> None:
        """Add the bytes behind the last frame to the transcript, unless it has them."""
        if self.rest != self._noted_rest:
            self._note(Direction.RECEIVED, self.rest)
            self._noted_rest = self.rest

    def _receive(self, expected: str, deadline: Deadline) -> None:
        """Wait until further bytes have arrived."""
        left_s = deadline.at - time.monotonic()
        if left_s <= 0:
            how = f"came within {deadline.timeout_s:g} s"
            raise NoResponseError(self._short(expected, how), self.transcript)
        self._socket.settimeout(left_s)
        try:
            data = self._socket.recv(READ_SIZE)
        except TimeoutError:
            return
        except OSError as error:
            self._lost(f"reset: {error}")
            raise ClosedError(self._short(expected, "came"), self.transcript) from error
        if not data:
            self._lost("the peer closed the connection")
            reason = self._short(expected, "came before the peer closed")
            raise ClosedError(reason, self.transcript)
        self._arrived += data

    def _short(self, expected: str, how: str) -> str:
        some = f" ({len(self._arrived)} bytes of it did)" if self._arrived else ""
        return f"waited for {expected}, none {how}{some}"

    def _lost(self, note: str) -> None:
        self._lost_in = CONVERSATIONS.beginnings
        self._note(Direction.NOTE, note=note)

    def _reconnect(self) -> None:
        self.close()
        self._socket = open_socket(self.address, self.access)
        self._arrived.clear()
        self._lost_in = None
        self._note(Direction.NOTE, note="connected anew")

    def _peer_address(self) -> Address:
        """Return the other end as a number, where it has not closed already."""
        try:
            return Address(*self._socket.getpeername()[:2])
        except OSError:
            return self.address

    def _note(self, direction: Direction, data: bytes = b"", note: str = "") -> None:
        at_ms = round((time.monotonic() - self._opened) * 1000)
        shown = SECRETS.hide_in_bytes(data)
        self.transcript.add(
            Entry(direction=direction, at_ms=at_ms, data=shown, note=note)
        )


def open_socket(address: Address, access: Access = OPEN) -> socket.socket:
    """Return a fresh connection to *address*, encrypted if *access* has TLS."""
    source = (access.source, 0) if access.source else None
    try:
        made = socket.create_connection(address, CONNECT_TIMEOUT_S, source)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if access.tls is not None:
            made.settimeout(HANDSHAKE_TIMEOUT_S)
            made = access.tls.wrap_socket(made, server_hostname=address.host)
    except OSError as error:
        raise PeerError(f"cannot connect to {address}: {error}") from error
    return made
