"""
Spark data source ``rocketmq.systemtopics``: records of system topics and their results.

An audit reads it only where the survey's ledger does not balance.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from spark_checks.columns.record_columns import readable_records
from spark_checks.columns.record_scan import FileRange, ReadAt
from spark_checks.columns.system_topic_rows import (
    SYSTEM_TOPIC_COLUMNS,
    system_topic_rows,
)
from spark_checks.readers.commit_log import LogRange, LogReader
from spark_checks.readers.schemas import arrow_schema
from spark_checks.readers.table_source import TableSource

_schema = arrow_schema(SYSTEM_TOPIC_COLUMNS)


class SystemTopicReader(LogReader):
    """Reads the records of system topics in a range of the log."""

    def batches_in(self, read_at: ReadAt, part: LogRange) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one range."""
        return log_rows(read_at, part.where)


class SystemTopicSource(TableSource):
    """Reads records of system topics, with the options of ``rocketmq.commitlog``."""

    source_name = "rocketmq.systemtopics"
    columns = SYSTEM_TOPIC_COLUMNS
    reader_type = SystemTopicReader


def log_rows(read_at: ReadAt, where: FileRange) -> Iterator[pa.RecordBatch]:
    """Yield the records of system topics in a range of the log."""
    for window, found in readable_records(read_at, where):
        rows = list(system_topic_rows(window, found, base=where.base))
        if rows:
            yield pa.RecordBatch.from_pylist(rows, schema=_schema)
