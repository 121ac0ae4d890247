"""
A batch: several messages of one topic and queue in the body of one request.

Each has a size, a magic and a checksum that nobody reads, then a flag, the body and
the properties (4.6.0 org.apache.rocketmq.common.message.MessageDecoder#encodeMessage).
What is stored of it is made here one message after the other, as a message that comes
alone would be; `batch_at_once` does the same in one go.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import error
from typing import NamedTuple

from reference.core.store.api import NewMessage
from reference.core.store.layouts import batch_head_codec, properties_prefix
from reference.core.store.records import (
    Columns,
    Found,
    encode_new,
    new_size,
    told_by,
)

Span = tuple[int, int, int, int]
"""A message of a batch: its flag, and where its body begins, where its body ends and
where its properties end, which begin with their size of two bytes."""
SIZE_SIZE = properties_prefix.size


class BatchError(ValueError):
    """The body is not a row of messages."""


class Written(NamedTuple):
    """The records of a batch, one behind the other."""

    data: bytes
    offsets: list[int]
    """Where in the log each begins."""
    told: list[Found]
    """What dispatch need not read of them; empty where only reading tells."""


def split_batch(body: bytes) -> list[Span]:
    """Return the messages in the *body* of a batch."""
    found: list[Span] = []
    position, length = 0, len(body)
    unpack, head_size = batch_head_codec.unpack_from, batch_head_codec.size
    while position < length:
        try:
            # [WIRE-BATCH-001] [WIRE-BATCH-003]
            *_, flag, size = unpack(body, position)
        except error:
            raise BatchError(f"a message ends at byte {length} of its head") from None
        start = position + head_size
        end = start + size
        words = body[end : end + SIZE_SIZE]
        properties_size = int.from_bytes(words, "big", signed=True)
        position = end + SIZE_SIZE + properties_size
        # [SEND-BATCH-011]
        if size < 0 or properties_size < 0 or position > length:
            raise BatchError(f"{size} and {properties_size} bytes do not fit the batch")
        found.append((flag, start, end, position))
    return found


def batch_size(
    message: NewMessage, spans: Sequence[Span], topic: bytes, flags: int
) -> int:
    """Return the bytes that the records of a batch take."""
    empty = new_size(message, topic, b"", flags) - len(message.body)
    contents = sum([stop - SIZE_SIZE - begin for _, begin, _, stop in spans])
    return len(spans) * empty + contents


def one_by_one(
    message: NewMessage, spans: Sequence[Span], first: Columns, flags: int
) -> Written:
    """Return the records of the batch *message*, of which *first* has no properties."""
    body, offset = message.body, first.physical_offset
    data, offsets, told = bytearray(), [], []
    for index, (flag, begin, end, stop) in enumerate(spans):
        one = message._replace(
            # [WIRE-BATCH-004] [SEND-BATCH-002]
            body=body[begin:end],
            flag=flag,
            prepared_transaction_offset=0,
        )
        properties = body[end + SIZE_SIZE : stop]
        size = new_size(one, first.topic, properties, flags)
        columns = first._replace(
            properties=properties,
            queue_offset=first.queue_offset + index,
            physical_offset=offset,
            size=size,
        )
        data += encode_new(one, columns, flags)
        found = told_by(one, columns, flags)
        told += [] if found is None else [found]
        offsets.append(offset)
        offset += size
    return Written(bytes(data), offsets, told)
