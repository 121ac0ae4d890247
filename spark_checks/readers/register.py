"""Registration of the data sources in a Spark session."""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource

from spark_checks.readers.commit_log import CommitLogSource
from spark_checks.readers.config import ConfigSource
from spark_checks.readers.consume_queue import ConsumeQueueSource
from spark_checks.readers.index import IndexSource
from spark_checks.readers.queue_extension import QueueExtensionSource
from spark_checks.readers.whole_files import CheckpointSource

SOURCES: tuple[type[DataSource], ...] = (
    CommitLogSource,
    ConsumeQueueSource,
    QueueExtensionSource,
    IndexSource,
    CheckpointSource,
    ConfigSource,
)


def register_sources(session: SparkSession) -> None:
    """Register all documented sources in *session*."""
    for source in SOURCES:
        session.dataSource.register(source)
