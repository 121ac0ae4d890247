"""
Spark data source ``rocketmq.differences``: one row per difference of two logs.

A partition is several pieces of both logs, compared one after the other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql.datasource import InputPartition

from spark_checks.against.differences import DIFFERENCE_COLUMNS, differences
from spark_checks.against.pieces import Piece, cut
from spark_checks.readers.table_source import TableSource
from spark_checks.store_files import Store, StoreFile

PIECES_A_PARTITION = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces(InputPartition):
    """Adjacent pieces of two logs."""

    pieces: tuple[Piece, ...]


class DifferencesSource(TableSource[Pieces]):
    """
    Compares two commit logs. Options: ``here`` and ``there``, each a JSON list of URL
    and files, and ``begin`` and ``end``, the commit-log offsets to compare.
    """

    source_name = "rocketmq.differences"
    columns = DIFFERENCE_COLUMNS

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(options)
        self.here, self.there = (log_in(options[side]) for side in ("here", "there"))

    def partitions(self) -> Sequence[InputPartition]:
        """Return partitions of several pieces each."""
        begin, end = (int(self.options[name]) for name in ("begin", "end"))
        pieces = cut(self.here, self.there, begin=begin, end=end)
        return [
            Pieces(pieces=tuple(pieces[first : first + PIECES_A_PARTITION]))
            for first in range(0, len(pieces), PIECES_A_PARTITION)
        ]

    def batches_of(self, part: Pieces) -> Iterator[pa.RecordBatch]:
        """Yield the rows in which some pieces differ."""
        return differences(part.pieces, self.here.url, self.there.url)


def as_option(store: Store) -> str:
    """Return the commit log of *store* as an option of the data source."""
    return json.dumps([store.url, [[one.path, one.size] for one in store.commit_log]])


def log_in(option: str) -> Store:
    """Return the store with only the commit log in *option*."""
    url, files = json.loads(option)
    log = tuple(StoreFile(path=path, size=size) for path, size in files)
    return Store(url=url, files=log, directories=frozenset())
