"""
Bytes of a generated record, and the tags code of its unit.
"""

from __future__ import annotations

from dataclasses import replace

from spec.integers import tags_code
from spec.store.message_record import Record, encode_record
from spec.store.record_checksum import CHECKSUM_SIZE, encode_checksum
from spec.wire.message.delay_levels import DEFAULT_DELAY_LEVELS, decode_delay_levels
from spec.wire.message.properties import decode_properties
from spec.wire.message.topic_names import SCHEDULE_TOPIC

_LEVELS = decode_delay_levels(DEFAULT_DELAY_LEVELS)


def tags_code_of(record: Record) -> int:
    """Return the tags code in the unit of *record*."""
    properties = decode_properties(record.properties)
    if record.topic == SCHEDULE_TOPIC:
        return _LEVELS.due_at_ms(
            int(properties["DELAY"]), stored_at_ms=record.stored_at_ms
        )
    return tags_code(properties.get("TAGS", ""))


def with_checksum(record: Record) -> Record:
    """Return *record* with the checksum __CRC32# behind its properties."""
    room = " " * CHECKSUM_SIZE
    data = encode_record(replace(record, properties=record.properties + room))
    end = encode_checksum(data[:-CHECKSUM_SIZE]).decode("ascii")
    return replace(record, properties=record.properties + end)
