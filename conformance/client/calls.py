"""
Calls of the client under test: a pending one, its outcome, and a message in a line.

A response that does not come from the client ends the test without a verdict.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass

from conformance.client.scripted.scripted_server import PATIENCE_S
from conformance.harness.blocked.skips import unsupported
from conformance.harness.process.deadline import TooLateError
from conformance.harness.targets.client_adapter import (
    AdapterError,
    Line,
    ResponseFuture,
)

AN_ERROR = "an error"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOutcome:
    """Result or error of a call."""

    result: Line | None = None
    error: Line | None = None

    @property
    def word(self) -> object:
        """The status of a send, or its error's code."""
        if self.result is not None:
            return self.result.get("status", "done")
        assert self.error is not None
        return self.error.get("code")

    @property
    def is_error(self) -> bool:
        """Whether the client failed or refused."""
        return self.error is not None

    @property
    def error_text(self) -> str:
        """Kind, code and first line of the error, empty without one."""
        if self.error is None:
            return ""
        words = [self.error.get("kind"), self.error.get("code")]
        lines = str(self.error.get("text") or "").splitlines()
        shown = " ".join(str(word) for word in words if word is not None)
        return ": ".join(filter(None, [shown, *lines[:1]]))

    @property
    def ending(self) -> str:
        """The end of the call in words, `AN_ERROR` if the client failed or refused."""
        return AN_ERROR if self.is_error else f"no error, but {self.word}"


class Call:
    """A pending send."""

    def __init__(self, pending: ResponseFuture) -> None:
        self._pending = pending

    @property
    def is_done(self) -> bool:
        """Whether the result has come."""
        return self._pending.is_done

    def done_at_ms(self) -> int:
        """Return the time of the result, on the clock of the servers.

        Raises AdapterError where the adapter's own error is the result.
        """
        self.outcome()
        return self._pending.adapter.responded_at_ms[self._pending.request["id"]]

    def outcome(self, timeout_s: float = 2 * PATIENCE_S) -> CallOutcome:
        """Wait for the outcome."""
        try:
            response = self._pending.wait(timeout_s)
        except AdapterError:
            if not self._pending.adapter.running:
                raise
            raise TooLateError("a send has ended", timeout_s) from None
        return outcome_of(response)


def outcome_of(response: Line) -> CallOutcome:
    """Return the outcome in a line, or make the test unsupported."""
    if "unsupported" in response:
        unsupported(f"the client does not support this: {response['unsupported']}")
    error = response.get("error")
    if error is not None and error.get("kind") == "adapter":
        raise AdapterError(f"the adapter failed: {error.get('text')}")
    return CallOutcome(result=response.get("result"), error=error)


def body_of(message: Line) -> bytes:
    """Decode the body of a message in a line."""
    return base64.b64decode(message.get("body") or "")
