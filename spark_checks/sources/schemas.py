"""
The tables that the readers make: one for each kind of file.

Names and types of a record's fields follow from its layout. The rest says where
the row was found and what kind of thing it is.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa

from spec.derive.arrow_schema import column_types
from spec.derive.numpy_dtype import DtypeSpec
from spec.store.checkpoint import checkpoint_layout
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
    "flaws": "int32",
    "body_size": "int32",
    "reconsume_times": "int32",
    "born_host": "string",
    "properties": "string",
}
"""A row is a record, or a region that is none (kind: blank, tail or damaged).

The last four are only there for who asks for them: an audit does not, it is slower.
"""
WIDE_COLUMNS: Final = ("body_size", "reconsume_times", "born_host", "properties")

UNIT_COLUMNS: Final[dict[str, str]] = {
    **_PLACE,
    "topic": "string",
    "queue_id": "int32",
    "queue_offset": "int64",
    "commit_log_offset": "int64",
    "size": "int32",
    "tags_code": "int64",
}
"""A row is a unit that is not all zeros; zeros are not written yet, or a hole."""

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
    "flaws": "int32",
}
"""A row is an item, or a slot (then number is null) that names another than its last.

``names`` is an item's previous one, or what a slot holds; ``seconds`` are counted from
``begun_at_ms``, but for the first item's.
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
"""A row is an extension unit, or a region that is none (kind: end, tail or damaged).

``offset`` counts over all files of a queue's extension, as addresses in units do.
"""

CHECKPOINT_COLUMNS: Final[dict[str, str]] = {
    "file": "string",
    "file_size": "int64",
    "kind": "string",
    "reason": "string",
    **column_types(checkpoint_layout),
}
"""A row is a file: a checkpoint, with a reason if not all of it is as it should be, or
damaged."""

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
"""A row is a value in a file of config, or damaged: what cannot be read at all.

``table`` is a member of the whole, ``name`` one of the table, ``key`` one of that; they
are null where a value comes earlier. ``value`` is JSON, or the bare text of a string;
``number`` is there where the value is an integer.
"""

_SPARK_TYPES: Final = {
    "int32": "int",
    "int64": "bigint",
    "string": "string",
    "binary": "binary",
}


def spark_schema(columns: dict[str, str]) -> str:
    """Return *columns* in the words of Spark's schemas."""
    return ", ".join(f"`{name}` {_SPARK_TYPES[kind]}" for name, kind in columns.items())


def arrow_schema(columns: dict[str, str]) -> pa.Schema:
    """Return *columns* as an Arrow schema."""
    return pa.schema([(name, getattr(pa, kind)()) for name, kind in columns.items()])


def as_dtype(spec: DtypeSpec) -> np.dtype[Any]:
    """Return the numpy dtype that *spec* describes."""
    found: np.dtype[Any] = np.dtype(dict(spec))  # type: ignore[call-overload] # a dict
    return found
