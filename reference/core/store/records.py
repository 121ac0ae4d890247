"""
Records as the store writes and reads them back, without building objects for
what nobody looks at.

A `Found` is what dispatch needs to know of a record: where it is, which queue it
is for, and the words that it can be found by.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from reference.core.store.api import SCHEDULE_TOPIC, NewMessage, new_tuple
from reference.core.store.delay_levels import DelayLevels
from reference.core.store.hashing import tags_hash
from reference.core.store.layouts import blank_codec, record_codec
from reference.core.store.words import word
from spec.integers import body_crc
from spec.store.blank import BLANK_MAGIC
from spec.store.message_record import FIXED_SIZE_V4, MAGIC_V1, SystemFlag
from spec.wire.properties import Property, decode_properties

try:  # three times as fast as zlib's
    from isal.isal_zlib import crc32 as crc32
except ImportError:
    from zlib import crc32 as crc32

BORN_V6 = int(SystemFlag.BORN_HOST_V6)
STORE_V6 = int(SystemFlag.STORE_HOST_V6)
TRANSACTION_MASK = int(SystemFlag.TRANSACTION_ROLLBACK)
NOT_CONSUMABLE = (
    int(SystemFlag.TRANSACTION_PREPARED),
    int(SystemFlag.TRANSACTION_ROLLBACK),
)
"""Kinds of messages that enter no queue."""

TOPIC_SIZE_MAX = 127
_KEYS, _UNIQUE_KEY = Property.KEYS.value, Property.UNIQ_KEY.value
_TAGS = Property.TAGS.value


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
    size: int
    """Bytes of the record."""


def encode_new(message: NewMessage, columns: Columns, system_flags: int) -> bytes:
    """Return the record of *message*."""
    body, born, store = message.body, message.born_host, message.store_host
    return record_codec.encode(
        (
            # [STORE-RECORD-001]
            columns.size,
            MAGIC_V1,  # [STORE-RECORD-002]
            body_crc(body, crc32),  # [STORE-RECORD-004]
            message.queue_id,
            message.flag,
            columns.queue_offset,
            columns.physical_offset,  # [STORE-RECORD-006]
            system_flags,
            message.born_at_ms,
            born.address,  # [STORE-RECORD-007]
            born.port,
            columns.stored_at_ms,
            store.address,
            store.port,
            message.reconsume_times,
            message.prepared_transaction_offset,
            body,
            columns.topic,
            columns.properties,
        )
    )


def told_by(message: NewMessage, columns: Columns, system_flags: int) -> Found | None:
    """Return what `find_record` finds in the record of *message*, without reading it.

    None for what only reading tells: delayed messages, topics that are not ASCII.
    """
    topic = message.topic
    if not is_plain_topic(topic):
        return None
    _, properties, queue_offset, physical_offset, stored_at_ms, size = columns
    tags_code, keys, unique_key = said_by(str(properties, "utf-8", "replace"))
    said = (
        *(size, topic, message.queue_id, queue_offset, physical_offset),
        *(tags_code, stored_at_ms, system_flags, keys, unique_key),
    )
    return new_tuple(Found, said)


@lru_cache(maxsize=16_384)
def is_plain_topic(topic: str) -> bool:
    """Return whether all that dispatch asks of a message of *topic* can be told."""
    is_short = topic.isascii() and len(topic) <= TOPIC_SIZE_MAX
    return is_short and topic != SCHEDULE_TOPIC


def said_by(words: str) -> tuple[int, str, str | None]:
    """Return what the properties *words* say: tags code, keys and unique key."""
    # Few messages have tags and keys; to see that there are none is quick.
    tags = word(words, _TAGS) if _TAGS in words else None
    keys = word(words, _KEYS) if _KEYS in words else None
    return tags_hash(tags or ""), keys or "", word(words, _UNIQUE_KEY)


def new_size(message: NewMessage, topic: bytes, properties: bytes, flags: int) -> int:
    """Return the bytes that the record of *message* takes."""
    size = FIXED_SIZE_V4 + len(message.body) + len(topic) + len(properties)
    if flags & BORN_V6:
        size += 12
    if flags & STORE_V6:
        size += 12
    return size


def flags_with_hosts(message: NewMessage) -> int:
    """Return the system flags of *message* with the bits of its hosts set."""
    flags = message.system_flags
    if message.born_host.is_v6:
        flags |= BORN_V6
    if message.store_host.is_v6:
        flags |= STORE_V6
    return flags


def find_record(
    data: memoryview, at: int, *, levels: DelayLevels, check_crc: bool
) -> Found | Unreadable:
    """Return what the record at the byte *at* says, as 4.6.0 reads it back.

    4.6.0 org.apache.rocketmq.store.CommitLog#checkMessageAndReturnSize: the record's
    own offset is not compared with its place.
    """
    if len(data) - at < blank_codec.size:
        return Unreadable(-1)
    # A record begins as a blank does: size and magic.
    size, magic = blank_codec.unpack_from(data, at)
    if magic == BLANK_MAGIC:
        return Unreadable(0)  # [REC-SCAN-002]
    if magic != MAGIC_V1 or not 0 < size <= len(data) - at:
        return Unreadable(-1)  # [REC-SCAN-001]
    try:
        return _read(data, at, levels=levels, check_crc=check_crc, size=size)
    except ValueError:  # LayoutError is one, and so is a DELAY that is no number
        return Unreadable(-1)


def properties_of(record: memoryview) -> dict[str, str]:
    """Return the properties of the message that *record* is."""
    return decode_properties(str(record_codec.decode(record)[-1], "utf-8", "replace"))


def _read(
    data: memoryview, at: int, *, size: int, levels: DelayLevels, check_crc: bool
) -> Found | Unreadable:
    values, end = record_codec.decode_from(data, at)
    _, _, crc, queue_id, _, queue_offset, physical_offset, flags, *rest = values
    stored_at_ms, body, topic_bytes, properties = rest[3], *rest[8:]
    if len(topic_bytes) > TOPIC_SIZE_MAX:
        return Unreadable(-1)
    if check_crc and body and body_crc(body, crc32) != crc:  # [REC-SCAN-005]
        return Unreadable(-1)
    if end - at != size:  # [REC-SCAN-003]
        return Unreadable(size)
    topic = str(topic_bytes, "utf-8", "replace")
    words = str(properties, "utf-8", "replace")
    return Found(
        size,
        topic,
        queue_id,
        queue_offset,
        physical_offset,
        _tags_code(topic, words, stored_at_ms, levels),
        stored_at_ms,
        flags,
        word(words, _KEYS) or "",
        word(words, _UNIQUE_KEY),
    )


def _tags_code(topic: str, words: str, stored_at_ms: int, levels: DelayLevels) -> int:
    """Return the third field of the queue's unit: a hash, or a time of delivery."""
    if topic == SCHEDULE_TOPIC:
        level = levels.level_of(word(words, Property.DELAY))
        if level > 0:
            return levels.deliver_at_ms(level, stored_at_ms)  # [STORE-QUEUE-005]
    return tags_hash(word(words, _TAGS) or "")  # [STORE-QUEUE-004] [STORE-TAGS-001]
