"""
Why a call of a client failed, and what the application is told.

An attempt is one request to one address. It may fail on its way, or be answered with
a code that is no success; a call fails when none of its attempts succeeded.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """Why an attempt, or a whole call, failed."""

    ILLEGAL = "the message cannot be sent"
    NOT_RUNNING = "the client is not running"
    NO_ROUTE = "no route of the topic"
    NO_BROKER = "no address of the queue's broker"
    NOT_ASSIGNED = "the queue is not this consumer's"
    NO_OFFSET = "the queue has no such offset"
    MIXED = "who subscribes takes no queues, and who takes queues does not subscribe"
    CONNECT = "the connection could not be made"
    LOST = "the connection was lost"
    TIMEOUT = "no answer came in time"
    CALL_TIMEOUT = "the time for the call was over"
    FORBIDDEN = "a hook forbids it"
    HOOK_FAILED = "a hook that may forbid failed"
    NO_REPLY = "the message was sent, and no reply came in time"
    REFUSED = "the peer answered with an error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why one attempt failed."""

    reason: Reason
    code: int | None = None
    """The answer's code, where one came; of an ILLEGAL message, MESSAGE_ILLEGAL."""
    remark: str = ""
    """Words for people."""


class ClientError(Exception):
    """A call failed; its failure is the last attempt's."""

    def __init__(self, failure: Failure, brokers_tried: tuple[str, ...] = ()) -> None:
        code = "" if failure.code is None else f" with code {failure.code}"
        remark = f": {failure.remark}" if failure.remark else ""
        tried = f" (tried: {', '.join(brokers_tried)})" if brokers_tried else ""
        super().__init__(f"{failure.reason.value}{code}{remark}{tried}")
        self.failure = failure
        self.brokers_tried = brokers_tried
