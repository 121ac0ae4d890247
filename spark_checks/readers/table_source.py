"""
Base classes of the data sources: columns, options and readers of partitions.

Spark's workers find classes by their modules, so each class stands at module level.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, Protocol, TypeVar

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from spark_checks.columns.record_scan import ReadAt
from spark_checks.readers.schemas import spark_schema
from spark_checks.store_files import reading


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePart(InputPartition):
    """Partition that is read from one file, or from a range of it."""

    path: str
    """Path relative to the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedFile(FilePart):
    """File with its start offset in its name."""

    base: int
    """Start offset in the name."""
    size: int


Part = TypeVar("Part", bound=InputPartition)
PartOfFile = TypeVar("PartOfFile", bound=FilePart)


class MakesReader(Protocol):
    """Callable that makes a reader from options, such as a reader's class."""

    def __call__(self, options: Mapping[str, str], /) -> DataSourceReader:
        """Return the reader for *options*."""


class TableSource(DataSource):
    """Data source with fixed columns."""

    source_name: ClassVar[str]
    columns: ClassVar[dict[str, str]]
    """Arrow type of each column, by name."""
    reader_type: ClassVar[MakesReader]

    @classmethod
    def name(cls) -> str:
        """Return the name for ``spark.read.format``."""
        return cls.source_name

    def schema(self) -> str:
        """Return the columns as a Spark schema."""
        return spark_schema(self.columns)

    def reader(self, schema: StructType) -> DataSourceReader:  # noqa: ARG002
        """Return the reader for the options."""
        return self.reader_type(self.options)


class TableReader(DataSourceReader, Generic[Part]):
    """Reader of one kind of partitions."""

    part_type: type[Part]
    part_name: str
    """Name of such a partition in errors."""

    @abstractmethod
    def batches_of(self, part: Part) -> Iterator[pa.RecordBatch]:
        """Yield the rows of *part*."""

    def read(self, partition: InputPartition | None) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one partition; raises TypeError for another kind."""
        if partition is None:  # Spark's value for no partitions
            return
        if not isinstance(partition, self.part_type):
            raise TypeError(f"{partition!r} is not {self.part_name}")
        yield from self.batches_of(partition)


class FileReader(TableReader[PartOfFile]):
    """Reader of partitions in single files of the store at the option ``url``."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self.url = options["url"]

    @abstractmethod
    def batches_in(self, read_at: ReadAt, part: PartOfFile) -> Iterator[pa.RecordBatch]:
        """Yield the rows of *part*, from the file that *read_at* reads."""

    def batches_of(self, part: PartOfFile) -> Iterator[pa.RecordBatch]:
        """Yield the rows of *part*."""
        with reading(self.url, part.path) as read_at:
            yield from self.batches_in(read_at, part)


class PlacedFileReader(FileReader[PlacedFile]):
    """Reads one whole file per partition. Options: ``url``, ``files`` (JSON)."""

    part_type = PlacedFile

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(options)
        self.files: list[tuple[str, int, int]] = json.loads(options["files"])

    def partitions(self) -> Sequence[InputPartition]:
        """Return one partition per file."""
        return [PlacedFile(path=p, base=b, size=s) for p, b, s in self.files]
