"""
The Spark source ``rocketmq.differences``: a row for what two commit logs differ in.

A partition is some pieces of both logs, compared one after the other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from spark_checks.against.differences import DIFFERENCES, differences
from spark_checks.against.pieces import Log, Piece, cut
from spark_checks.sources.store_files import StoreFile

PIECES_A_PARTITION = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces(InputPartition):
    """Neighbouring pieces of two logs."""

    pieces: tuple[Piece, ...]


class DifferencesSource(DataSource):
    """
    Compares two commit logs. Options: ``here`` and ``there``, each a JSON list of URL
    and files, and ``begin`` and ``end``, the commit-log offsets to compare.
    """

    @classmethod
    def name(cls) -> str:
        """Return the name for ``spark.read.format``."""
        return "rocketmq.differences"

    def schema(self) -> str:
        """Return the columns of a row."""
        return DIFFERENCES

    def reader(self, schema: StructType) -> DataSourceReader:  # noqa: ARG002
        """Return the reader of the logs that the options name."""
        return DifferencesReader(self.options)


class DifferencesReader(DataSourceReader):
    """Cuts two logs into pieces, and compares some."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self.here, self.there = (log_in(options[side]) for side in ("here", "there"))
        self.begin, self.end = int(options["begin"]), int(options["end"])

    def partitions(self) -> Sequence[InputPartition]:
        """Return the pieces of both logs, some in each."""
        pieces = cut(self.here, self.there, begin=self.begin, end=self.end)
        return [
            Pieces(pieces=tuple(pieces[first : first + PIECES_A_PARTITION]))
            for first in range(0, len(pieces), PIECES_A_PARTITION)
        ]

    def read(self, partition: InputPartition | None) -> Iterator[pa.RecordBatch]:
        """Yield the rows in which some pieces differ."""
        if partition is None:  # so Spark says that there are no partitions
            return
        if not isinstance(partition, Pieces):
            raise TypeError(f"{partition!r} is not pieces of two logs")
        yield from differences(partition.pieces)


def as_option(log: Log) -> str:
    """Return *log* as an option of the source."""
    return json.dumps([log.url, [[file.path, file.size] for file in log.files]])


def log_in(option: str) -> Log:
    """Return the log that *option* says."""
    url, files = json.loads(option)
    return Log(
        url=url, files=tuple(StoreFile(path=path, size=size) for path, size in files)
    )
