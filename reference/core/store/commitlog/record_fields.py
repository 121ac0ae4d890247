"""
Fixed fields of a record, compiled from its layout, for readers that trust no record.

`record_codec` decodes sound records as a whole. Recovery reads field by field instead,
because the first wrong field decides the treatment of a damaged record.
"""

from __future__ import annotations

from functools import cache
from struct import Struct
from typing import NamedTuple

from reference.core.store.commitlog.record_codec import BORN_V6, STORE_V6
from spec.derive.codecs import record_codec
from spec.derive.numpy_dtype import PlacedField, leading_fields
from spec.store.message_record import MAGIC_V1, record_layout

FIELD = {name: index for index, name in enumerate(record_codec.names)}
"""Index of each field in the values of `RecordStructs.head`, by its name."""
HOSTS_V6 = BORN_V6 | STORE_V6


class RecordStructs(NamedTuple):
    """The runs of fixed fields of a record; body, topic and properties are between."""

    head: Struct
    """The fields before the body. Its size is the last value."""
    topic_size: Struct
    properties_size: Struct


@cache
def record_structs(magic: int, hosts: int) -> RecordStructs:
    """Return the structs of records with *magic* and these IPv6 bits (HOSTS_V6)."""
    return RecordStructs(*(run.form for run in record_codec.plan((magic, hosts))))


def magic_of(record: memoryview) -> int:
    """Return the magic of *record*; 0 where bytes are missing."""
    return _read(record, _narrow["magic"])


def stored_at_of(record: memoryview, *, supports_ipv6: bool = True) -> int:
    """Return the store time of *record* in milliseconds; 0 where bytes are missing."""
    is_wide = supports_ipv6 and _read(record, _narrow["system_flags"]) & BORN_V6
    return _read(record, (_wide if is_wide else _narrow)["stored_at_ms"])


def _fields(system_flags: int) -> dict[str, PlacedField]:
    fields = leading_fields(record_layout, magic=MAGIC_V1, system_flags=system_flags)
    return {field.name: field for field in fields}


def _read(record: memoryview, field: PlacedField) -> int:
    data = record[field.offset : field.offset + field.size]
    return int.from_bytes(data, "big", signed=field.format[1] == "i")


_narrow, _wide = _fields(0), _fields(BORN_V6)
MAGIC_AT = _narrow["magic"].offset
"""Position of the magic in a record."""
