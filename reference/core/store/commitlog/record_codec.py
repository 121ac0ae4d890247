"""
Reading records back: the fields of a dispatch request, a property, the store time.
"""

from __future__ import annotations

from struct import error
from typing import NamedTuple

from reference.core.store.delay.delay_levels import DelayLevels
from reference.core.store.index.key_hash import tags_hash
from reference.core.store.layouts import (
    BORN_V6 as BORN_V6,
)
from reference.core.store.layouts import (
    STORE_V6 as STORE_V6,
)
from reference.core.store.layouts import (
    blank_codec,
    record_codec,
    stored_at_readers,
    system_flags_reader,
)
from reference.core.store.types import DispatchRequest
from spec.integers import body_crc
from spec.layout import LayoutError
from spec.store.blank import BLANK_MAGIC
from spec.store.message_record import MAGIC_V1, SystemFlag
from spec.wire.message.properties import (
    NAME_END,
    VALUE_END,
    Property,
    decode_properties,
)
from spec.wire.message.topic_names import SCHEDULE_TOPIC, TOPIC_LENGTH_MAX

try:  # three times as fast as zlib's
    from isal.isal_zlib import crc32 as crc32
except ImportError:
    from zlib import crc32 as crc32

TRANSACTION_MASK = int(SystemFlag.TRANSACTION_ROLLBACK)
NOT_CONSUMABLE = (
    int(SystemFlag.TRANSACTION_PREPARED),
    int(SystemFlag.TRANSACTION_ROLLBACK),
)
"""Transaction types of the messages that enter no queue."""

_KEYS, _TAGS = f"{Property.KEYS}{NAME_END}", f"{Property.TAGS}{NAME_END}"
_UNIQUE_KEY = f"{Property.UNIQ_KEY}{NAME_END}"


class Unreadable(NamedTuple):
    """Bytes that are not a record."""

    size: int
    """0: a blank ends the file. -1: garbage. More: the size of a record whose fields
    take another size."""


def read_dispatch_request(
    data: memoryview, at: int, *, levels: DelayLevels, check_crc: bool
) -> DispatchRequest | Unreadable:
    """Read the record at the byte *at*.

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
    except LayoutError:
        return Unreadable(-1)


def _read(
    data: memoryview, at: int, *, size: int, levels: DelayLevels, check_crc: bool
) -> DispatchRequest | Unreadable:
    values, end = record_codec.decode_from(data, at)
    _, _, crc, queue_id, _, queue_offset, physical_offset, flags, *rest = values
    stored_at_ms, body, topic_bytes, properties = rest[3], *rest[8:]
    if len(topic_bytes) > TOPIC_LENGTH_MAX:
        return Unreadable(-1)
    if check_crc and body and body_crc(body, crc32) != crc:  # [REC-SCAN-005]
        return Unreadable(-1)
    if end - at != size:  # [REC-SCAN-003]
        return Unreadable(size)
    topic = str(topic_bytes, "utf-8", "replace")
    text = str(properties, "utf-8", "replace")
    tags_code, keys, unique_key = dispatch_properties(text)
    if topic == SCHEDULE_TOPIC:
        level = _delay_level(levels, text)
        if level > 0:
            tags_code = levels.deliver_at_ms(level, stored_at_ms)  # [STORE-QUEUE-005]
    return DispatchRequest(
        size,
        topic,
        queue_id,
        queue_offset,
        physical_offset,
        tags_code,
        stored_at_ms,
        flags,
        keys,
        unique_key,
    )


def _delay_level(levels: DelayLevels, properties: str) -> int:
    """Return the level in *properties*; 0 for a DELAY that is not a number.

    A batch can bring one. 4.6.0 reads no further and loses the messages behind it.
    """
    try:
        return levels.level_of(property_value(properties, Property.DELAY))
    except ValueError:
        return 0


def dispatch_properties(text: str) -> tuple[int, str, str | None]:
    """Return the tags code, KEYS and UNIQ_KEY of the properties *text*."""
    # Few messages have tags or keys, and a search for a name is quicker than a parse.
    tags = _value(text, _TAGS) if _TAGS in text else None
    keys = _value(text, _KEYS) if _KEYS in text else None
    # [STORE-QUEUE-004] [STORE-TAGS-001]
    return tags_hash(tags or ""), keys or "", _value(text, _UNIQUE_KEY)


def property_value(properties: str, name: str) -> str | None:
    """Return the value of the property *name*, None without one.

    `decode_properties` defines the result, and tests compare the two. This search
    leaves the other properties unread.
    """
    return _value(properties, name + NAME_END)


def _value(properties: str, name: str) -> str | None:
    """Return the value behind *name*, which ends with NAME_END."""
    start = properties.rfind(name)
    if start < 0:
        return None
    begin = start + len(name)
    end = properties.find(VALUE_END, begin)
    value = properties[begin:] if end < 0 else properties[begin:end]
    is_whole_name = start == 0 or properties[start - 1] == VALUE_END
    if not is_whole_name or not value or NAME_END in value:
        return decode_properties(properties).get(name.removesuffix(NAME_END))
    return value


def properties_of(record: memoryview) -> dict[str, str]:
    """Return the properties of the message in *record*."""
    return decode_properties(str(record_codec.decode(record)[-1], "utf-8", "replace"))


def stored_at_of(record: memoryview) -> int:
    """Return the store time of *record* in milliseconds, 0 if it is too short."""
    try:
        (flags,) = system_flags_reader.unpack_from(record)
        (stored_at_ms,) = stored_at_readers[flags & BORN_V6].unpack_from(record)
    except error:
        return 0
    return int(stored_at_ms)
