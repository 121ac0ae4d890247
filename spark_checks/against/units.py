"""
Where the consume queues of two stores of one log are not the same.

Both sides of every queue are boiled down to a count and a hash first; only queues in
which these differ are compared unit by unit. A queue that merely ends earlier, or
begins later, is none of them: units are made after the record, and files are deleted.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.invariants.rows import finding
from spark_checks.sources.record_columns import SCHEDULE_TOPIC
from spark_checks.tables import Tables, needs_record, queue_file
from spec.store.consume_queue import EXTENSION_ADDRESS_MAX, UNIT_SIZE

PLACE = ("topic", "queue_id", "queue_offset")
_VALUES = ("commit_log_offset", "size", "code")


@dataclass(frozen=True, slots=True, kw_only=True)
class Units:
    """The units of both stores that point into the part both should have."""

    here: DataFrame
    there: DataFrame


def units_of(here: Tables, there: Tables, *, begin: int, end: int) -> Units:
    """Return the units of both sides that point at records from *begin* to *end*."""
    return Units(
        here=_units(here, begin=begin, end=end),
        there=_units(there, begin=begin, end=end),
    )


def _units(tables: Tables, *, begin: int, end: int) -> DataFrame:
    """Return the units; the code that one broker may set otherwise is left out."""
    is_own = (F.col("tags_code") <= EXTENSION_ADDRESS_MAX) | (
        F.col("topic") == SCHEDULE_TOPIC.decode()
    )
    return tables.units.where(
        needs_record(tables.situation)
        & (F.col("commit_log_offset") >= begin)
        & (F.col("commit_log_offset") < end)
    ).withColumn("code", F.when(~is_own, F.col("tags_code")))


def suspects(units: Units) -> list[tuple[str, int]]:
    """Return the queues whose two sides are not equal."""
    sides = [
        side.groupBy("topic", "queue_id").agg(
            F.count(F.lit(1)).alias(f"{name}_rows"),
            F.bit_xor(F.xxhash64("queue_offset", *_VALUES)).alias(f"{name}_hash"),
        )
        for name, side in (("here", units.here), ("there", units.there))
    ]
    rows = (
        sides[0]
        .join(sides[1], ["topic", "queue_id"])
        .where(
            (F.col("here_rows") != F.col("there_rows"))
            | (F.col("here_hash") != F.col("there_hash"))
        )
        .select("topic", "queue_id")
        .collect()
    )
    return [(row.topic, row.queue_id) for row in rows]


def differing_units(units: Units, queues: list[tuple[str, int]]) -> DataFrame:
    """Return the units of *queues* that are not the same on both sides, as findings.

    Of what one side lacks only holes count: places before its last unit, and behind
    its first.
    """
    queue = Window.partitionBy(*_QUEUE)
    session = units.here.sparkSession
    wanted = F.broadcast(session.createDataFrame(queues, "topic string, queue_id int"))
    here, there = (
        side.join(wanted, [*_QUEUE], "left_semi").select(
            *PLACE,
            "file_base",
            "position",
            F.struct(*_VALUES).alias(name),
            F.min("queue_offset").over(queue).alias(f"{name}_first"),
            F.max("queue_offset").over(queue).alias(f"{name}_last"),
        )
        for name, side in (("here", units.here), ("there", units.there))
    )
    both = here.join(
        there.drop("file_base", "position"), [*PLACE], "full_outer"
    ).withColumns(
        {
            name: F.max(name).over(queue)
            for name in ("here_first", "here_last", "there_first", "there_last")
        }
    )
    rows = both.where(_is_within("here") & _is_within("there") & ~_is_same())
    return finding(
        rows,
        file=F.coalesce(queue_file(), F.format_string("consumequeue/%s/%d", *_QUEUE)),
        offset=F.coalesce("position", F.col("queue_offset") * UNIT_SIZE),
        length=F.lit(UNIT_SIZE),
        expected=_says("there"),
        found=_says("here"),
        message=F.format_string(
            "Unit %d of queue %d of %s is not the same in the other store: here %s,"
            " there %s.",
            *(F.col(name) for name in ("queue_offset", "queue_id", "topic")),
            _says("here"),
            _says("there"),
        ),
    )


_QUEUE = ("topic", "queue_id")


def _is_within(side: str) -> Column:
    """Whether a place is where *side* has units before and behind."""
    return F.col("queue_offset").between(F.col(f"{side}_first"), F.col(f"{side}_last"))


def _is_same() -> Column:
    return F.col("here").eqNullSafe(F.col("there"))


def _says(side: str) -> Column:
    """Return what *side* has, in words."""
    code = F.coalesce(F.col(f"{side}.code").cast("string"), F.lit("(its own)"))
    return F.when(
        F.col(side).isNotNull(),
        F.format_string(
            "commit-log offset %d, size %d, tags code %s",
            f"{side}.commit_log_offset",
            f"{side}.size",
            code,
        ),
    ).otherwise(F.lit("nothing"))
