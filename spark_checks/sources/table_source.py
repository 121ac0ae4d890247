"""
What the sources have in common: a name, columns, and readers of one kind of parts.

Spark's workers find the classes of sources, readers and parts by their modules, so each
stands at the top of one.
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

from spark_checks.sources.record_scan import ReadAt
from spark_checks.sources.schemas import spark_schema
from spark_checks.sources.store_files import reading


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePart(InputPartition):
    """A part of a table that is read from one file, or from a range of it."""

    path: str
    """Relative to the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedFile(FilePart):
    """One file whose name states where among its like it begins."""

    base: int
    """The offset that the name states."""
    size: int


Part = TypeVar("Part", bound=InputPartition)
PartOfFile = TypeVar("PartOfFile", bound=FilePart)


class MakesReader(Protocol):
    """Makes a reader of the options, as most readers' classes do."""

    def __call__(self, options: Mapping[str, str], /) -> DataSourceReader:
        """Return the reader of the store that *options* name."""


class TableSource(DataSource):
    """A source whose columns are the same whatever the options are."""

    source_name: ClassVar[str]
    columns: ClassVar[dict[str, str]]
    """The Arrow type of each by its name."""
    reader_type: ClassVar[MakesReader]

    @classmethod
    def name(cls) -> str:
        """Return the name for ``spark.read.format``."""
        return cls.source_name

    def schema(self) -> str:
        """Return the columns of a row."""
        return spark_schema(self.columns)

    def reader(self, schema: StructType) -> DataSourceReader:  # noqa: ARG002
        """Return the reader of the store that the options name."""
        return self.reader_type(self.options)


class TableReader(DataSourceReader, Generic[Part]):
    """Reads parts of one kind."""

    part_type: type[Part]
    part_name: str
    """What an error calls such a part."""

    @abstractmethod
    def batches_of(self, part: Part) -> Iterator[pa.RecordBatch]:
        """Yield the rows of *part*."""

    def read(self, partition: InputPartition | None) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one partition; TypeError if it is of another kind."""
        if partition is None:  # so Spark says that there are no partitions
            return
        if not isinstance(partition, self.part_type):
            raise TypeError(f"{partition!r} is not {self.part_name}")
        yield from self.batches_of(partition)


class FileReader(TableReader[PartOfFile]):
    """Reads parts each of which is in one file of the store at the option ``url``."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self.url = options["url"]

    @abstractmethod
    def batches_in(self, read_at: ReadAt, part: PartOfFile) -> Iterator[pa.RecordBatch]:
        """Yield the rows of *part*, of whose file *read_at* reads."""

    def batches_of(self, part: PartOfFile) -> Iterator[pa.RecordBatch]:
        """Yield the rows of *part*."""
        with reading(self.url, part.path) as read_at:
            yield from self.batches_in(read_at, part)


class PlacedFileReader(FileReader[PlacedFile]):
    """Reads one file a partition, whole. Options: ``url``, ``files`` (JSON)."""

    part_type = PlacedFile

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(options)
        self.files: list[tuple[str, int, int]] = json.loads(options["files"])

    def partitions(self) -> Sequence[InputPartition]:
        """Return the files."""
        return [PlacedFile(path=p, base=b, size=s) for p, b, s in self.files]
