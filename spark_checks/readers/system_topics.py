"""
Spark data source ``rocketmq.systemtopics``: records of system topics and their results.

A row is a record (side: record), or the due time in a delayed message's unit (side:
due). An audit reads it only where the survey's ledger does not balance.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition

from spark_checks.columns.record_scan import FileRange, ReadAt
from spark_checks.columns.system_topic_rows import (
    SYSTEM_TOPIC_COLUMNS,
    system_topic_rows,
)
from spark_checks.readers.commit_log import CommitLogReader, LogRange
from spark_checks.readers.consume_queue import (
    ConsumeQueueReader,
    QueueFiles,
    written_units,
)
from spark_checks.readers.record_keys import readable_records
from spark_checks.readers.schemas import arrow_schema
from spark_checks.readers.table_source import TableSource
from spark_checks.store_files import reading

SIDE_COLUMNS: Final[dict[str, str]] = {
    "side": "string",
    **SYSTEM_TOPIC_COLUMNS,
    "due_ms": "int64",
}
_schema = arrow_schema(SIDE_COLUMNS)


class SystemTopicReader(DataSourceReader):
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
        """Return the partitions of the log and of the delay queues."""
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
        elif partition is not None:  # Spark's value for no partitions
            raise TypeError(f"{partition!r} is neither of a log nor of queues")


class SystemTopicSource(TableSource):
    """Reads records of system topics.

    Options: ``url``, ``log`` and ``queues`` (files in JSON), ``partitions``, ``begin``
    (first commit-log offset) and ``parts`` (JSON, audited ranges).
    """

    source_name = "rocketmq.systemtopics"
    columns = SIDE_COLUMNS
    reader_type = SystemTopicReader


def log_rows(
    read_at: ReadAt, where: FileRange, *, begin: int = 0
) -> Iterator[pa.RecordBatch]:
    """Yield the records of system topics in a range of the log, from offset *begin*."""
    for window, starts, found in readable_records(read_at, where):
        base = where.base + window.position
        rows = [
            {
                "side": "record",
                **row,
                "file_base": where.base,
                "position": row["offset"] - where.base,
            }
            for row in system_topic_rows(window.data, found, starts, base=base)
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
