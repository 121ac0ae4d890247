"""
A batch is several messages of one topic and queue in the body of one send.

The client writes them one after the other, each with its flag, body and properties. All
else is in the request's header. A broker makes one record of each. From 5.0 on, it
keeps the body whole for a topic with queues of the type BatchCQ. The one record has the
flags INNER_BATCH and NEED_UNWRAP and the property INNER_NUM. Consumers then read this
form too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from construct import GreedyBytes, Int16sb, Int32sb, Prefixed, Struct

from spec.clause import Clause, Level
from spec.layout import LayoutError, build, field, parse, read_sequence

SMALLEST_SIZE = 22
"""Bytes of a message without body and properties."""
NEED_UNWRAP = 1 << 6
"""Bit of the system flags: a consumer takes the body apart; since 5.0."""
INNER_BATCH = 1 << 7
"""Bit of the system flags: the record's body is a batch; since 5.0."""

_DECODER = "4.6.0 org.apache.rocketmq.common.message.MessageDecoder"
_SEND = "5.3.3 org.apache.rocketmq.broker.processor.SendMessageProcessor"
_ENCODER = "4.6.0 org.apache.rocketmq.store.CommitLog$MessageExtBatchEncoder"

BATCH_FORM = Clause(
    id="WIRE-BATCH-001",
    level=Level.MUST,
    text=(
        "A message of a batch is its size, two ignored words, its flag, its body "
        "after a 4-byte size and its properties after a 2-byte size."
    ),
    source=f"{_DECODER}#encodeMessage",
)
BATCH_ZEROS = Clause(
    id="WIRE-BATCH-002",
    level=Level.SHOULD,
    text="A client writes 0 for the magic and for the checksum of a batch's messages.",
    source=f"{_DECODER}#encodeMessage",
)
BATCH_IGNORED = Clause(
    id="WIRE-BATCH-003",
    level=Level.MUST,
    text="A broker accepts a batch whose messages have any magic and any checksum.",
    source=f"{_ENCODER}#encode",
)
BATCH_OWN_FLAG = Clause(
    id="WIRE-BATCH-004",
    level=Level.MUST,
    text="Each message of a batch is stored with its own flag, not with the header's.",
    source=f"{_ENCODER}#encode",
)
BATCH_WHOLE = Clause(
    id="STORE-BATCH-001",
    level=Level.MUST,
    text=(
        "From 5.0 on, a batch to a topic of BatchCQ queues is stored as one record "
        "with NEED_UNWRAP_FLAG (64) and INNER_BATCH_FLAG (128), the property "
        "INNER_NUM, and its body as sent."
    ),
    source=f"{_SEND}#sendBatchMessage",
    since="5.0",
)
BATCH_WHOLE_NEEDS_KEY = Clause(
    id="STORE-BATCH-002",
    level=Level.QUIRK,
    text=(
        "From 5.0 on, a batch without a UNIQ_KEY in its request's properties is not "
        "stored as one record, regardless of the queue type."
    ),
    source=f"{_SEND}#sendBatchMessage",
    since="5.0",
)

batch_message_layout = Struct(
    field("size", Int32sb, "bytes of this message, this field included"),
    field("magic", Int32sb, "0; not looked at"),
    field("body_crc", Int32sb, "0; not looked at"),
    field("flag", Int32sb, "the producer's own"),
    field("body", Prefixed(Int32sb, GreedyBytes), "the payload, after its size"),
    field(
        "properties", Prefixed(Int16sb, GreedyBytes), "see spec.wire.message.properties"
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchMessage:
    """One message of a batch, as a client sends it."""

    body: bytes
    properties: str = ""
    """As sent; :func:`spec.wire.message.properties.decode_properties` reads it."""
    flag: int = 0
    magic: int = 0
    body_crc: int = 0


def encode_batch_message(message: BatchMessage) -> bytes:
    """Return the bytes of *message*."""
    properties = message.properties.encode("utf-8", "surrogateescape")
    values = {
        "size": SMALLEST_SIZE + len(message.body) + len(properties),
        "magic": message.magic,
        "body_crc": message.body_crc,
        "flag": message.flag,
        "body": message.body,
        "properties": properties,
    }
    return build(batch_message_layout, values)


def encode_batch(messages: Iterable[BatchMessage]) -> bytes:
    """Return the body of the request that sends *messages*."""
    return b"".join(map(encode_batch_message, messages))


def decode_batch_message(data: bytes | memoryview) -> BatchMessage:
    """Return the message that begins *data*; ignore later bytes."""
    size = _size(data)
    parsed = parse(batch_message_layout, data[:size])
    if SMALLEST_SIZE + len(parsed.body) + len(parsed.properties) != size:
        reason = f"{size} bytes, but the fields take another number"
        raise LayoutError(reason, field="size")
    return BatchMessage(
        body=parsed.body,
        properties=parsed.properties.decode("utf-8", "surrogateescape"),
        flag=parsed.flag,
        magic=parsed.magic,
        body_crc=parsed.body_crc,
    )


def decode_batch(data: bytes | memoryview) -> Iterator[BatchMessage]:
    """Yield the messages of a batch, the whole of *data*."""
    return read_sequence(data, _size, decode_batch_message)


def _size(data: bytes | memoryview) -> int:
    size = int.from_bytes(data[:4], "big", signed=True)
    if not SMALLEST_SIZE <= size <= len(data):
        reason = f"{size} is not between {SMALLEST_SIZE} and the {len(data)} bytes left"
        raise LayoutError(reason, field="size")
    return size
