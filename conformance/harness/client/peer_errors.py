"""
Errors of a connection to a peer, most of them with its transcript.

A `PeerError` is no verdict about a clause. A `PeerMisbehavedError` fails the test.
"""

from __future__ import annotations

from conformance.harness.client.transcript import Transcript
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode


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
