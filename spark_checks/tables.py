"""
A store as tables: the records of its commit log, the units of its consume queues.

Nothing is read until a question is asked. The words that questions share are here
too: which records must have a unit, which units must have a record.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.sources.store_files import Store, StoreFile
from spec.integers import INT32_MAX
from spec.store.message_record import SystemFlag

INNER_BATCH = 1 << 7
"""A record of many messages, kept in another kind of queue (since 5.0)."""
LIGHT_QUEUE_PREFIX = "%LMQ%"
"""Such queues share the records of other topics (since 4.9)."""
DELAYS_DEFAULT = "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h"
"""The delay of each level (messageDelayLevel)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What an invariant must know of the store besides its rows."""

    min_offset: int = 0
    """First commit-log offset that is still there."""
    parts: tuple[tuple[int, int], ...] | None = None
    """The ranges of the log that are looked at, by their offsets; None for all."""
    log_end: int = 0
    """Commit-log offset after the last record."""
    last_file_base: int = 0
    """Offset at which the last file that has a record begins."""
    left_open: bool = False
    """A broker runs on the store, or ended without closing it."""
    queue_file_size: int = 6_000_000
    known_topics: frozenset[str] | None = None
    """Topics that have queues or a configuration; None if nobody can say."""
    other_topics: frozenset[str] = frozenset()
    """Topics whose queues are of another kind (since 5.0)."""
    delays_are_known: bool = True
    """The delay of each level is configured, not guessed."""

    @property
    def is_sampled(self) -> bool:
        """Whether only some ranges of the log are looked at."""
        return self.parts is not None

    @property
    def tail_severity(self) -> str:
        """How bad it is when only the end of a queue or log is not there."""
        return "warning" if self.left_open else "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """The rows of a store, and its situation."""

    log: DataFrame
    units: DataFrame
    index: DataFrame
    extensions: DataFrame
    situation: Situation = field(default_factory=Situation)
    shared: DataFrame | None = None
    """Where in queues of other topics a record says that it stands, with the columns
    offset, topic, queue_id, queue_offset; None if nobody has asked."""


def open_tables(
    session: SparkSession,
    store: Store,
    situation: Situation,
    delays: Mapping[int, int],
    *,
    wide: bool = False,
) -> Tables:
    """Return the tables of *store*; *wide* for the columns that an audit spares."""
    _make_known(session)
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
    """Return the conditions of a log that is looked at from *begin* on."""
    return [["offset", ">=", begin]] if begin else []


def open_extensions(session: SparkSession, store: Store) -> DataFrame:
    """Return the units of the extensions of consume queues."""
    return _opened(session, store, "consumequeue_ext", listing(store.extensions))


def open_elsewhere(
    session: SparkSession, store: Store, delays: Mapping[int, int]
) -> DataFrame:
    """Return where the records of *store* say that they stand besides."""
    # Its module imports what Spark's workers import; nothing does so earlier.
    from spark_checks.sources.elsewhere import ElsewhereSource

    session.dataSource.register(ElsewhereSource)
    return (
        session.read.format("rocketmq.elsewhere")
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
    """Return where records stand in queues of other topics, see :class:`Tables`."""
    rows = open_elsewhere(session, store, delays).where(F.col("kind") == "shared")
    return rows.select(
        "offset",
        F.col("queue").alias("topic"),
        F.col("own_queue_id").alias("queue_id"),
        F.col("number").alias("queue_offset"),
    ).distinct()


def open_checkpoint(session: SparkSession, store: Store) -> DataFrame:
    """Return the checkpoint of *store*, a row if it has one."""
    files = tuple(file for file in store.files if file.path == "checkpoint")
    return _opened(session, store, "checkpoint", _sizes(files))


def open_settings(session: SparkSession, store: Store) -> DataFrame:
    """Return every value in the files of config of *store*."""
    return _opened(session, store, "config", _sizes(store.settings))


def _make_known(session: SparkSession) -> None:
    # They import what imports this.
    from spark_checks.sources.registered import register_sources

    register_sources(session)


def _opened(session: SparkSession, store: Store, name: str, files: str) -> DataFrame:
    _make_known(session)
    reader = session.read.format(f"rocketmq.{name}").option("url", store.url)
    return reader.option("files", files).load()


def _sizes(files: tuple[StoreFile, ...]) -> str:
    return json.dumps([[file.path, file.size] for file in files])


def listing(files: tuple[StoreFile, ...]) -> str:
    """Return *files* as an option of a source."""
    return json.dumps([[file.path, file.base, file.size] for file in files])


def delay_levels(text: str) -> dict[int, int]:
    """Return the milliseconds of each level of a messageDelayLevel setting."""
    units = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
    return {
        level: int(part[:-1]) * units[part[-1]]
        for level, part in enumerate(text.split(), start=1)
    }


def is_record() -> Column:
    """Whether a row of the log is a record."""
    return F.col("kind") == "record"


def is_commit() -> Column:
    """Whether a record was committed of a half message."""
    bits = F.col("system_flags").bitwiseAND(int(SystemFlag.TRANSACTION_ROLLBACK))
    return bits == int(SystemFlag.TRANSACTION_COMMIT)


def needs_unit(situation: Situation) -> Column:
    """Whether a row of the log is a record that must have a unit."""
    rollback = int(SystemFlag.TRANSACTION_ROLLBACK)
    transaction = F.col("system_flags").bitwiseAND(rollback)
    half = transaction.isin(int(SystemFlag.TRANSACTION_PREPARED), rollback)
    batch = F.col("system_flags").bitwiseAND(INNER_BATCH) != 0
    elsewhere = F.col("topic").isin(*situation.other_topics)
    if not situation.other_topics:
        elsewhere = F.lit(False)
    return is_record() & ~half & ~batch & ~elsewhere


def is_filler() -> Column:
    """Whether a unit only fills the place of offsets before its queue's first."""
    return (
        (F.col("commit_log_offset") == 0)
        & (F.col("size") == INT32_MAX)
        & (F.col("tags_code") == 0)
    )


def needs_record(situation: Situation) -> Column:
    """Whether a unit must point at a record: no filler, and none of a deleted file."""
    offset = F.col("commit_log_offset")
    there = (offset >= situation.min_offset) | (offset < 0)
    return ~is_filler() & there & ~F.col("topic").startswith(LIGHT_QUEUE_PREFIX)


def within(
    rows: DataFrame, offset: str, ranges: Sequence[tuple[int, int]]
) -> DataFrame:
    """Return the *rows* whose *offset* is at the begin of one of *ranges* or in it."""
    schema = "range_begin bigint, range_end bigint"
    known = rows.sparkSession.createDataFrame(list(ranges), schema)
    inside = (F.col(offset) >= F.col("range_begin")) & (
        F.col(offset) < F.col("range_end")
    )
    return rows.join(F.broadcast(known), inside, "left_semi")


def log_file() -> Column:
    """Return the name of the commit-log file of a row of the log."""
    return F.format_string("commitlog/%020d", F.col("file_base"))


def queue_file() -> Column:
    """Return the name of the consume-queue file of a unit."""
    return F.format_string(
        "consumequeue/%s/%d/%020d",
        F.col("topic"),
        F.col("queue_id"),
        F.col("file_base"),
    )
