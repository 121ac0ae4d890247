"""
Records as the store writes and reads them back, without building objects for
what nobody looks at.

A `Found` is what dispatch needs to know of a record: where it is, which queue it
is for, and the words that it can be found by.
"""

from __future__ import annotations

import zlib
from struct import Struct
from typing import NamedTuple

from reference.core.store.api import SCHEDULE_TOPIC, NewMessage
from reference.core.store.delay_levels import DelayLevels
from reference.core.store.hashing import tags_hash
from spec.store.message_record import MAGIC_V1, SystemFlag

BLANK_MAGIC = 0xCBD43194
BORN_V6 = int(SystemFlag.BORN_HOST_V6)
STORE_V6 = int(SystemFlag.STORE_HOST_V6)
TRANSACTION_MASK = int(SystemFlag.TRANSACTION_ROLLBACK)
NOT_CONSUMABLE = (
    int(SystemFlag.TRANSACTION_PREPARED),
    int(SystemFlag.TRANSACTION_ROLLBACK),
)
"""Kinds of messages that enter no queue."""

_HEADS = {
    flags: Struct(
        f">iIiiiqqiq{20 if flags & BORN_V6 else 8}sq{20 if flags & STORE_V6 else 8}siqi"
    )
    for flags in (0, BORN_V6, STORE_V6, BORN_V6 | STORE_V6)
}
_V6_MASK = BORN_V6 | STORE_V6


class Found(NamedTuple):
    """What one record of the log says to queues and index."""

    size: int
    topic: str
    queue_id: int
    queue_offset: int
    physical_offset: int
    tags_code: int
    stored_at_ms: int
    system_flags: int
    keys: str
    unique_key: str | None


class Unreadable(NamedTuple):
    """There is no record here."""

    size: int
    """0: a blank ends the file. -1: garbage. More: a record that contradicts itself,
    of this size."""


class Columns(NamedTuple):
    """The parts of a message that were made bytes, and where they go."""

    topic: bytes
    properties: bytes
    queue_offset: int
    physical_offset: int
    stored_at_ms: int


def encode_new(message: NewMessage, columns: Columns, system_flags: int) -> bytes:
    """Return the record of *message*."""
    topic, properties, queue_offset, physical_offset, stored_at_ms = columns
    body = message.body
    head = _HEADS[system_flags & _V6_MASK]
    born, store = message.born_host, message.store_host
    return b"".join(
        (
            head.pack(
                head.size + len(body) + len(topic) + len(properties) + 3,
                MAGIC_V1,
                _crc(body),
                message.queue_id,
                message.flag,
                queue_offset,
                physical_offset,
                system_flags,
                message.born_at_ms,
                born.address + born.port.to_bytes(4, "big"),
                stored_at_ms,
                store.address + store.port.to_bytes(4, "big"),
                message.reconsume_times,
                message.prepared_transaction_offset,
                len(body),
            ),
            body,
            bytes((len(topic),)),
            topic,
            len(properties).to_bytes(2, "big"),
            properties,
        )
    )


def new_size(message: NewMessage, topic: bytes, properties: bytes, flags: int) -> int:
    """Return the bytes that the record of *message* takes."""
    head = _HEADS[flags & _V6_MASK]
    return head.size + len(message.body) + len(topic) + len(properties) + 3


def find_record(
    data: memoryview, *, levels: DelayLevels, check_crc: bool
) -> Found | Unreadable:
    """Return what the record that begins *data* says, as 4.6.0 reads it back.

    4.6.0 org.apache.rocketmq.store.CommitLog#checkMessageAndReturnSize: the record's
    own offset is not compared with its place.
    """
    try:
        size = int.from_bytes(data[:4], "big", signed=True)
        magic = int.from_bytes(data[4:8], "big")
        if magic == BLANK_MAGIC:
            return Unreadable(0)
        if magic != MAGIC_V1 or not 0 < size <= len(data):
            return Unreadable(-1)
        return _read(data, size, levels, check_crc)
    except (ValueError, IndexError, UnicodeDecodeError):
        return Unreadable(-1)


def _read(
    data: memoryview, size: int, levels: DelayLevels, check_crc: bool
) -> Found | Unreadable:
    flags = int.from_bytes(data[36:40], "big")
    head = _HEADS[flags & _V6_MASK]
    if len(data) < head.size:
        return Unreadable(-1)
    values = head.unpack_from(data)
    body_end = head.size + max(values[14], 0)
    topic_end = body_end + 1 + data[body_end]
    properties_at = topic_end + 2
    properties_size = int.from_bytes(data[topic_end:properties_at], "big")
    end = properties_at + properties_size
    if end > len(data) or data[body_end] > 127 or properties_size > 32767:
        return Unreadable(-1)
    if check_crc and values[14] > 0 and _crc(data[head.size : body_end]) != values[2]:
        return Unreadable(-1)
    if end != size:
        return Unreadable(size)
    topic = str(data[body_end + 1 : topic_end], "utf-8", "replace")
    words = words_of(str(data[properties_at:end], "utf-8", "replace"))
    return Found(
        size,
        topic,
        values[3],
        values[5],
        values[6],
        _tags_code(topic, words, values[10], levels),
        values[10],
        values[7],
        words.get("KEYS", ""),
        words.get("UNIQ_KEY"),
    )


def _crc(body: bytes | memoryview) -> int:
    return zlib.crc32(body) & 0x7FFFFFFF


def words_of(properties: str) -> dict[str, str]:
    """Return *properties* by name, as MessageDecoder#string2messageProperties does."""
    pairs = [item.split("\x01") for item in properties.split("\x02")]
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2 and pair[1]}


def _tags_code(
    topic: str, words: dict[str, str], stored_at_ms: int, levels: DelayLevels
) -> int:
    """Return the third field of the queue's unit: a hash, or a time of delivery."""
    if topic == SCHEDULE_TOPIC and "DELAY" in words:
        level = levels.level_of(words["DELAY"])
        if level > 0:
            return levels.deliver_at_ms(level, stored_at_ms)
    return tags_hash(words.get("TAGS", ""))
