"""
Tables of a store for SQL queries, in Spark or as Parquet files.

``messages`` has a row for every record, ``units`` one for every consume-queue unit.
``consumed`` has a row for every offset that a group has reached, ``damage`` one for
every unreadable region of the log. ``settings``, ``checkpoint`` and ``extensions`` are
those files as their readers return them. Columns are named as in the specification.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from spark_checks.broker_conf import BrokerConf
from spark_checks.config_files import consumed_path
from spark_checks.file_systems import NotAStoreError
from spark_checks.session.failures import FAILURES, failed
from spark_checks.store_files import list_store
from spark_checks.tables.store_tables import (
    open_checkpoint,
    open_commit_log,
    open_extensions,
    open_settings,
    open_units,
)

_MESSAGES = (
    "offset size topic queue_id queue_offset system_flags born_at_ms stored_at_ms"
    " born_host reconsume_times body_size"
)
_UNITS = "topic queue_id queue_offset commit_log_offset size tags_code"
_DAMAGE = "file_base position size reason"
_PAIRS = r"str_to_map(properties, '\u0002', '\u0001')"


class ExportError(Exception):
    """The tables cannot be written."""


def views_of(session: SparkSession, url: str) -> Mapping[str, DataFrame]:
    """Return the tables of the store at *url*, by name."""
    store = list_store(url)
    log = open_commit_log(session, store, BrokerConf().delays, wide=True)
    units = open_units(session, store, store.queue_files())
    settings = open_settings(session, store)
    messages = log.where("kind = 'record'").selectExpr(
        *_MESSAGES.split(),
        "body_crc = computed_crc AS is_sound",
        f"{_PAIRS}['TAGS'] AS tag",
        f"{_PAIRS}['KEYS'] AS keys",
        f"{_PAIRS}['UNIQ_KEY'] AS unique_key",
        f"{_PAIRS} AS properties",
    )
    damage = log.where("kind = 'damaged'").select(*_DAMAGE.split())
    consumed = settings.where(
        f"file = '{consumed_path(store)}' AND `table` = 'offsetTable' AND key IS NOT"
        " NULL"
    ).selectExpr(
        "substring_index(name, '@', -1) AS consumer_group",
        "substring_index(name, '@', 1) AS topic",
        "CAST(key AS int) AS queue_id",
        "number AS queue_offset",
    )
    return {
        "messages": messages,
        "units": units.select(*_UNITS.split()),
        "consumed": consumed,
        "damage": damage,
        "settings": settings,
        "checkpoint": open_checkpoint(session, store),
        "extensions": open_extensions(session, store),
    }


def register(views: Mapping[str, DataFrame]) -> None:
    """Register *views* for SQL in their session, by name."""
    for name, view in views.items():
        view.createOrReplaceTempView(name)


def check_directory(directory: Path, url: str) -> None:
    """Raise ExportError unless *directory* is empty or missing, outside the store."""
    if "://" not in url and directory.resolve().is_relative_to(Path(url).resolve()):
        raise ExportError(f"{directory} lies in the store itself")
    try:
        if directory.exists() and any(directory.iterdir()):
            raise ExportError(f"{directory} is not empty")
    except OSError as error:
        raise ExportError(f"{directory} cannot be read: {error.strerror}") from error


def export(session: SparkSession, url: str, directory: Path) -> None:
    """Write the tables of the store at *url* as Parquet below *directory*.

    Raises ExportError, or NotAStoreError for an unreadable file.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, view in views_of(session, url).items():
            # With a scheme: Hadoop may be configured for another file system.
            view.write.parquet(f"file://{directory.absolute() / name}")
    except OSError as error:
        raise ExportError(f"{directory} cannot be written: {error.strerror}") from error
    except FAILURES as error:
        found = failed(error)
        if isinstance(found, NotAStoreError):
            raise found from error
        raise ExportError(f"{directory} cannot be written: {found}") from error
