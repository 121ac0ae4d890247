"""
Bytes of a generated record, and the tags code of its unit.
"""

from __future__ import annotations

from dataclasses import replace

from spec.integers import body_crc, tags_code
from spec.store.message_record import Record, record_codec, record_size
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


def encode_record_fast(record: Record) -> bytes:
    """Return the bytes of *record*, several times faster than ``encode_record``."""
    return record_codec.encode(
        (
            record_size(record),
            record.magic,
            body_crc(record.body),
            record.queue_id,
            record.flag,
            record.queue_offset,
            record.physical_offset,
            record.system_flags,
            record.born_at_ms,
            record.born_host.address,
            record.born_host.port,
            record.stored_at_ms,
            record.store_host.address,
            record.store_host.port,
            record.reconsume_times,
            record.prepared_transaction_offset,
            record.body,
            record.topic.encode(),
            record.properties.encode(),
        )
    )


def with_checksum(record: Record) -> Record:
    """Return *record* with the checksum __CRC32# behind its properties."""
    room = " " * CHECKSUM_SIZE
    data = encode_record_fast(replace(record, properties=record.properties + room))
    end = encode_checksum(data[:-CHECKSUM_SIZE]).decode("ascii")
    return replace(record, properties=record.properties + end)
