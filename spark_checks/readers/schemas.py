"""
Columns of the data sources.

Names and types of a record's fields are derived from its layout. The other columns hold
the place and the kind of the row.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa

from columns.gather import dtype_of
from spec.derive.numpy_dtype import column_types
from spec.store.checkpoint import checkpoint_layout
from spec.store.consume_queue import unit_layout
from spec.store.message_record import record_layout

_PLACE: Final = {"file_base": "int64", "file_size": "int64", "position": "int64"}
_FROM_RECORD: Final = (
    "queue_id",
    "queue_offset",
    "physical_offset",
    "system_flags",
    "born_at_ms",
    "stored_at_ms",
    "body_crc",
)
_record_types = column_types(record_layout, system_flags=0)

LOG_COLUMNS: Final[dict[str, str]] = {
    **_PLACE,
    "offset": "int64",
    "size": "int64",
    "kind": "string",
    "reason": "string",
    **{name: _record_types[name] for name in _FROM_RECORD},
    "topic": "string",
    "tags_code": "int64",
    "computed_crc": "int32",
    "damage": "int32",
    "body_size": "int32",
    "reconsume_times": "int32",
    "born_host": "string",
    "properties": "string",
}
"""A row is a record, or a region without one (kind: blank, tail or damaged).

The last four columns are slow to read, and null unless requested.
"""
WIDE_COLUMNS: Final = ("body_size", "reconsume_times", "born_host", "properties")

UNIT_COLUMNS: Final[dict[str, str]] = {
    **_PLACE,
    "topic": "string",
    "queue_id": "int32",
    "queue_offset": "int64",
    **column_types(unit_layout),
}
"""A row is a unit that is not all zeros."""

INDEX_COLUMNS: Final[dict[str, str]] = {
    "file": "string",
    "number": "int64",
    "position": "int64",
    "key_hash": "int32",
    "commit_log_offset": "int64",
    "seconds": "int32",
    "begun_at_ms": "int64",
    "names": "int32",
    "should_name": "int32",
    "damage": "int32",
}
"""A row is an item, or a slot with a wrong item number (``number`` is null).

``names`` is the item number in an item or slot. ``seconds`` count from ``begun_at_ms``,
except for the first item.
"""

EXTENSION_COLUMNS: Final[dict[str, str]] = {
    **_PLACE,
    "topic": "string",
    "queue_id": "int32",
    "offset": "int64",
    "size": "int64",
    "kind": "string",
    "reason": "string",
    "tags_code": "int64",
    "stored_at_ms": "int64",
    "filter_bits": "binary",
}
"""A row is an extension unit, or a region without one (kind: end, tail or damaged).

``offset`` counts over all files of a queue's extension, as addresses in units do.
"""

CHECKPOINT_COLUMNS: Final[dict[str, str]] = {
    "file": "string",
    "file_size": "int64",
    "kind": "string",
    "reason": "string",
    **column_types(checkpoint_layout),
}
"""A row is a checkpoint file, with a reason if it is damaged or partly wrong."""

SETTING_COLUMNS: Final[dict[str, str]] = {
    "file": "string",
    "kind": "string",
    "position": "int64",
    "reason": "string",
    "table": "string",
    "name": "string",
    "key": "string",
    "value": "string",
    "number": "int64",
}
"""A row is a value in a configuration file, or an unreadable file (kind: damaged).

``table`` is a member of the file, ``name`` of the table, ``key`` of the named object.
They are null for a value at a higher level. ``value`` is JSON, or the text of a string.
``number`` is set if the value is an integer.
"""

_SPARK_TYPES: Final = {
    "int32": "int",
    "int64": "bigint",
    "string": "string",
    "binary": "binary",
}


def spark_schema(columns: dict[str, str]) -> str:
    """Return *columns* as a Spark schema."""
    return ", ".join(f"`{name}` {_SPARK_TYPES[kind]}" for name, kind in columns.items())


def arrow_schema(columns: dict[str, str]) -> pa.Schema:
    """Return *columns* as an Arrow schema."""
    return pa.schema([(name, getattr(pa, kind)()) for name, kind in columns.items()])


def as_batch(
    schema: pa.Schema, count: int, columns: Mapping[str, Any]
) -> pa.RecordBatch:
    """Return *count* rows of *schema* with these *columns*, in its types.

    A column is an array, or one value for all rows. Missing columns are null.
    """
    arrays = [_array(columns.get(field.name), field.type, count) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _array(column: Any, kind: pa.DataType, count: int) -> pa.Array:
    if isinstance(column, pa.Array):
        return column
    if isinstance(column, np.ndarray):
        return pa.array(column.astype(kind.to_pandas_dtype(), copy=False))
    return pa.repeat(pa.scalar(column, kind), count)


UNIT = dtype_of(unit_layout)
"""Consume-queue unit."""
