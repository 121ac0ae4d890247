"""
Base class of the data sources: columns, options and the rows of a partition.

Spark's workers find classes by their modules, so each class stands at module level.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar, cast

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from columns.scan.log_file import ReadAt
from spark_checks.file_systems import reading
from spark_checks.readers.pushdown import Conditions
from spark_checks.readers.schemas import COLUMNS, spark_schema
from spark_checks.store_files import StoreFile

GROUP_SIZE = 4 * 1024 * 1024
"""Bytes of small files that are one partition: each costs a task, as large ones do."""


class FilePart(Protocol):
    """A file, or a range of it."""

    @property
    def path(self) -> str:
        """Path relative to the store."""

    @property
    def byte_count(self) -> int:
        """Number of bytes to read."""


PartOfFile = TypeVar("PartOfFile", bound=FilePart)


@dataclass(frozen=True)
class FileGroup(InputPartition, Generic[PartOfFile]):
    """Partition of parts of files."""

    parts: Sequence[PartOfFile]


class FileSource(DataSource, DataSourceReader, Generic[PartOfFile]):
    """Source with fixed columns, of rows that are each in one file of a store."""

    source_name: ClassVar[str]
    """Name for ``spark.read.format``, and of the columns in columns.toml."""

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(dict(options))
        self.url = options.get("url", "")
        listed = self.option("files", ())
        self.files = [StoreFile(path=path, size=size) for path, size in listed]
        self.conditions = Conditions(self.option("where", ()))
        self.selected: Sequence[str] = tuple(COLUMNS[self.source_name])
        """Columns of the rows to return."""

    def option(self, name: str, otherwise: Any = None) -> Any:
        """Return the JSON value of the option *name*, *otherwise* without it."""
        return json.loads(self.options[name]) if name in self.options else otherwise

    @classmethod
    def name(cls) -> str:
        """Return the source's name."""
        return cls.source_name

    def schema(self) -> str:
        """Return the columns as a Spark schema."""
        return spark_schema(COLUMNS[self.source_name])

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return this source, with the columns of *schema* selected."""
        self.selected = tuple(schema.fieldNames())
        return self

    def parts(self) -> Sequence[PartOfFile]:
        """Return the parts of files to read, in order; by default all files."""
        return cast("Sequence[PartOfFile]", self.files)

    def partitions(self) -> Sequence[InputPartition]:
        """Return the parts, small ones together."""
        groups: list[list[PartOfFile]] = []
        room = 0
        for part in self.parts():
            if not groups or part.byte_count > room:
                groups.append([])
                room = GROUP_SIZE
            groups[-1].append(part)
            room -= part.byte_count
        return [FileGroup(group) for group in groups]

    @abstractmethod
    def batches_in(self, read_at: ReadAt, part: PartOfFile) -> Iterator[pa.RecordBatch]:
        """Yield the rows of *part*, from the file that *read_at* reads."""

    def read(self, partition: InputPartition | None) -> Iterator[pa.RecordBatch]:
        """Yield the rows of all parts of one partition; None is that of no parts."""
        group = cast("FileGroup[PartOfFile] | None", partition)
        for part in group.parts if group else ():
            with reading(self.url, part.path) as read_at:
                yield from self.batches_in(read_at, part)
