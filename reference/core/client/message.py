"""
What an application hands to a producer and gets back: messages, queues, results.

A message here is what the application said, before anything is compressed, given a
key or put into a header. It never changes: what is sent is made anew from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self

from spec.wire.queue_name import QueueName
from spec.wire.response_code import ResponseCode


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message of an application."""

    topic: str
    body: bytes
    properties: Mapping[str, str] = field(default_factory=dict)
    """Names as in spec.wire.properties: TAGS, KEYS, DELAY, or the application's own."""
    flag: int = 0
    """The application's; nobody else reads it."""


@dataclass(frozen=True, slots=True, order=True)
class Queue:
    """Which queue (Java: MessageQueue). Queues sort as Java sorts them."""

    topic: str
    broker_name: str
    queue_id: int

    @classmethod
    def named(cls, name: QueueName) -> Self:
        """Return the queue of that *name* in a body; what it lacks is empty."""
        return cls(name.topic or "", name.broker_name or "", name.queue_id)

    @property
    def name(self) -> QueueName:
        """What it is called in the bodies of requests, and in files."""
        return QueueName(
            topic=self.topic, broker_name=self.broker_name, queue_id=self.queue_id
        )


class SendStatus(StrEnum):
    """How well a stored message is stored."""

    SEND_OK = "SEND_OK"
    FLUSH_DISK_TIMEOUT = "FLUSH_DISK_TIMEOUT"
    FLUSH_SLAVE_TIMEOUT = "FLUSH_SLAVE_TIMEOUT"
    SLAVE_NOT_AVAILABLE = "SLAVE_NOT_AVAILABLE"


STATUS_OF_CODE: Mapping[int, SendStatus] = {
    ResponseCode.SUCCESS: SendStatus.SEND_OK,
    ResponseCode.FLUSH_DISK_TIMEOUT: SendStatus.FLUSH_DISK_TIMEOUT,
    ResponseCode.FLUSH_SLAVE_TIMEOUT: SendStatus.FLUSH_SLAVE_TIMEOUT,
    ResponseCode.SLAVE_NOT_AVAILABLE: SendStatus.SLAVE_NOT_AVAILABLE,
}
"""The codes that are results of a send; every other is an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SendResult:
    """Where a message was stored."""

    status: SendStatus
    message_id: str
    """The unique key; of a batch all of them, with commas between."""
    offset_message_id: str
    """The id that the broker gave, made of its address and the record's offset."""
    queue: Queue
    queue_offset: int
    transaction_id: str | None = None


class Mode(StrEnum):
    """What the caller of a send wants to hear of it."""

    SYNC = "sync"
    """The caller waits for the result."""
    ASYNC = "async"
    """The caller goes on and is called back."""
    ONEWAY = "oneway"
    """The caller does not care."""
