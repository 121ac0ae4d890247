"""Column expressions that several checks share: predicates of records and units."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from columns.scan.record_columns import QueuePart
from spark_checks import counting_rules
from spark_checks.situation import Situation
from spec.integers import INT64_MIN
from spec.wire.message.topic_names import LMQ_PREFIX

QUEUE_PART = ("topic", "queue_id", "part_first")
"""Columns that a part of a queue has in common."""


def is_record() -> Column:
    """Whether a row of the log is a record."""
    return F.col("kind") == "record"


def transaction_type() -> Column:
    """Return the transaction bits of a record's system flags."""
    return F.col("system_flags").bitwiseAND(counting_rules.TRANSACTION_BITS)


def needs_unit(situation: Situation) -> Column:
    """Whether a row of the log is a record that must have a unit."""
    batch_bit = F.col("system_flags").bitwiseAND(counting_rules.BATCH_BIT)
    needed: Column = is_record() & counting_rules.needs_unit(
        transaction_type(), batch_bit
    )
    if situation.batch_topics:
        needed &= ~F.col("topic").isin(*situation.batch_topics)
    return needed


def points_at_record(situation: Situation) -> Column:
    """Whether a unit of any kind of queue must point at a record that still exists."""
    found: Column = counting_rules.needs_record(
        F.col("commit_log_offset"),
        F.col("size"),
        F.col("tags_code"),
        situation.min_offset,
    )
    return found


def needs_record(situation: Situation) -> Column:
    """Whether a unit of a topic's own queue must point at a record."""
    return points_at_record(situation) & ~F.col("topic").startswith(LMQ_PREFIX)


def into_audited_ranges(units: DataFrame, situation: Situation) -> DataFrame:
    """Return the *units* that point into audited ranges, or at a negative offset.

    No record is at such an offset.
    """
    if situation.parts is None:
        return units
    schema = "range_begin bigint, range_end bigint"
    ranges = [(INT64_MIN, 0), *situation.parts]
    known = units.sparkSession.createDataFrame(ranges, schema)
    inside = F.expr(
        "commit_log_offset >= range_begin and commit_log_offset < range_end"
    )
    return units.join(F.broadcast(known), inside, "left_semi")


def in_parts(rows: DataFrame, parts: Collection[QueuePart], how: str) -> DataFrame:
    """Return *rows* with the column part_first, by a join of the kind *how*.

    It is the first queue offset of the part that has the row.
    """
    schema = "part_topic string, part_queue int, part_first bigint, part_last bigint"
    known = rows.sparkSession.createDataFrame(list(parts), schema)
    is_in = F.expr(
        "topic = part_topic and queue_id = part_queue"
        " and queue_offset between part_first and part_last"
    )
    joined = rows.join(F.broadcast(known), is_in, how)
    return joined.drop("part_topic", "part_queue", "part_last")


def after_earlier_unit(
    missing: DataFrame, units: DataFrame, queue: Sequence[str], number: str
) -> DataFrame:
    """Return the *missing* places of queues that existed before their records.

    The previous unit, at ``unit_at``, then points before the record at ``offset``. In a
    queue that was created again later it would point behind.
    """
    earlier = (
        Window.partitionBy(*queue)
        .orderBy(number)
        .rowsBetween(Window.unboundedPreceding, -1)
    )
    return (
        missing.unionByName(units, allowMissingColumns=True)
        .withColumn("before", F.last("unit_at", ignorenulls=True).over(earlier))
        .where("before < offset")
    )
