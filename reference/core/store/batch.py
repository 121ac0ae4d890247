"""
A batch: several messages of one topic and queue in the body of one request.

Each has a size, a magic and a checksum that nobody reads, then a flag, the body and
the properties (4.6.0 org.apache.rocketmq.common.message.MessageDecoder#encodeMessage).
"""

from __future__ import annotations

from struct import Struct, error

from reference.core.store.api import NewMessage

_head = Struct(">iiiii")


class BatchError(ValueError):
    """The body is not a row of messages."""


def split_batch(message: NewMessage) -> list[tuple[NewMessage, bytes]]:
    """Return the messages in the body of *message*, each with its properties."""
    found = []
    position, body = 0, message.body
    while position < len(body):
        try:
            # [WIRE-BATCH-001] [WIRE-BATCH-003]
            *_, flag, size = _head.unpack_from(body, position)
        except error:
            raise BatchError(
                f"a message ends at byte {len(body)} of its head"
            ) from None
        start = position + _head.size
        end = start + size
        properties_size = int.from_bytes(body[end : end + 2], "big", signed=True)
        position = end + 2 + properties_size
        if min(size, properties_size) < 0 or position > len(body):  # [SEND-BATCH-011]
            raise BatchError(f"{size} and {properties_size} bytes do not fit the batch")
        one = message._replace(
            # [WIRE-BATCH-004] [SEND-BATCH-002]
            body=bytes(body[start:end]),
            flag=flag,
            prepared_transaction_offset=0,
        )
        found.append((one, bytes(body[end + 2 : position])))
    return found
