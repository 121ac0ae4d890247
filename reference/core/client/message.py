"""
Messages, queues and send results, as an application sees them.

A message never changes: compression, unique key and header go into a copy of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Self

from msgspec import Struct, field

from spec.wire.bodies.queue_name import QueueName
from spec.wire.remoting.response_code import ResponseCode


class Message(Struct, frozen=True, kw_only=True):
    """A message of an application."""

    topic: str
    body: bytes
    properties: Mapping[str, str] = field(default_factory=dict)
    """Names as in ``spec.wire.message.properties``, or the application's own."""
    flag: int = 0


class MessageQueue(Struct, frozen=True, order=True):
    """A queue of a broker (Java: MessageQueue), in Java's sort order."""

    topic: str
    broker_name: str
    queue_id: int

    @classmethod
    def named(cls, name: QueueName) -> Self:
        """Return the queue of a name in a JSON body; missing fields are empty."""
        return cls(name.topic or "", name.broker_name or "", name.queue_id)

    @property
    def name(self) -> QueueName:
        """The name in JSON bodies and offset files."""
        return QueueName(
            topic=self.topic, broker_name=self.broker_name, queue_id=self.queue_id
        )


class SendStatus(StrEnum):
    """Durability of a stored message (Java: SendStatus)."""

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
"""Response codes of a stored message; every other code is an error."""


class SendResult(Struct, frozen=True, kw_only=True):
    """The place of a stored message (Java: SendResult)."""

    status: SendStatus
    message_id: str
    """The unique key; for a batch all of them, separated by commas."""
    offset_message_id: str
    """The broker's id, built from its address and the commit-log offset."""
    queue: MessageQueue
    queue_offset: int
    transaction_id: str | None = None


class Mode(StrEnum):
    """Java: CommunicationMode."""

    SYNC = "sync"
    """The caller waits for the result."""
    ASYNC = "async"
    """The caller continues and has a callback."""
    ONEWAY = "oneway"
    """No response."""
