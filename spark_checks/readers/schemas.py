"""
Columns of the data sources, which columns.toml lists.

Types of the fields of a structure are derived from its layout.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final

import numpy as np
import pyarrow as pa

from columns.gather import dtype_of
from spec.derive.numpy_dtype import column_types
from spec.store.batch_queue import batch_unit_layout
from spec.store.checkpoint import checkpoint_layout
from spec.store.consume_queue import unit_layout
from spec.store.message_record import record_layout

LAYOUTS: Final[Mapping[str, Mapping[str, str]]] = {
    "record": column_types(record_layout, system_flags=0),
    "unit": column_types(unit_layout),
    "checkpoint": column_types(checkpoint_layout),
    "batch_unit": column_types(batch_unit_layout),
}
"""Arrow types of the fields of the layouts that columns.toml names."""
# A cluster has it in an archive.
_listed = files(__package__).joinpath("columns.toml").read_text(encoding="utf-8")
COLUMNS: Final[Mapping[str, Mapping[str, str]]] = {
    source: {
        name: LAYOUTS.get(kind, {}).get(name, kind) for name, kind in table.items()
    }
    for source, table in tomllib.loads(_listed).items()
}
"""Arrow type of each column, by the name of the source and its own."""
_SPARK_TYPES: Final = {"int32": "int", "int64": "bigint"}
"""Spark's names of types, where they are not Arrow's."""


def spark_schema(columns: Mapping[str, str]) -> str:
    """Return *columns* as a Spark schema."""
    return ", ".join(
        f"`{name}` {_SPARK_TYPES.get(kind, kind)}" for name, kind in columns.items()
    )


def arrow_schema(source: str) -> pa.Schema:
    """Return the columns of *source* as an Arrow schema."""
    columns = COLUMNS[source].items()
    return pa.schema([(name, getattr(pa, kind)()) for name, kind in columns])


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
