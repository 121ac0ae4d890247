"""
Messages as a consumer receives them (Java: MessageExt, MessageDecoder).

A 4.6.0 client decompresses every body as zlib. Producers since 5.0 may use LZ4 or zstd
and name the method in the system flags. This client reads all of them.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping

from msgspec import Struct

from reference.core.client.message import MessageQueue
from spec.layout import LayoutError
from spec.store.message_record import Record, SystemFlag, decode_record
from spec.wire.bodies.zlib_stream import (
    COMPRESSION_TYPE,
    LZ4_TYPE,
    ZLIB_TYPES,
    ZSTD_TYPE,
    inflate,
)
from spec.wire.message.message_id import encode_message_id
from spec.wire.message.properties import Property, decode_properties
from spec.wire.message.topic_names import RETRY_PREFIX

DECOMPRESSED_SIZE_MAX = 256 * 1024 * 1024
"""Bytes; Java has no limit, and 4 MB of zlib can become 4 GB."""
_CODECS = {LZ4_TYPE: "lz4", ZSTD_TYPE: "zstd"}


class MessageExt(Struct, frozen=True, kw_only=True):
    """A received message."""

    topic: str
    """The record's topic; of a message from a retry topic, its original topic."""
    body: bytes
    properties: Mapping[str, str]
    queue: MessageQueue
    """The queue from which it was pulled."""
    record: Record
    """Offsets, times, hosts and flags."""

    @property
    def message_id(self) -> str:
        """The producer's unique key, or the broker's id without one."""
        return self.properties.get(Property.UNIQ_KEY) or self.offset_message_id

    @property
    def offset_message_id(self) -> str:
        """The broker's id, built from its address and the commit-log offset."""
        return encode_message_id(self.record.store_host, self.record.physical_offset)


def message_ext(record: Record, queue: MessageQueue) -> MessageExt:
    """Return the message in *record*, pulled from *queue*."""
    body = record.body
    if record.system_flags & SystemFlag.COMPRESSED:  # [CLIENT-PULL-007]
        body = decompress(body, record.system_flags)
    properties = decode_properties(record.properties)
    topic = record.topic
    if topic.startswith(RETRY_PREFIX):  # a dead letter has RETRY_TOPIC too
        topic = properties.get(Property.RETRY_TOPIC, topic)
    return MessageExt(
        topic=topic,
        body=body,
        properties=properties,
        queue=queue,
        record=record,
    )


def decode_message(body: bytes, broker_name: str) -> MessageExt:
    """Decode the one record in *body*; raise LayoutError if it is invalid."""
    record = decode_record(body)
    return message_ext(record, MessageQueue(record.topic, broker_name, record.queue_id))


def decompress(body: bytes, system_flags: int) -> bytes:
    """Decompress *body*; raise LayoutError if that fails."""
    kind = system_flags & COMPRESSION_TYPE  # [CLIENT-PULL-009]
    try:
        if kind in ZLIB_TYPES:
            return inflate(body, DECOMPRESSED_SIZE_MAX)
        if kind in _CODECS:
            return _decode(body, _CODECS[kind])
    except (zlib.error, OSError) as error:
        raise LayoutError(f"cannot be decompressed: {error}", field="body") from error
    raise LayoutError(f"unknown compression method {kind >> 8}", field="body")


def _decode(body: bytes, codec: str) -> bytes:
    """Return the bytes that *codec* has compressed; a client of 5.x may use it."""
    try:
        import pyarrow
    except ModuleNotFoundError as error:
        reason = f"{codec} is read by pyarrow, which is not installed"
        raise LayoutError(reason, field="body") from error
    source = pyarrow.BufferReader(body)
    inflated = pyarrow.CompressedInputStream(source, codec)
    data = bytes(inflated.read(DECOMPRESSED_SIZE_MAX + 1))
    if len(data) > DECOMPRESSED_SIZE_MAX:
        reason = f"decompresses to over {DECOMPRESSED_SIZE_MAX} bytes"
        raise LayoutError(reason, field="body")
    return data
