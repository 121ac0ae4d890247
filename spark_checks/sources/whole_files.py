"""
Small files, read as wholes: what the sources of checkpoint and config have in common.

All files together are one partition; there are a few, of some kilobytes each.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from spark_checks.sources.schemas import arrow_schema
from spark_checks.sources.store_files import StoreFile, read_whole
from spark_checks.sources.table_source import TableReader, TableSource

SIZE_MAX = 64 * 1024 * 1024
"""Bytes of the largest file that is read."""
_ROWS_AT_ONCE = 100_000

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeFiles(InputPartition):
    """Some small files: path and size of each."""

    files: tuple[tuple[str, int], ...]


class WholeFileSource(TableSource):
    """Reads small files. Options: ``url``, ``files`` (JSON)."""

    @staticmethod
    def rows_of(data: bytes, path: str, size: int) -> Iterator[Row]:
        """Yield the rows of the file at *path*, of *size* bytes, as *data*."""
        raise NotImplementedError(f"{path}: {len(data)} of {size} bytes have no reader")

    def reader(self, schema: StructType) -> DataSourceReader:  # noqa: ARG002
        """Return the reader of the store that the options name."""
        return WholeFileReader(type(self), self.options)


class WholeFileReader(TableReader[WholeFiles]):
    """Reads all files of a source in one partition."""

    part_type = WholeFiles
    part_name = "a set of small files"

    def __init__(
        self, source: type[WholeFileSource], options: Mapping[str, str]
    ) -> None:
        self.source = source
        self.url = options["url"]
        self.files: list[tuple[str, int]] = json.loads(options["files"])

    def partitions(self) -> Sequence[InputPartition]:
        """Return the one partition."""
        return [WholeFiles(files=tuple((path, size) for path, size in self.files))]

    def batches_of(self, part: WholeFiles) -> Iterator[pa.RecordBatch]:
        """Yield the rows of all files."""
        schema = arrow_schema(self.source.columns)
        for path, size in part.files:
            file = StoreFile(path=path, size=size)
            data = read_whole(self.url, file, size_max=SIZE_MAX)
            rows = list(self.source.rows_of(data, path, size))
            for start in range(0, len(rows), _ROWS_AT_ONCE):
                some = rows[start : start + _ROWS_AT_ONCE]
                yield pa.RecordBatch.from_pylist(some, schema=schema)
