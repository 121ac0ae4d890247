"""
What goes on behind the topics that people send to: halves, notes, delays, retries.

Their records are few among all, and their properties are needed. They are read where a
survey's ledger of them does not balance.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.digest import Digest
from spark_checks.sources.store_files import Store, read_whole
from spark_checks.tables import Situation, listing
from spec.layout import LayoutError
from spec.wire import fastjson
from spec.wire.delay_levels import SCHEDULE_TOPIC
from spec.wire.transaction_checks import CHECK_GROUP
from spec.wire.transactions import HALF_TOPIC

_SAME = ("unique_key", "origin_id")
_ALIKE = ("reconsume_times", "born_at_ms", "body_crc", "body_size")
DELAYED_KEY = ("to_topic", "to_queue", *_SAME, *_ALIKE)
"""By what a delayed message is known again when it is delivered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backstage:
    """The records that a broker set aside, brought back or made by itself."""

    records: DataFrame
    waiting: DataFrame
    """The delayed messages that are to come out, and when they are due (due_ms).

    Here and in what arrived, those of one DELAYED_KEY have a rank, in their order.
    """
    arrived: DataFrame
    """The messages that are where they were to go."""
    delivered: Mapping[int, int]
    """Queue offset up to which each level, by its queue's number, is delivered."""
    looked: Mapping[int, int]
    """Queue offset up to which the broker is done with each queue of half messages."""
    last_ms: int
    """When the last record of the log was stored."""
    situation: Situation

    def of(self, topic: str) -> DataFrame:
        """Return the records of *topic*."""
        return self.records.where(F.col("topic") == topic)


def open_aside(session: SparkSession, store: Store) -> DataFrame:
    """Return the records of *store* that were set aside, and when delays end."""
    # Its module imports what Spark's workers import; nothing does so earlier.
    from spark_checks.sources.aside import AsideSource

    session.dataSource.register(AsideSource)
    delayed = tuple(
        file
        for file in store.consume_queues
        if file.path.split("/")[1] == SCHEDULE_TOPIC
    )
    return (
        session.read.format("rocketmq.aside")
        .option("url", store.url)
        .option("log", listing(store.commit_log))
        .option("queues", listing(delayed))
        .option("partitions", str(session.sparkContext.defaultParallelism))
        .option("begin", str(store.begin))
        .option("parts", json.dumps(store.parts))
        .load()
    )


def open_backstage(
    aside: DataFrame, store: Store, seen: Digest, situation: Situation
) -> Backstage:
    """Return what is of interest in what was set *aside* in *store*."""
    # Its module imports what Spark's workers import; nothing does so earlier.
    from spark_checks.sources.aside_columns import ASIDE_COLUMNS

    # Each check has a few tasks for each part; they are not worth many small ones.
    few = aside.coalesce(aside.sparkSession.sparkContext.defaultParallelism)
    records = few.where(
        (F.col("side") == "aside") & (F.col("offset") >= situation.min_offset)
    ).select(*ASIDE_COLUMNS)
    due = few.where(F.col("side") == "due").select(
        F.col("offset").alias("commit_log_offset"), "due_ms"
    )
    return Backstage(
        records=records,
        waiting=_waiting(records, due),
        arrived=_arrived(records),
        delivered=delivered_of(store),
        looked=looked_of(store),
        last_ms=seen.last_stored_at_ms or 0,
        situation=situation,
    )


def _waiting(records: DataFrame, due: DataFrame) -> DataFrame:
    rows = (
        records.where(F.col("topic") == SCHEDULE_TOPIC)
        .where(F.col("real_topic") != HALF_TOPIC)  # such are never brought back
        .join(due, F.col("offset") == F.col("commit_log_offset"), "left")
        .withColumns(
            {"to_topic": F.col("real_topic"), "to_queue": F.col("real_queue_id")}
        )
    )
    return _ranked(rows)


def _arrived(records: DataFrame) -> DataFrame:
    rows = records.where(
        (F.col("topic") == F.col("real_topic"))
        & (F.col("queue_id") == F.col("real_queue_id"))
        & (F.col("topic") != SCHEDULE_TOPIC)
    ).withColumns({"to_topic": F.col("topic"), "to_queue": F.col("queue_id")})
    return _ranked(rows)


def _ranked(rows: DataFrame) -> DataFrame:
    """Return *rows*, those of one key numbered in their order."""
    known = rows.withColumns({name: F.coalesce(name, F.lit("")) for name in _SAME})
    order = Window.partitionBy(*DELAYED_KEY).orderBy("offset")
    return known.withColumn("rank", F.row_number().over(order))


def number_of(numbers: Mapping[int, int], key: Column) -> Column:
    """Return the number that *numbers* has for *key*; null where it has none."""
    found = F.lit(None).cast("bigint")
    for one, number in numbers.items():
        found = F.when(key == one, F.lit(number)).otherwise(found)
    return found


def delivered_of(store: Store) -> dict[int, int]:
    """Return up to where each level of *store*, by its queue, is delivered."""
    offsets = _offsets(store, "delayOffset.json")
    return {level - 1: offset for level, offset in offsets.items()}


def looked_of(store: Store) -> dict[int, int]:
    """Return up to where a broker is done with each queue of half messages."""
    return _offsets(store, "consumerOffset.json", f"{HALF_TOPIC}@{CHECK_GROUP}")


def _offsets(store: Store, name: str, entry: str | None = None) -> dict[int, int]:
    """Return an offset table of *store*, or the *entry* of one; empty where none is."""
    file = next((f for f in store.files if f.path == f"config/{name}"), None)
    try:
        value = fastjson.loads(read_whole(store.url, file)) if file else {}
    except (LayoutError, UnicodeDecodeError):
        return {}
    table = value.get("offsetTable") if isinstance(value, dict) else None
    if entry is not None:
        table = table.get(entry) if isinstance(table, dict) else None
    pairs = table.items() if isinstance(table, dict) else ()
    return {
        int(str(key)): offset
        for key, offset in pairs
        if str(key).isdecimal() and isinstance(offset, int)
    }
