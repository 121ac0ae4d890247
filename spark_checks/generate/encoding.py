"""
The bytes of a generated record, and what its unit says of it.
"""

from __future__ import annotations

from dataclasses import replace

from spec.derive.codecs import record_codec
from spec.integers import body_crc, tags_code
from spec.store.message_record import Record, record_size
from spec.store.record_checksum import CHECKSUM_SIZE, encode_checksum
from spec.wire.delay_levels import SCHEDULE_TOPIC
from spec.wire.properties import decode_properties

DELAYS_MS = {1: 1_000, 3: 10_000}
"""Of the levels that are used."""


def tags_code_of(record: Record) -> int:
    """Return the tags code that the unit of *record* has."""
    properties = decode_properties(record.properties)
    if record.topic == SCHEDULE_TOPIC:
        return record.stored_at_ms + DELAYS_MS[int(properties["DELAY"])]
    return tags_code(properties.get("TAGS", ""))


def quick_record(record: Record) -> bytes:
    """Return what ``encode_record`` returns, some times faster."""
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
    """Return *record* with a checksum of all of it behind its properties."""
    room = " " * CHECKSUM_SIZE
    data = quick_record(replace(record, properties=record.properties + room))
    end = encode_checksum(data[:-CHECKSUM_SIZE]).decode("ascii")
    return replace(record, properties=record.properties + end)
