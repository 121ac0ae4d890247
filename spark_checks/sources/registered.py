"""
All sources, made known to a session; also one that people started themselves.
"""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource

from spark_checks.sources.checkpoint import CheckpointSource
from spark_checks.sources.commit_log import CommitLogSource
from spark_checks.sources.config import ConfigSource
from spark_checks.sources.consume_queue import ConsumeQueueSource
from spark_checks.sources.index import IndexSource
from spark_checks.sources.queue_extension import QueueExtensionSource

SOURCES: tuple[type[DataSource], ...] = (
    CommitLogSource,
    ConsumeQueueSource,
    QueueExtensionSource,
    IndexSource,
    CheckpointSource,
    ConfigSource,
)


def register_sources(session: SparkSession) -> None:
    """Let ``spark.read.format`` of *session* know the sources by their names."""
    for source in SOURCES:
        session.dataSource.register(source)
