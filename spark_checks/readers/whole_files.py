"""
Data sources of small files that are read whole, and ``rocketmq.checkpoint``.

All files of a source are one partition: there are few, of some kilobytes each.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import InputPartition

from spark_checks.readers.schemas import CHECKPOINT_COLUMNS, arrow_schema
from spark_checks.readers.table_source import TableSource
from spark_checks.store_files import StoreFile, read_whole
from spec.store.checkpoint import (
    FILE_SIZE,
    Checkpoint,
    checkpoint_layout,
    decode_checkpoint,
)

SIZE_MAX = 64 * 1024 * 1024
"""Largest number of bytes to read of a file."""
_ROWS_AT_ONCE = 100_000

Row = dict[str, Any]


class WholeFileSource(TableSource[InputPartition]):
    """Reads small files. Options: ``url``, ``files`` (JSON)."""

    @staticmethod
    @abstractmethod
    def rows_of(data: bytes, path: str, size: int) -> Iterator[Row]:
        """Yield the rows of the file at *path* with *size* bytes in *data*."""

    def partitions(self) -> Sequence[InputPartition]:
        """Return one partition for all files."""
        return [InputPartition(None)]

    def batches_of(self, part: InputPartition) -> Iterator[pa.RecordBatch]:  # noqa: ARG002 # there is one
        """Yield the rows of all files."""
        schema = arrow_schema(self.columns)
        for path, size in self.files:
            file = StoreFile(path=path, size=size)
            rows = self.rows_of(
                read_whole(self.url, file, size_max=SIZE_MAX), path, size
            )
            while some := list(islice(rows, _ROWS_AT_ONCE)):
                yield pa.RecordBatch.from_pylist(some, schema=schema)


class CheckpointSource(WholeFileSource):
    """Reads checkpoints. Options: ``url``, ``files`` (JSON).

    A file too short for the times is damaged. Other defects are a reason beside the
    times.
    """

    source_name = "rocketmq.checkpoint"
    columns = CHECKPOINT_COLUMNS

    @staticmethod
    def rows_of(data: bytes, path: str, size: int) -> Iterator[Row]:
        """Yield the row of the checkpoint at *path*."""
        needed = checkpoint_layout.sizeof()
        row = {"file": path, "file_size": size}
        if len(data) < needed:
            reason = f"{size} bytes, the times take {needed}"
            yield {**row, "kind": "damaged", "reason": reason}
            return
        found = decode_checkpoint(data)
        fields = {name: getattr(found, name) for name in Checkpoint.__slots__}
        yield {**row, "kind": "checkpoint", "reason": _reason(data, size), **fields}


def _reason(data: bytes, size: int) -> str | None:
    """Return the defect of a checkpoint with readable times; None without one."""
    if size != FILE_SIZE:
        return f"{size} bytes, a checkpoint has {FILE_SIZE}"
    if data[checkpoint_layout.sizeof() :].strip(b"\0"):
        return "bytes follow the fields"
    return None
