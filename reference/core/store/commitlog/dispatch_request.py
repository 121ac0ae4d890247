"""
The dispatch request of a record: the values that consume queue and index need of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from reference.core.store.commitlog.record_reader import ScannedRecord
from reference.core.store.delay.delay_levels import DelayLevels
from reference.core.store.types import DispatchRequest
from spec.integers import java_string_hash
from spec.store.message_record import record_fields
from spec.wire.message.properties import (
    KEY_SEPARATOR,
    NAME_END,
    VALUE_END,
    Property,
    decode_properties,
)
from spec.wire.message.topic_names import SCHEDULE_TOPIC

_KEYS, _TAGS = f"{Property.KEYS}{NAME_END}", f"{Property.TAGS}{NAME_END}"
_UNIQUE_KEY = f"{Property.UNIQ_KEY}{NAME_END}"


def dispatch_request_of(record: ScannedRecord, levels: DelayLevels) -> DispatchRequest:
    """Return the dispatch request of *record*."""
    topic = str(record.topic, "utf-8", "replace")
    text = str(record.properties, "utf-8", "replace")
    tags_code, index_keys = dispatch_properties(text)
    if topic == SCHEDULE_TOPIC:
        level = _delay_level(levels, text)
        if level > 0:  # [STORE-QUEUE-005]
            tags_code = levels.deliver_at_ms(level, record.stored_at_ms)
    return DispatchRequest(
        size=record.size,
        topic=topic,
        queue_id=record.queue_id,
        queue_offset=record.queue_offset,
        physical_offset=record.physical_offset,
        tags_code=tags_code,
        stored_at_ms=record.stored_at_ms,
        system_flags=record.system_flags,
        index_keys=index_keys,
    )


def _delay_level(levels: DelayLevels, properties: str) -> int:
    """Return the level in *properties*; 0 for a DELAY that is not a number.

    A batch can bring one. 4.6.0 reads no further and loses the messages behind it.
    """
    try:
        return levels.level_of(property_value(properties, Property.DELAY))
    except ValueError:
        return 0


def dispatch_properties(text: str) -> tuple[int, Sequence[str]]:
    """Return the tags code of the properties *text*, and the keys for the index."""
    # Few messages have tags or keys, and a search for a name is quicker than a parse.
    tags = _value(text, _TAGS) if _TAGS in text else None
    keys = _value(text, _KEYS) if _KEYS in text else None
    # [STORE-QUEUE-004] [STORE-TAGS-001]
    tags_code = tags_hash(tags) if tags else 0
    unique_key = _value(text, _UNIQUE_KEY)
    index_keys = [] if unique_key is None else [unique_key]
    if keys:
        # [INDEX-KEY-003] [QUERY-KEY-008]
        index_keys += [key for key in keys.split(KEY_SEPARATOR) if key]
    return tags_code, index_keys


@lru_cache(maxsize=16_384)
def tags_hash(tags: str) -> int:
    """Return the tags code of *tags*, cached."""
    return java_string_hash(tags) if tags else 0


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
    is_whole_name = not start or properties[start - 1] == VALUE_END
    if is_whole_name and value and NAME_END not in value:
        return value
    return decode_properties(properties).get(name.removesuffix(NAME_END))


def properties_of(record: memoryview) -> dict[str, str]:
    """Return the properties of the message in *record*."""
    fields, _ = record_fields(record)
    return decode_properties(str(fields.properties, "utf-8", "replace"))
