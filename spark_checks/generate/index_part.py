"""Index file of one part: an item for every key of its messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from spec.derive.struct_codec import compile_codec
from spec.store.index_file import (
    ITEM_SIZE,
    ITEMS_PER_SLOT,
    IndexHeader,
    encode_header,
    encode_slot,
    item_layout,
    key_hash,
    seconds_between,
)
from spec.store.message_record import Record, SystemFlag
from spec.wire.message.properties import Property, decode_properties, keys_of

_item_codec = compile_codec(item_layout)


def index_file_name(began_at_ms: int) -> str:
    """Return the name of an index file created at *began_at_ms*."""
    moment = datetime.fromtimestamp(began_at_ms // 1000, UTC)
    return f"{moment:%Y%m%d%H%M%S}{began_at_ms % 1000:03d}"


def hashes_of(record: Record) -> Iterator[int]:
    """Yield the hash of every key of *record*, in the order of its items."""
    flags = record.system_flags & SystemFlag.TRANSACTION_ROLLBACK
    if flags == SystemFlag.TRANSACTION_ROLLBACK:
        return
    properties = decode_properties(record.properties)
    unique = properties.get(Property.UNIQ_KEY)
    for key in ([unique] if unique else []) + keys_of(properties):
        yield key_hash(record.topic, key)


def index_of(records: Sequence[Record]) -> bytes:
    """Return the index file of *records* with keys, just large enough for these."""
    keys = [(record, code) for record in records for code in hashes_of(record)]
    slot_count = -(-(len(keys) + 2) // ITEMS_PER_SLOT)  # never full
    slots = [0] * slot_count
    (first, _), (last, _) = keys[0], keys[-1]
    items = [bytes(ITEM_SIZE)]
    for number, (record, code) in enumerate(keys, start=1):
        seconds = seconds_between(first.stored_at_ms, record.stored_at_ms)
        previous = slots[code % slot_count]
        items.append(
            _item_codec.encode((code, record.physical_offset, seconds, previous))
        )
        slots[code % slot_count] = number
    header = IndexHeader(
        begin_stored_at_ms=first.stored_at_ms,
        end_stored_at_ms=last.stored_at_ms,
        begin_offset=first.physical_offset,
        end_offset=last.physical_offset,
        slot_count=len(keys),
        index_count=len(keys) + 1,
    )
    empty = bytes(ITEM_SIZE * (slot_count * ITEMS_PER_SLOT - len(items)))
    parts = [encode_header(header), *map(encode_slot, slots), *items, empty]
    return b"".join(parts)
