"""
Records of system topics, and the messages that a broker made from them.

System topics hold half messages, op messages, delayed messages, retries and dead
letters (Java: TopicValidator). Their records are few, and their properties are needed.
They are read where the survey's ledger does not balance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.broker_progress import BrokerProgress
from spark_checks.situation import Situation
from spark_checks.store_files import Store
from spark_checks.tables.store_tables import open_log, open_units
from spec.wire.message.topic_names import (
    HALF_TOPIC,
    SCHEDULE_TOPIC,
)

_SAME = ("unique_key", "origin_id")
_ALIKE = ("reconsume_times", "born_at_ms", "body_crc", "body_size")
DELAYED_KEY = ("to_topic", "to_queue", *_SAME, *_ALIKE)
"""Columns that identify a delayed message after its delivery."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemTopicTables:
    """Records of system topics, and the messages delivered or committed from them."""

    records: DataFrame
    delayed: DataFrame
    """Delayed messages with their due time (due_ms).

    Messages with the same DELAYED_KEY have a rank, here and among the delivered.
    """
    delivered: DataFrame
    """Messages in their real topic and queue."""
    progress: BrokerProgress
    situation: Situation

    def of(self, topic: str) -> DataFrame:
        """Return the records of *topic*."""
        return self.records.where(F.col("topic") == topic)


def open_system_topics(session: SparkSession, store: Store) -> DataFrame:
    """Return the rows of ``rocketmq.systemtopics`` of *store*."""
    # Imported late: the driver needs this module only from here on.
    from spark_checks.readers.system_topics import SystemTopicSource

    # Each check runs tasks for each partition, so few partitions are faster.
    rows = open_log(session, store, SystemTopicSource, delays={})
    return rows.coalesce(session.sparkContext.defaultParallelism)


def system_topic_tables(
    rows: DataFrame, store: Store, progress: BrokerProgress, situation: Situation
) -> SystemTopicTables:
    """Return the tables of the checks from *rows* of ``rocketmq.systemtopics``."""
    records = rows.where(F.col("offset") >= situation.min_offset)
    files = [
        file
        for file in store.consume_queues
        if file.path.split("/")[1] == SCHEDULE_TOPIC
    ]
    due = open_units(rows.sparkSession, store, files).select(
        "commit_log_offset", F.col("tags_code").alias("due_ms")
    )
    return SystemTopicTables(
        records=records,
        delayed=_delayed(records, due),
        delivered=_delivered(records),
        progress=progress,
        situation=situation,
    )


def _delayed(records: DataFrame, due: DataFrame) -> DataFrame:
    rows = (
        records.where(F.col("topic") == SCHEDULE_TOPIC)
        .where(F.col("real_topic") != HALF_TOPIC)  # these are committed
        .join(due, F.col("offset") == F.col("commit_log_offset"), "left")
        .withColumns(
            {"to_topic": F.col("real_topic"), "to_queue": F.col("real_queue_id")}
        )
    )
    return _ranked(rows)


def _delivered(records: DataFrame) -> DataFrame:
    rows = records.where(
        (F.col("topic") == F.col("real_topic"))
        & (F.col("queue_id") == F.col("real_queue_id"))
        & (F.col("topic") != SCHEDULE_TOPIC)
    ).withColumns({"to_topic": F.col("topic"), "to_queue": F.col("queue_id")})
    return _ranked(rows)


def _ranked(rows: DataFrame) -> DataFrame:
    """Return *rows*, those with the same DELAYED_KEY numbered in order."""
    known = rows.withColumns({name: F.coalesce(name, F.lit("")) for name in _SAME})
    order = Window.partitionBy(*DELAYED_KEY).orderBy("offset")
    return known.withColumn("rank", F.row_number().over(order))


def number_of(numbers: Mapping[int, int], key: Column) -> Column:
    """Return the value of *numbers* for *key*; null without one."""
    found = F.lit(None).cast("bigint")
    for one, number in numbers.items():
        found = F.when(key == one, F.lit(number)).otherwise(found)
    return found
