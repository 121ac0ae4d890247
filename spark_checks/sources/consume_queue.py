"""
The Spark source ``rocketmq.consumequeue``: a row for every written unit.

Queues are many and their files small, so a partition is a handful of files. A unit
of zeros is not written yet, or a hole; it makes no row, and who looks for holes
looks for missing queue offsets.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from spark_checks.sources.record_scan import ReadAt
from spark_checks.sources.schemas import (
    UNIT_COLUMNS,
    arrow_schema,
    as_dtype,
    spark_schema,
)
from spark_checks.sources.store_files import queue_of, reading
from spec.derive.numpy_dtype import dtype_spec
from spec.store.consume_queue import UNIT_SIZE, unit_layout

UNITS_AT_ONCE = 200_000
"""Units in one batch."""
PARTITION_SIZE = 32 * 1024 * 1024
"""Bytes of files that one partition reads, unless a single file has more."""
_schema = arrow_schema(UNIT_COLUMNS)
_dtype = as_dtype(dtype_spec(unit_layout))

QueueFile = tuple[str, int, int]
"""Path, offset in the queue that the name states, size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueFiles(InputPartition):
    """Some consume-queue files."""

    files: tuple[QueueFile, ...]


class ConsumeQueueSource(DataSource):
    """Reads consume queues. Options: ``url``, ``files`` (JSON), ``partitions``."""

    @classmethod
    def name(cls) -> str:
        """Return the name for ``spark.read.format``."""
        return "rocketmq.consumequeue"

    def schema(self) -> str:
        """Return the columns of a row."""
        return spark_schema(UNIT_COLUMNS)

    def reader(self, schema: StructType) -> DataSourceReader:  # noqa: ARG002
        """Return the reader of the store that the options name."""
        return ConsumeQueueReader(self.options)


class ConsumeQueueReader(DataSourceReader):
    """Deals the files out to partitions, and reads some files."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self.url = options["url"]
        self.files: list[QueueFile] = json.loads(options["files"])
        self.count = int(options.get("partitions", "2"))

    def partitions(self) -> Sequence[InputPartition]:
        """Return partitions of about equal size."""
        total = sum(size for _, _, size in self.files)
        limit = min(PARTITION_SIZE, total // self.count + 1)
        return list(_dealt(self.files, limit))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of some files."""
        if not isinstance(partition, QueueFiles):
            raise TypeError(f"{partition!r} is not a set of consume-queue files")
        for file in partition.files:
            with reading(self.url, file[0]) as read_at:
                yield from batches(read_at, file)


def _dealt(files: Sequence[QueueFile], limit: int) -> Iterator[QueueFiles]:
    dealt: list[QueueFile] = []
    size = 0
    for path, base, file_size in files:
        dealt.append((path, base, file_size))
        size += file_size
        if size >= limit:
            yield QueueFiles(files=tuple(dealt))
            dealt, size = [], 0
    if dealt:
        yield QueueFiles(files=tuple(dealt))


def batches(read_at: ReadAt, file: QueueFile) -> Iterator[pa.RecordBatch]:
    """Yield the written units of *file*; a part of a unit at the end is left out."""
    path, base, file_size = file
    queue = queue_of(path)
    if queue is None:
        raise ValueError(f"{path} is not in a consume queue")
    whole = file_size - file_size % UNIT_SIZE
    step = UNITS_AT_ONCE * UNIT_SIZE
    for start in range(0, whole, step):
        data = read_at(start, min(step, whole - start))
        units = np.frombuffer(data[: len(data) - len(data) % UNIT_SIZE], dtype=_dtype)
        written = np.flatnonzero(_written(units))
        if written.size:
            positions = start + written * UNIT_SIZE
            yield _rows(units[written], positions, queue, (base, file_size))


def _written(units: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return which of *units* are not all zeros."""
    seen = np.zeros(len(units), dtype=np.bool_)
    for name in _dtype.names or ():
        seen |= units[name] != 0
    return seen


def _rows(
    units: npt.NDArray[Any],
    positions: npt.NDArray[np.int64],
    queue: tuple[str, int],
    place: tuple[int, int],
) -> pa.RecordBatch:
    count = len(units)
    base, file_size = place
    topic, queue_id = queue
    known = {
        "file_base": np.full(count, base),
        "file_size": np.full(count, file_size),
        "position": positions,
        "topic": pa.repeat(pa.scalar(topic), count),
        "queue_id": np.full(count, queue_id, np.int32),
        "queue_offset": (base + positions) // UNIT_SIZE,
        "commit_log_offset": units["commit_log_offset"].astype(np.int64),
        "size": units["size"].astype(np.int32),
        "tags_code": units["tags_code"].astype(np.int64),
    }
    arrays = [pa.array(known[field.name], field.type) for field in _schema]
    return pa.RecordBatch.from_arrays(arrays, schema=_schema)
