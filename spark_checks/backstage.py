"""
What goes on behind the topics that people send to: halves, notes, delays, retries.

Their records are few among all, and their properties are needed, so they are a table
of their own, read only where the first pass saw such topics.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.digest import Digest
from spark_checks.sources.store_files import Store, StoreFile, queue_of, read_whole
from spark_checks.tables import Situation
from spec.layout import LayoutError
from spec.wire import fastjson
from spec.wire.delay_levels import SCHEDULE_TOPIC
from spec.wire.transaction_checks import CHECK_GROUP
from spec.wire.transactions import HALF_TOPIC

Ranges = list[tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Backstage:
    """The records that a broker set aside, brought back or made by itself."""

    records: DataFrame
    due: DataFrame
    """When each delayed message is due: commit_log_offset, due_ms."""
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


def open_backstage(
    session: SparkSession,
    store: Store,
    seen: Digest,
    situation: Situation,
    *,
    ranges: Ranges,
) -> tuple[DataFrame, Backstage]:
    """Return the table of a second look at *store*, and what is in it of interest.

    Of records in *ranges* the table has sums of their keys, too.
    """
    table = second_look(session, store, "rocketmq.setaside", ranges)
    backstage = Backstage(
        records=table.where(
            (F.col("kind") == "record") & (F.col("offset") >= situation.min_offset)
        ),
        due=_due(session, store),
        delivered={
            level - 1: offset
            for level, offset in _offsets(store, "delayOffset.json").items()
        },
        looked=_offsets(store, "consumerOffset.json", f"{HALF_TOPIC}@{CHECK_GROUP}"),
        last_ms=seen.last_stored_at_ms or 0,
        situation=situation,
    )
    return table, backstage


def _due(session: SparkSession, store: Store) -> DataFrame:
    """Return when each delayed message of *store* is due, as its unit says."""
    files = [f for f in store.consume_queues if _is_of(f, SCHEDULE_TOPIC)]
    if not files:
        return session.createDataFrame([], "commit_log_offset bigint, due_ms bigint")
    units = (
        session.read.format("rocketmq.consumequeue")
        .option("url", store.url)
        .option("files", listing(files))
        .load()
    )
    return units.select("commit_log_offset", F.col("tags_code").alias("due_ms"))


def second_look(
    session: SparkSession, store: Store, source: str, ranges: Ranges
) -> DataFrame:
    """Return the rows of *source*, one of those that read properties."""
    # Its module imports what Spark's workers import; nothing does so earlier.
    from spark_checks.sources.set_aside import KeySource, SetAsideSource

    session.dataSource.register(SetAsideSource)
    session.dataSource.register(KeySource)
    return (
        session.read.format(source)
        .option("url", store.url)
        .option("files", listing(store.commit_log))
        .option("ranges", json.dumps(ranges))
        .load()
    )


def listing(files: tuple[StoreFile, ...] | list[StoreFile]) -> str:
    """Return *files* as an option of a source."""
    return json.dumps([[file.path, file.base, file.size] for file in files])


def number_of(numbers: Mapping[int, int], key: Column) -> Column:
    """Return the number that *numbers* has for *key*; null where it has none."""
    found = F.lit(None).cast("bigint")
    for one, number in numbers.items():
        found = F.when(key == one, F.lit(number)).otherwise(found)
    return found


def _is_of(file: StoreFile, topic: str) -> bool:
    queue = queue_of(file.path)
    return queue is not None and queue[0] == topic


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
