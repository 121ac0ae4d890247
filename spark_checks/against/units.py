"""
Differences between the consume queues of two stores of one log.

Each side of a queue is reduced to a count and a hash. Only queues whose hashes differ
are compared unit by unit. A queue may end earlier or begin later on one side: dispatch
lags, and files are deleted.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.against.invariants import SAME_UNITS
from spark_checks.tables.finding_rows import Rule, findings
from spark_checks.tables.predicates import needs_record, queue_file
from spark_checks.tables.store_tables import Tables
from spec.store.consume_queue import EXTENSION_ADDRESS_MAX, UNIT_SIZE
from spec.wire.message.topic_names import SCHEDULE_TOPIC

PLACE = ("topic", "queue_id", "queue_offset")
_VALUES = ("commit_log_offset", "size", "code")


@dataclass(frozen=True, slots=True, kw_only=True)
class Units:
    """Units of both stores that point into the common range."""

    here: DataFrame
    there: DataFrame


def units_of(here: Tables, there: Tables, *, begin: int, end: int) -> Units:
    """Return the units of both sides that point at records from *begin* to *end*."""
    return Units(
        here=_units(here, begin=begin, end=end),
        there=_units(there, begin=begin, end=end),
    )


def _units(tables: Tables, *, begin: int, end: int) -> DataFrame:
    """Return the units, without codes that depend on a broker's settings."""
    is_own_unit = (F.col("tags_code") <= EXTENSION_ADDRESS_MAX) | (
        F.col("topic") == SCHEDULE_TOPIC
    )
    return tables.units.where(
        needs_record(tables.situation)
        & (F.col("commit_log_offset") >= begin)
        & (F.col("commit_log_offset") < end)
    ).withColumn("code", F.when(~is_own_unit, F.col("tags_code")))


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
    """Return the units of *queues* that differ between the sides, as findings.

    A unit missing on one side counts only between that side's first and last unit.
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
    return findings(
        rows,
        Rule(
            invariant=SAME_UNITS,
            expected=_unit_text("there"),
            found=_unit_text("here"),
            message=F.format_string(
                "Unit %d of queue %d of %s differs from the other store: here %s,"
                " there %s.",
                *(
                    "queue_offset",
                    "queue_id",
                    "topic",
                    _unit_text("here"),
                    _unit_text("there"),
                ),
            ),
        ),
        file=F.coalesce(queue_file(), F.format_string("consumequeue/%s/%d", *_QUEUE)),
        offset=F.coalesce("position", F.col("queue_offset") * UNIT_SIZE),
        length=F.lit(UNIT_SIZE),
    )


_QUEUE = ("topic", "queue_id")


def _is_within(side: str) -> Column:
    """Whether a place is between the first and last unit of *side*."""
    return F.col("queue_offset").between(F.col(f"{side}_first"), F.col(f"{side}_last"))


def _is_same() -> Column:
    return F.col("here").eqNullSafe(F.col("there"))


def _unit_text(side: str) -> Column:
    """Return the unit of *side* in words."""
    code = F.coalesce(F.col(f"{side}.code").cast("string"), F.lit("(broker setting)"))
    return F.when(
        F.col(side).isNotNull(),
        F.format_string(
            "commit-log offset %d, size %d, tags code %s",
            *(f"{side}.commit_log_offset", f"{side}.size", code),
        ),
    ).otherwise(F.lit("none"))
