"""
All sources, made known to a session; also one that people started themselves.
"""

from __future__ import annotations

from weakref import WeakSet

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


_sessions: WeakSet[SparkSession] = WeakSet()
"""Those that know them."""


def register_sources(session: SparkSession) -> None:
    """Let ``spark.read.format`` of *session* know the sources by their names, once."""
    if session not in _sessions:
        for source in SOURCES:
            session.dataSource.register(source)
        _sessions.add(session)
