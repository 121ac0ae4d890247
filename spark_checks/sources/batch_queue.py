"""
The Spark source ``rocketmq.batchqueue``: a row for every unit of a batch consume queue.

Units are of one size, and a unit of zeros is not written yet. A partition is a file:
such queues have a unit for many messages.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from spark_checks.sources.record_scan import ReadAt
from spark_checks.sources.schemas import arrow_schema, as_dtype, spark_schema
from spark_checks.sources.store_files import queue_of, reading
from spec.derive.numpy_dtype import dtype_spec
from spec.store.batch_queue import BATCH_QUEUE, UNIT_SIZE, batch_unit_layout

UNITS_AT_ONCE = 100_000
BATCH_COLUMNS: Final[dict[str, str]] = {
    "file_base": "int64",
    "position": "int64",
    "queue": "string",
    "queue_id": "int32",
    "commit_log_offset": "int64",
    "size": "int64",
    "tags_code": "int64",
    "stored_at_ms": "int64",
    "first_queue_offset": "int64",
    "message_count": "int32",
}
_schema = arrow_schema(BATCH_COLUMNS)
_dtype = as_dtype(dtype_spec(batch_unit_layout))
BatchFile = tuple[str, int, int]
"""Path, offset that the name states, size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPartition(InputPartition):
    """One file of a batch queue."""

    file: BatchFile


class BatchQueueSource(DataSource):
    """Reads batch consume queues. Options: ``url``, ``files`` (JSON)."""

    @classmethod
    def name(cls) -> str:
        """Return the name for ``spark.read.format``."""
        return "rocketmq.batchqueue"

    def schema(self) -> str:
        """Return the columns of a row."""
        return spark_schema(BATCH_COLUMNS)

    def reader(self, schema: StructType) -> DataSourceReader:  # noqa: ARG002
        """Return the reader of the store that the options name."""
        return BatchQueueReader(self.options)


class BatchQueueReader(DataSourceReader):
    """Reads one file a partition."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self.url = options["url"]
        self.files: list[BatchFile] = json.loads(options["files"])

    def partitions(self) -> Sequence[InputPartition]:
        """Return the files."""
        return [BatchPartition(file=(p, b, s)) for p, b, s in self.files]

    def read(self, partition: InputPartition | None) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one file."""
        if partition is None:  # so Spark says that there are no partitions
            return
        if not isinstance(partition, BatchPartition):
            raise TypeError(f"{partition!r} is not a file of a batch queue")
        with reading(self.url, partition.file[0]) as read_at:
            yield from batch_rows(read_at, partition.file)


def batch_rows(read_at: ReadAt, file: BatchFile) -> Iterator[pa.RecordBatch]:
    """Yield the written units of *file*."""
    path, base, size = file
    queue = queue_of(path, BATCH_QUEUE)
    if queue is None:
        raise ValueError(f"{path} is not in a batch queue")
    step = UNITS_AT_ONCE * UNIT_SIZE
    for start in range(0, size - size % UNIT_SIZE, step):
        data = read_at(start, min(step, size - size % UNIT_SIZE - start))
        units = np.frombuffer(data[: len(data) - len(data) % UNIT_SIZE], dtype=_dtype)
        written = np.flatnonzero((units["size"] != 0) | (units["message_count"] != 0))
        count = len(written)
        known = {
            "file_base": np.full(count, base),
            "position": start + written * UNIT_SIZE,
            "queue": pa.repeat(pa.scalar(queue[0]), count),
            "queue_id": np.full(count, queue[1], np.int32),
        }
        yield pa.RecordBatch.from_arrays(
            [
                pa.array(
                    known[field.name]
                    if field.name in known
                    else units[field.name][written].astype(field.type.to_pandas_dtype())
                )
                for field in _schema
            ],
            schema=_schema,
        )
