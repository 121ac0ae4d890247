"""
Effects of a client: the output that it requests from the shell.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from reference.core.client.message import MessageQueue
from reference.core.client.pull.message_ext import MessageExt
from reference.core.client.rebalance.process_queue import ProcessQueue


class Write(Struct, frozen=True):
    """Effect: write a frame to an address, over a new connection if needed."""

    address: str
    frame: bytes
    opaque: int | None
    """Number by which a failed write is reported; None if no report is needed."""


class DirectRequest(Struct, frozen=True):
    """A CONSUME_MESSAGE_DIRECTLY without a response."""

    address: str
    opaque: int
    at_ms: int


class DeliverMessages(Struct, frozen=True):
    """Effect: pass messages of a queue to the application, which reports the result."""

    queue: MessageQueue
    messages: tuple[MessageExt, ...]
    process_queue: ProcessQueue | None = None
    """The cache of the messages, which the queue replaces when it drops them."""
    direct: DirectRequest | None = None
    """The request of a message to consume directly, which is of no assigned queue."""


class PersistOffsets(Struct, frozen=True):
    """Effect: persist the consumer offsets of a broadcasting member."""

    offsets: Mapping[MessageQueue, int]


Effect = Write | DeliverMessages | PersistOffsets
