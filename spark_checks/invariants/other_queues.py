"""
Records, and the queues of another kind in which they stand: light queues, which share
the records of other topics, and queues of batches.

Which settings a broker has is not said in a store. So a record is missed only in a
queue that is there, between or behind units of records that were put before it.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.invariants.rows import ERROR
from spark_checks.tables import Situation, is_filler, within

UNIT_KEY = ("queue", "queue_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherQueues:
    """The units of light and batch queues, and the records that stand in them."""

    light: DataFrame
    """As the source of consume queues has them."""
    batch: DataFrame
    """As the source of batch queues has them."""
    records: DataFrame
    """A row for every place, as ``rocketmq.elsewhere`` has them."""
    situation: Situation


def records_of(tables: OtherQueues, kind: str) -> DataFrame:
    """Return the places of the records in queues of this *kind*."""
    return tables.records.where(F.col("kind") == kind)


def asked(tables: OtherQueues, units: DataFrame) -> DataFrame:
    """Return the *units* that must be of records of what is looked at."""
    at, situation = F.col("commit_log_offset"), tables.situation
    rows = units.where(~is_filler() & ((at >= situation.min_offset) | (at < 0)))
    if situation.parts is None:
        return rows
    return within(rows, "commit_log_offset", situation.parts)


def without_unit(records: DataFrame, units: DataFrame) -> DataFrame:
    """Return the *records* at which no unit points, and whose place no unit has.

    The unit before that place points before them, so that their queue has not been
    made anew since.
    """
    places = units.select(*UNIT_KEY, "number")
    pointed = units.select(*UNIT_KEY, F.col("unit_at").alias("offset"))
    missing = records.join(places, [*UNIT_KEY, "number"], "left_anti").join(
        pointed, [*UNIT_KEY, "offset"], "left_anti"
    )
    earlier = (
        Window.partitionBy(*UNIT_KEY)
        .orderBy("number")
        .rowsBetween(Window.unboundedPreceding, -1)
    )
    return (
        missing.unionByName(units, allowMissingColumns=True)
        .withColumn("before", F.last("unit_at", ignorenulls=True).over(earlier))
        .where(F.col("offset").isNotNull() & (F.col("before") < F.col("offset")))
    )


def severity_of_unit(situation: Situation) -> Column:
    """How bad a unit is that points at nothing: behind the log's end it may wait."""
    ahead = F.col("commit_log_offset") >= situation.log_end
    return F.when(ahead, situation.tail_severity).otherwise(ERROR)
