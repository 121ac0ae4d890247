"""
What goes on behind the topics that people send to: halves, notes, delays, retries.

Their records are few among all, and their properties are needed. A survey makes rows
of them on its way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.digest import Digest
from spark_checks.sources.store_files import Store, read_whole
from spark_checks.tables import Situation
from spec.layout import LayoutError
from spec.wire import fastjson
from spec.wire.transaction_checks import CHECK_GROUP
from spec.wire.transactions import HALF_TOPIC


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
    survey: DataFrame, store: Store, seen: Digest, situation: Situation
) -> Backstage:
    """Return what is of interest in what a *survey* of *store* saw set aside."""
    # Its module imports what Spark's workers import; nothing does so earlier.
    from spark_checks.sources.aside_columns import ASIDE_COLUMNS

    # Each check has a few tasks for each part; they are not worth many small ones.
    few = survey.coalesce(survey.sparkSession.sparkContext.defaultParallelism)
    return Backstage(
        records=few.where(
            (F.col("side") == "aside") & (F.col("offset") >= situation.min_offset)
        ).select(*ASIDE_COLUMNS),
        due=few.where(F.col("side") == "due").select(
            F.col("offset").alias("commit_log_offset"), "due_ms"
        ),
        delivered={
            level - 1: offset
            for level, offset in _offsets(store, "delayOffset.json").items()
        },
        looked=_offsets(store, "consumerOffset.json", f"{HALF_TOPIC}@{CHECK_GROUP}"),
        last_ms=seen.last_stored_at_ms or 0,
        situation=situation,
    )


def number_of(numbers: Mapping[int, int], key: Column) -> Column:
    """Return the number that *numbers* has for *key*; null where it has none."""
    found = F.lit(None).cast("bigint")
    for one, number in numbers.items():
        found = F.when(key == one, F.lit(number)).otherwise(found)
    return found


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
