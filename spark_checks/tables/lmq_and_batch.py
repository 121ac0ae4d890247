"""
LMQs and batch consume queues, and the records that are dispatched to them.

A store does not contain the broker's settings. A record without a unit is therefore
reported only in a queue that exists. Its place must follow units of earlier records.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.situation import Situation
from spark_checks.tables.predicates import after_earlier_unit, points_at_record, within

UNIT_KEY = ("queue", "queue_id")


def records_of(records: DataFrame, kind: str) -> DataFrame:
    """Return the *records* in queues of this *kind*, one row for every such queue."""
    return records.where(F.col("kind") == kind)


def expected_units(units: DataFrame, situation: Situation) -> DataFrame:
    """Return the *units* that must point at records of the audited ranges."""
    rows = units.where(points_at_record(situation))
    if situation.parts is None:
        return rows
    return within(rows, "commit_log_offset", situation.parts)


def without_unit(records: DataFrame, units: DataFrame) -> DataFrame:
    """Return the *records* without a unit that points at them or has their offset.

    The unit before must point before them. Otherwise the queue was created again later.
    """
    places = units.select(*UNIT_KEY, "number")
    pointed = units.select(*UNIT_KEY, F.col("unit_at").alias("offset"))
    missing = records.join(places, [*UNIT_KEY, "number"], "left_anti").join(
        pointed, [*UNIT_KEY, "offset"], "left_anti"
    )
    return after_earlier_unit(missing, units, UNIT_KEY, "number")
