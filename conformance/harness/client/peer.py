"""
Connection to a peer, which may be a name server, a broker or a client.

It is synchronous on purpose: a test sends bytes, then waits for a response with a
deadline. Other commands that arrive meanwhile, such as requests of a broker, are kept.
Frames are decoded on demand, so that a test may also send invalid bytes.
"""

from __future__ import annotations

import itertools
import socket
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import replace

from conformance.harness.client.access import OPEN, Access, signed
from conformance.harness.client.address import Address
from conformance.harness.client.conversations import CONVERSATIONS
from conformance.harness.client.dialect import Dialect
from conformance.harness.client.secrets import SECRETS
from conformance.harness.client.transcript import Direction, Entry, Transcript
from conformance.harness.process.context import Closing
from conformance.harness.process.deadline import Deadline
from spec.layout import LayoutError
from spec.wire.remoting.command import Command, decode_command, encode_command
from spec.wire.remoting.frame import FRAME_SIZE_MAX
from spec.wire.remoting.request_code import request_name
from spec.wire.remoting.response_code import ResponseCode

CONNECT_TIMEOUT_S = 5.0
HANDSHAKE_TIMEOUT_S = 20.0
"""For a Java machine, whose first handshake loads several hundred classes."""
RESPONSE_TIMEOUT_S = 5.0
"""Longer than any release takes for a request that it does not hold."""

ONEWAY_FLAG = 1 << 1
WAITING_S = 0.01
"""Time in which frames that have arrived are read."""
CLOSED = -1
"""File descriptor of a closed socket."""
_opaques = itertools.count(1)


class PeerError(Exception):
    """The target could not be reached: no verdict about any clause."""


class PeerMisbehavedError(AssertionError):
    """Behaviour of the peer that leaves no response to compare.

    *transcript* is the conversation up to the error.
    """

    def __init__(self, reason: str, transcript: Transcript) -> None:
        super().__init__(f"{reason}\n{transcript.render()}")
        self.reason = reason
        self.transcript = transcript


class NoResponseError(PeerMisbehavedError):
    """Nothing came before the deadline."""


class ClosedError(PeerMisbehavedError):
    """The peer closed the connection where a response was expected."""


class UnreadableResponseError(PeerMisbehavedError):
    """The received bytes are not a frame or not a command."""


class MissingFieldError(PeerMisbehavedError):
    """The response lacks a header field that the test reads."""


class WrongOpaqueError(PeerMisbehavedError):
    """The response has an opaque that no request on the connection had.

    This is the failure of one clause, in whichever test it occurs.
    """

    clause = "WIRE-COMMAND-003"
    expected = "the opaque of its request"

    def __init__(
        self, reason: str, transcript: Transcript, response: Command | None = None
    ) -> None:
        super().__init__(reason, transcript)
        self.response = response

    @property
    def refusal(self) -> Command | None:
        """The response if it is an error, so that the right opaque would not help."""
        accepted = ResponseCode.SUCCESS, ResponseCode.REQUEST_CODE_NOT_SUPPORTED
        is_error = self.response is not None and self.response.code not in accepted
        return self.response if is_error else None


class NegativeOpaqueError(WrongOpaqueError):
    """The response to a request with a negative opaque has another opaque."""

    clause = "WIRE-COMMAND-004"


class SecondResponseError(WrongOpaqueError):
    """A request has had a response before this one."""

    clause = "WIRE-COMMAND-011"
    expected = "one response to a request"


class ReceivedFields(dict[str, str]):
    """Header fields of a received command; a missing one is the peer's mistake."""

    def __init__(self, fields: Mapping[str, str], *, transcript: Transcript) -> None:
        super().__init__(fields)
        self._transcript = transcript

    def __missing__(self, name: str) -> str:
        """Raise the error about the header field *name*, which was not received."""
        reason = f"the response has no header field {name}"
        raise MissingFieldError(reason, self._transcript)


class Peer(Closing):
    """One open connection and its transcript."""

    def __init__(
        self, address: Address, access: Access = OPEN, dialect: Dialect | None = None
    ) -> None:
        self.address = address
        self.access = access
        self.dialect = dialect
        """Dialect of the requests that are sent as commands; None changes none."""
        self.least_timeout_s = 0.0
        """Time to wait for any response at least, beside tests that load the peer."""
        self._opened, opened_ns = time.monotonic(), time.time_ns()
        self._arrived = bytearray()
        self._kept: deque[Command] = deque()
        self._noted_rest = b""
        self._socket = open_socket(address, access)
        self._unanswered: Counter[int] | None = Counter()
        """Missing responses by opaque; None after bytes whose opaques are unknown."""
        self._lost_in: int | None = None
        """The beginning after which the peer closed, as conversations count them."""
        self.transcript = Transcript(
            str(self._peer_address()),
            local=str(self.local_address),
            opened_at_ms=opened_ns // 1_000_000,
        )
        CONVERSATIONS.add(self.transcript, self.receive_waiting)

    @property
    def local_address(self) -> Address:
        """Our own end of the connection, the born host of what we send."""
        host, port = self._socket.getsockname()[:2]
        return Address(host, port)

    def _peer_address(self) -> Address:
        """Return the other end as a number, where it has not closed already."""
        try:
            return Address(*self._socket.getpeername()[:2])
        except OSError:
            return self.address

    def close(self) -> None:
        """Close the connection; closing twice is harmless."""
        self._socket.close()

    def send_bytes(self, data: bytes) -> None:
        """Send *data* as it is, frame or not."""
        self._unanswered = None
        self._send(data)

    def _send(self, data: bytes) -> None:
        """Send *data*.

        A connection that the peer closed in an earlier example of the running test is
        opened anew, so that no example suffers from another.
        """
        if self._lost_in not in (None, CONVERSATIONS.beginnings):
            self._reconnect()
        self._note(Direction.SENT, data)
        self._socket.settimeout(RESPONSE_TIMEOUT_S)
        try:
            self._socket.sendall(data)
        except OSError as error:
            self._lost(f"closed while we sent: {error}")
            reason = f"the peer closed while we sent: {error}"
            raise ClosedError(reason, self.transcript) from error

    def completed(self, command: Command) -> Command:
        """Return *command* as it is sent: opaque 0 is replaced by a fresh one.

        It is signed if the access has credentials.
        """
        release = ""
        if self.dialect is not None:
            command, release = self.dialect.completed(command), self.dialect.release
        command = replace(command, opaque=command.opaque or next(_opaques))
        if self.access.credentials is None:
            return command
        return signed(command, self.access.credentials, release)

    def send(self, command: Command) -> Command:
        """Send *command* and return it as sent."""
        sent = self.completed(command)
        if self._unanswered is not None:
            self._unanswered[sent.opaque] += 1
        self._send(encode_command(sent))
        return sent

    def request(
        self, command: Command, *, timeout_s: float = RESPONSE_TIMEOUT_S
    ) -> Command:
        """Send *command* and return the response that carries its opaque."""
        sent = self.send(command)
        return self.receive_response(sent.opaque, timeout_s=timeout_s)

    def receive_response(
        self, opaque: int, *, timeout_s: float = RESPONSE_TIMEOUT_S
    ) -> Command:
        """Return the response to the request with this *opaque*."""

        def is_wanted(command: Command) -> bool:
            self._check_opaque(command, opaque)
            return command.is_response and command.opaque == opaque

        wanted = f"a response with opaque {opaque}"
        timeout_s = max(timeout_s, self.least_timeout_s)
        return self._receive_where(is_wanted, wanted=wanted, timeout_s=timeout_s)

    def _check_opaque(self, command: Command, wanted: int) -> None:
        """Fail if *command* is a response to no request, or a second one."""
        if not command.is_response or self._unanswered is None:
            return
        text = f"code {command.code}, {command.remark}"
        if command.opaque not in self._unanswered:
            reason = (
                f"the response has opaque {command.opaque}, its request has {wanted}:"
                f" {text}"
            )
            kind = NegativeOpaqueError if wanted < 0 else WrongOpaqueError
            raise kind(reason, self.transcript, command)
        if self._unanswered[command.opaque] < 0:
            reason = f"a second response has opaque {command.opaque}: {text}"
            raise SecondResponseError(reason, self.transcript)

    def receive_request(
        self, code: int, *, timeout_s: float = RESPONSE_TIMEOUT_S
    ) -> Command:
        """Return the next request with this *code* that the peer sends us."""
        return self._receive_where(
            lambda command: not command.is_response and command.code == code,
            wanted=f"a request with code {code} {request_name(code)}",
            timeout_s=timeout_s,
        )

    def receive(self, timeout_s: float = RESPONSE_TIMEOUT_S) -> Command:
        """Return the next command of any kind, oldest first."""
        return self._receive_where(
            lambda _: True, wanted="a command", timeout_s=timeout_s
        )

    def receive_bytes(self, timeout_s: float = RESPONSE_TIMEOUT_S) -> bytes:
        """Return the next whole frame, its length word included, undecoded."""
        return self._next_frame("a frame", Deadline.after(timeout_s))

    def receive_waiting(self) -> None:
        """Keep the commands that have already arrived, without a wait for more."""
        if self._socket.fileno() == CLOSED or self._lost_in is not None:
            return
        deadline = Deadline.after(WAITING_S)
        try:
            while True:
                self._kept.append(self._decode(self._next_frame("a command", deadline)))
        except UnreadableResponseError:
            return  # the bytes are noted
        except PeerMisbehavedError:
            if self.rest != self._noted_rest:
                self._note(Direction.RECEIVED, self.rest)
                self._noted_rest = self.rest

    @property
    def rest(self) -> bytes:
        """The bytes behind the last frame, which are no whole frame yet."""
        return bytes(self._arrived)

    def is_silent(self, timeout_s: float) -> bool:
        """Return whether for *timeout_s* nothing at all arrives, not even a close."""
        if self._kept:
            return False
        try:
            self._kept.append(self.receive(timeout_s))
        except NoResponseError:
            return True
        except ClosedError:
            return False
        return False

    def receive_until_silent(self, quiet_s: float) -> list[Command]:
        """Return all commands before *quiet_s* in which nothing arrives."""
        received: list[Command] = []
        while not self.is_silent(quiet_s):
            received.append(self.receive())
        return received

    def received_close(self, timeout_s: float = RESPONSE_TIMEOUT_S) -> bool:
        """Return whether the peer closes within *timeout_s*; frames before are kept."""
        deadline = Deadline.after(timeout_s)
        while True:
            try:
                self._kept.append(self._decode(self._next_frame("a close", deadline)))
            except NoResponseError:
                return False
            except ClosedError:
                return True

    def _receive_where(
        self, wanted_test: Callable[[Command], bool], *, wanted: str, timeout_s: float
    ) -> Command:
        deadline = Deadline.after(timeout_s)
        for kept in self._kept:
            if wanted_test(kept):
                self._kept.remove(kept)
                return kept
        while True:
            command = self._decode(self._next_frame(wanted, deadline))
            if wanted_test(command):
                return command
            self._kept.append(command)

    def _decode(self, frame: bytes) -> Command:
        try:
            command = decode_command(frame)
        except LayoutError as error:
            reason = f"what came is no command: {error}"
            raise UnreadableResponseError(reason, self.transcript) from error
        unanswered = self._unanswered
        if unanswered and command.is_response and command.opaque in unanswered:
            unanswered[command.opaque] -= 1
        fields = ReceivedFields(command.fields, transcript=self.transcript)
        return replace(command, fields=fields)

    def _next_frame(self, wanted: str, deadline: Deadline) -> bytes:
        self._fill(4, wanted, deadline)
        size = int.from_bytes(self._arrived[:4], "big", signed=True)
        if not 0 < size <= FRAME_SIZE_MAX:
            self._note(Direction.RECEIVED, bytes(self._arrived))
            reason = f"a frame of {size} bytes was announced"
            raise UnreadableResponseError(reason, self.transcript)
        self._fill(4 + size, wanted, deadline)
        frame = bytes(self._arrived[: 4 + size])
        del self._arrived[: 4 + size]
        self._note(Direction.RECEIVED, frame)
        return frame

    def _fill(self, size: int, wanted: str, deadline: Deadline) -> None:
        """Wait until *size* bytes have arrived."""
        while len(self._arrived) < size:
            left_s = deadline.at - time.monotonic()
            if left_s <= 0:
                how = f"came within {deadline.timeout_s:g} s"
                raise NoResponseError(self._short(wanted, how), self.transcript)
            self._socket.settimeout(left_s)
            try:
                data = self._socket.recv(1 << 18)
            except TimeoutError:
                continue
            except OSError as error:
                self._lost(f"reset: {error}")
                raise ClosedError(
                    self._short(wanted, "came"), self.transcript
                ) from error
            if not data:
                self._lost("the peer closed the connection")
                reason = self._short(wanted, "came before the peer closed")
                raise ClosedError(reason, self.transcript)
            self._arrived += data

    def _short(self, wanted: str, how: str) -> str:
        some = f" ({len(self._arrived)} bytes of it did)" if self._arrived else ""
        return f"waited for {wanted}, none {how}{some}"

    def _lost(self, note: str) -> None:
        self._lost_in = CONVERSATIONS.beginnings
        self._note(Direction.NOTE, note=note)

    def _reconnect(self) -> None:
        self.close()
        self._socket = open_socket(self.address, self.access)
        self._arrived.clear()
        self._lost_in = None
        self._note(Direction.NOTE, note="connected anew")

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
