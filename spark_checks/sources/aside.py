"""
The Spark source ``rocketmq.aside``: what a broker set aside, and what it brought back.

Each record is a row (side: aside), and so is the time at which a delayed message is due
(due), as its unit says. It is read only where a survey saw that they do not balance.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition

from spark_checks.sources.aside_columns import ASIDE_COLUMNS, aside_rows
from spark_checks.sources.commit_log import CommitLogReader, LogRange
from spark_checks.sources.consume_queue import (
    ConsumeQueueReader,
    QueueFiles,
    written_units,
)
from spark_checks.sources.record_keys import sound_records
from spark_checks.sources.record_scan import FileRange, ReadAt
from spark_checks.sources.schemas import arrow_schema
from spark_checks.sources.store_files import reading
from spark_checks.sources.table_source import TableSource

SIDE_COLUMNS: Final[dict[str, str]] = {
    "side": "string",
    **ASIDE_COLUMNS,
    "due_ms": "int64",
}
_schema = arrow_schema(SIDE_COLUMNS)


class AsideReader(DataSourceReader):
    """Reads ranges of the log, and the queues of delayed messages."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self.url = options["url"]
        self.begin = int(options.get("begin", "0"))
        begin = [["offset", ">=", self.begin]] if self.begin else []
        log = {
            "files": options["log"],
            "where": json.dumps(begin),
            "parts": options.get("parts", "null"),
        }
        queues = {
            "files": options["queues"],
            "partitions": options.get("partitions", "2"),
        }
        self.readers: tuple[DataSourceReader, ...] = (
            CommitLogReader({"url": self.url, **log}),
            ConsumeQueueReader({"url": self.url, **queues}),
        )

    def partitions(self) -> Sequence[InputPartition]:
        """Return those of the log and those of the queues."""
        return [part for reader in self.readers for part in reader.partitions()]

    def read(self, partition: InputPartition | None) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one partition."""
        if isinstance(partition, LogRange):
            with reading(self.url, partition.path) as read_at:
                yield from log_rows(read_at, partition.where, begin=self.begin)
        elif isinstance(partition, QueueFiles):
            for file, units in partition.pieces:
                with reading(self.url, file[0]) as read_at:
                    for found, _ in written_units(read_at, file, units):
                        yield _due(found)
        elif partition is not None:  # so Spark says that there are no partitions
            raise TypeError(f"{partition!r} is neither of a log nor of queues")


class AsideSource(TableSource):
    """
    Reads what was set aside. Options: ``url``; ``log`` and ``queues``, each the files
    as the source of that kind takes them; ``partitions``; ``begin``, the commit-log
    offset from which on records are of interest; ``parts`` (JSON), the ranges of the
    log that are looked at.
    """

    source_name = "rocketmq.aside"
    columns = SIDE_COLUMNS
    reader_type = AsideReader


def log_rows(
    read_at: ReadAt, where: FileRange, *, begin: int = 0
) -> Iterator[pa.RecordBatch]:
    """Yield what was set aside in a range of the log, from offset *begin* on."""
    for window, starts, found in sound_records(read_at, where):
        base = where.base + window.position
        rows = [
            {
                "side": "aside",
                **row,
                "file_base": where.base,
                "position": row["offset"] - where.base,
            }
            for row in aside_rows(window.data, found, starts, base=base)
            if row["offset"] >= begin
        ]
        if rows:
            yield pa.RecordBatch.from_pylist(rows, schema=_schema)


def _due(units: Any) -> pa.RecordBatch:
    known = {
        "side": pa.repeat(pa.scalar("due"), len(units)),
        "offset": pa.array(units["commit_log_offset"].astype(np.int64)),
        "due_ms": pa.array(units["tags_code"].astype(np.int64)),
    }
    arrays = [
        known.get(field.name, pa.nulls(len(units), field.type)) for field in _schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=_schema)
