"""Data sources that read whole files, and ``rocketmq.checkpoint``."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pyarrow as pa

from columns.scan.log_file import ReadAt
from spark_checks.readers.schemas import arrow_schema
from spark_checks.readers.table_source import FileSource
from spark_checks.store_files import StoreFile
from spec.store.checkpoint import (
    FILE_SIZE,
    Checkpoint,
    checkpoint_layout,
    decode_checkpoint,
)

SIZE_MAX = 1 << 28
"""Largest number of bytes to read of a file; a broker's have 48 MiB by default."""
_ROWS_AT_ONCE = 100_000

Row = dict[str, Any]


class RowSource(FileSource[StoreFile]):
    """Source of rows that are made one by one, from files of some megabytes."""

    @staticmethod
    @abstractmethod
    def rows_of(data: bytes, file: StoreFile) -> Iterator[Row]:
        """Yield the rows of *file*, which begins with *data*."""

    def batches_in(self, read_at: ReadAt, part: StoreFile) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one file."""
        schema = arrow_schema(self.source_name)
        rows = self.rows_of(read_at(0, min(part.size, SIZE_MAX)), part)
        while some := list(islice(rows, _ROWS_AT_ONCE)):
            yield pa.RecordBatch.from_pylist(some, schema=schema)


class CheckpointSource(RowSource):
    """Reads checkpoints. Options: ``url``, ``files`` (JSON).

    A file too short for the times is damaged. Other defects are a reason beside the
    times.
    """

    source_name = "rocketmq.checkpoint"

    @staticmethod
    def rows_of(data: bytes, file: StoreFile) -> Iterator[Row]:
        """Yield the row of the checkpoint *file*."""
        needed = checkpoint_layout.sizeof()
        row = {"file": file.path, "file_size": file.size}
        if len(data) < needed:
            lack = f"{file.size} bytes, the times take {needed}"
            yield {**row, "kind": "damaged", "reason": lack}
            return
        found = decode_checkpoint(data)
        fields = {name: getattr(found, name) for name in Checkpoint.__slots__}
        reason = None
        if file.size != FILE_SIZE:
            reason = f"{file.size} bytes, a checkpoint has {FILE_SIZE}"
        elif data[needed:].strip(b"\0"):
            reason = "bytes follow the fields"
        yield {**row, "kind": "checkpoint", "reason": reason, **fields}
