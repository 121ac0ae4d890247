"""
Errors of a client's calls.

An attempt is one request to one address. It fails on its way or by an error response.
A call fails when no attempt succeeded.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

from msgspec import Struct

Value = TypeVar("Value")


class Reason(StrEnum):
    """The reason why an attempt or a whole call failed."""

    ILLEGAL = "the message cannot be sent"
    NOT_RUNNING = "the client is not running"
    NO_ROUTE = "no route of the topic"
    NO_NAME_SERVER = "no response from a name server"
    NO_BROKER = "no address of the queue's broker"
    NOT_ASSIGNED = "the queue is not assigned to this consumer"
    NOT_PULLED = "a pull needs an offset of 0 or more, and a count of 1 or more"
    NO_OFFSET = "the queue does not have this offset"
    MIXED = "a consumer either subscribes to topics or has queues assigned by hand"
    CONNECT = "the connection could not be made"
    LOST = "the connection was lost"
    TIMEOUT = "no response before the timeout"
    CALL_TIMEOUT = "the timeout of the call is over"
    FORBIDDEN = "forbidden by a hook"
    HOOK_FAILED = "a check-forbidden hook failed"
    NO_REPLY = "the message was sent, but no reply came before the timeout"
    REFUSED = "error response"


class Failure(Struct, frozen=True, kw_only=True):
    """The failure of one attempt."""

    reason: Reason
    code: int | None = None
    """The response code, if there was a response; MESSAGE_ILLEGAL for ILLEGAL."""
    remark: str = ""


class ClientError(Exception):
    """A failed call, with the failure of its last attempt."""

    def __init__(self, failure: Failure, brokers_tried: tuple[str, ...] = ()) -> None:
        code = "" if failure.code is None else f" with code {failure.code}"
        remark = f": {failure.remark}" if failure.remark else ""
        tried = f" (tried: {', '.join(brokers_tried)})" if brokers_tried else ""
        super().__init__(f"{failure.reason.value}{code}{remark}{tried}")
        self.failure = failure
        self.brokers_tried = brokers_tried


def value_of(result: Value | Failure) -> Value:
    """Return the value of a call; raise ClientError for a failure."""
    if isinstance(result, Failure):
        raise ClientError(result)
    return result
