"""
Spark tables of a store: records, consume-queue units, index items, configuration.

Opening a table reads nothing; a query does.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark
from pyspark.sql.datasource import DataSource

from columns.scan.record_columns import QueuePart
from spark_checks.readers.commit_log import CommitLogSource, log_options
from spark_checks.readers.config import ConfigSource
from spark_checks.readers.consume_queue import ConsumeQueueSource
from spark_checks.readers.index import IndexSource
from spark_checks.readers.queue_extension import QueueExtensionSource
from spark_checks.readers.schemas import COLUMNS, spark_schema
from spark_checks.readers.whole_files import CheckpointSource
from spark_checks.situation import Situation
from spark_checks.store_files import Store, StoreFile, listing
from spec.store.queue_extension import EXTENSION


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """Rows of a store, and its situation."""

    log: DataFrame
    units: DataFrame
    extensions: DataFrame
    situation: Situation = field(default_factory=Situation)
    shared: DataFrame | None = None
    """Places of records in queues of other topics: offset, topic, queue_id,
    queue_offset. None if they were not read."""
    parts: Sequence[QueuePart] = ()
    """Parts of queues that the rows of suspect queues are from."""


def open_commit_log(
    session: SparkSession,
    store: Store,
    delays: Mapping[int, int],
    *,
    wide: bool = False,
    queues: Collection[QueuePart] | None = None,
) -> DataFrame:
    """Return the rows of the log of *store*; *wide* fills all columns.

    With *queues*, the rows are those in these parts of queues, and wrong ones.
    """
    options = {"wide": str(wide).lower()}
    if queues is not None:
        options["queues"] = json.dumps([*queues])
    return open_log(session, store, CommitLogSource, delays=delays, **options)


def open_log(
    session: SparkSession,
    store: Store,
    source: type[DataSource],
    *,
    delays: Mapping[int, int],
    **options: str,
) -> DataFrame:
    """Return the rows that *source* reads from the audited log of *store*."""
    options = {**log_options(store), "delays": json.dumps(dict(delays)), **options}
    return open_table(session, store, source, store.commit_log, **options)


def open_table(
    session: SparkSession,
    store: Store,
    source: type[DataSource],
    files: Iterable[StoreFile],
    **options: str,
) -> DataFrame:
    """Return the rows that *source* reads from *files* of *store*."""
    session.dataSource.register(source)  # again: it takes 1 ms to 4 ms
    reader = session.read.format(source.name()).option("url", store.url)
    return reader.option("files", listing(files)).options(**options).load()


def open_index(session: SparkSession, store: Store, **options: str) -> DataFrame:
    """Return the slots and items of the index files of *store*."""
    index = open_table(session, store, IndexSource, store.index, **options)
    return _from_begin(index, store)


def open_units(
    session: SparkSession,
    store: Store,
    files: Iterable[StoreFile],
    *,
    queues: Collection[QueuePart] | None = None,
) -> DataFrame:
    """Return the units in these consume-queue *files* of *store*.

    With *queues*, the rows are those in these parts of queues.
    """
    options = {} if queues is None else {"queues": json.dumps([*queues])}
    units = open_table(session, store, ConsumeQueueSource, files, **options)
    return _from_begin(units, store)


def _from_begin(rows: DataFrame, store: Store) -> DataFrame:
    """Return the *rows* that do not point at records before the audit's begin."""
    at = F.col("commit_log_offset")
    is_later = at.isNull() | (at < 0) | (at >= store.begin)
    return rows.where(is_later) if store.begin else rows


def open_extensions(session: SparkSession, store: Store) -> DataFrame:
    """Return the units of the consume queues' extensions."""
    files = store.queue_files(EXTENSION)
    if not files:  # opening a table takes two processes
        columns = COLUMNS[QueueExtensionSource.source_name]
        return session.createDataFrame([], spark_schema(columns))
    return open_table(session, store, QueueExtensionSource, files)


def open_checkpoint(session: SparkSession, store: Store) -> DataFrame:
    """Return the checkpoint of *store*: one row, or none without the file."""
    files = [file for file in store.files if file.path == "checkpoint"]
    return open_table(session, store, CheckpointSource, files)


def open_settings(session: SparkSession, store: Store) -> DataFrame:
    """Return every value in the configuration files of *store*."""
    return open_table(session, store, ConfigSource, store.settings)
