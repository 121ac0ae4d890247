"""
Connection to a peer, which may be a name server, a broker or a client.

It is synchronous on purpose: a test sends bytes, then waits for a response with a
deadline. Other commands that arrive meanwhile, such as requests of a broker, are kept.
"""

from __future__ import annotations

import itertools
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import replace

from conformance.harness.client.access import OPEN, Access, signed
from conformance.harness.client.address import Address
from conformance.harness.client.conversations import CONVERSATIONS
from conformance.harness.client.dialect import Dialect
from conformance.harness.client.frame_socket import FrameSocket
from conformance.harness.client.peer_errors import (
    ClosedError,
    MissingFieldError,
    NegativeOpaqueError,
    NoResponseError,
    PeerMisbehavedError,
    SecondResponseError,
    UnreadableResponseError,
    WrongOpaqueError,
)
from conformance.harness.client.transcript import Transcript
from conformance.harness.process.context import Closing
from conformance.harness.process.deadline import Deadline
from spec.layout import LayoutError
from spec.wire.remoting.command import Command, decode_command, encode_command
from spec.wire.remoting.request_code import request_name

RESPONSE_TIMEOUT_S = 5.0
"""Longer than any release takes for a request that it does not hold."""
WAITING_S = 0.01
"""Time in which frames that have arrived are read."""
_opaques = itertools.count(1)


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
        self.access = access
        self.dialect = dialect
        """Dialect of the requests that are sent as commands; None changes none."""
        self.least_timeout_s = 0.0
        """Time to wait for any response at least, beside tests that load the peer."""
        self._kept: deque[Command] = deque()
        self._socket = FrameSocket(address, access)
        self._unanswered: Counter[int] | None = Counter()
        """Missing responses by opaque; None after bytes whose opaques are unknown."""
        self.transcript = self._socket.transcript
        CONVERSATIONS.add(self.transcript, self.receive_waiting)

    @property
    def address(self) -> Address:
        """The address that the connection was opened to."""
        return self._socket.address

    @property
    def local_address(self) -> Address:
        """Our own end of the connection, the born host of the messages that we send."""
        return self._socket.local_address

    def close(self) -> None:
        """Close the connection; closing twice is harmless."""
        self._socket.close()

    def send_bytes(self, data: bytes) -> None:
        """Send *data* as it is, frame or not."""
        self._unanswered = None
        self._socket.send(data)

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
        self._socket.send(encode_command(sent))
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
        return self._socket.next_frame("a frame", Deadline.after(timeout_s))

    def receive_waiting(self) -> None:
        """Keep the commands that have already arrived, without a wait for more."""
        if not self._socket.is_open:
            return
        deadline = Deadline.after(WAITING_S)
        try:
            while True:
                self._kept.append(self._receive_command("a command", deadline))
        except UnreadableResponseError:
            return  # the bytes are noted
        except PeerMisbehavedError:
            self._socket.note_rest()

    @property
    def rest(self) -> bytes:
        """The bytes behind the last frame, which are no whole frame yet."""
        return self._socket.rest

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
                self._kept.append(self._receive_command("a close", deadline))
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
            command = self._receive_command(wanted, deadline)
            if wanted_test(command):
                return command
            self._kept.append(command)

    def _receive_command(self, expected: str, deadline: Deadline) -> Command:
        """Return the next command; *expected* names it in the text of an error."""
        frame = self._socket.next_frame(expected, deadline)
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
