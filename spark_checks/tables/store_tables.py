"""
Spark tables of a store: records, consume-queue units, index items, configuration.

Opening a table reads nothing; a query does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.situation import Situation
from spark_checks.store_files import Store, StoreFile, listing

INNER_BATCH = 1 << 7
"""A record of many messages, kept in another kind of queue (since 5.0)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """Rows of a store, and its situation."""

    log: DataFrame
    units: DataFrame
    index: DataFrame
    extensions: DataFrame
    situation: Situation = field(default_factory=Situation)
    shared: DataFrame | None = None
    """Places of records in queues of other topics: offset, topic, queue_id,
    queue_offset. None if they were not read."""


def open_tables(
    session: SparkSession,
    store: Store,
    situation: Situation,
    delays: Mapping[int, int],
    *,
    wide: bool = False,
) -> Tables:
    """Return the tables of *store*; *wide* adds the columns that an audit omits."""
    _register(session)
    log = (
        session.read.format("rocketmq.commitlog")
        .option("url", store.url)
        .option("files", listing(store.commit_log))
        .option("delays", json.dumps(dict(delays)))
        .option("wide", str(wide).lower())
        .option("where", json.dumps(from_begin(store.begin)))
        .option("parts", json.dumps(store.parts))
        .load()
    )
    units = (
        session.read.format("rocketmq.consumequeue")
        .option("url", store.url)
        .option("files", listing(store.consume_queues))
        .option("partitions", str(session.sparkContext.defaultParallelism))
        .load()
    )
    index = (
        session.read.format("rocketmq.index")
        .option("url", store.url)
        .option("files", json.dumps([[file.path, file.size] for file in store.index]))
        .load()
    )
    if store.begin:
        at = F.col("commit_log_offset")
        log = log.where(F.col("offset") >= store.begin)
        index = index.where(at.isNull() | (at < 0) | (at >= store.begin))
    return Tables(
        log=log,
        units=units,
        index=index,
        extensions=open_extensions(session, store),
        situation=situation,
    )


def from_begin(begin: int) -> list[list[object]]:
    """Return the condition that selects the log from offset *begin*."""
    return [["offset", ">=", begin]] if begin else []


def open_extensions(session: SparkSession, store: Store) -> DataFrame:
    """Return the units of the consume queues' extensions."""
    return _opened(session, store, "consumequeue_ext", listing(store.extensions))


def open_multi_dispatch(
    session: SparkSession, store: Store, delays: Mapping[int, int]
) -> DataFrame:
    """Return the additional queues of the records of *store*."""
    # Imported late: the driver needs these modules only from here on.
    from spark_checks.readers.multi_dispatch import MultiDispatchSource

    session.dataSource.register(MultiDispatchSource)
    return (
        session.read.format("rocketmq.multidispatch")
        .option("url", store.url)
        .option("files", listing(store.commit_log))
        .option("delays", json.dumps(dict(delays)))
        .option("where", json.dumps(from_begin(store.begin)))
        .option("parts", json.dumps(store.parts))
        .load()
        .where(F.col("offset") >= store.begin)
    )


def shared_places(
    session: SparkSession, store: Store, delays: Mapping[int, int]
) -> DataFrame:
    """Return the places of records in queues of other topics, see :class:`Tables`."""
    rows = open_multi_dispatch(session, store, delays).where(F.col("kind") == "shared")
    return rows.select(
        "offset",
        F.col("queue").alias("topic"),
        F.col("own_queue_id").alias("queue_id"),
        F.col("number").alias("queue_offset"),
    ).distinct()


def open_checkpoint(session: SparkSession, store: Store) -> DataFrame:
    """Return the checkpoint of *store*: one row, or none without the file."""
    files = tuple(file for file in store.files if file.path == "checkpoint")
    return _opened(session, store, "checkpoint", _sizes(files))


def open_settings(session: SparkSession, store: Store) -> DataFrame:
    """Return every value in the configuration files of *store*."""
    return _opened(session, store, "config", _sizes(store.settings))


def _register(session: SparkSession) -> None:
    # Imported late: an audit of an intact store registers no source.
    from spark_checks.readers.register import register_sources

    register_sources(session)


def _opened(session: SparkSession, store: Store, name: str, files: str) -> DataFrame:
    _register(session)
    reader = session.read.format(f"rocketmq.{name}").option("url", store.url)
    return reader.option("files", files).load()


def _sizes(files: tuple[StoreFile, ...]) -> str:
    return json.dumps([[file.path, file.size] for file in files])
