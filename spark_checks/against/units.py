"""
Differences between the consume queues of two stores of one log.

Both sides of a queue are reduced to counts and a hash. Only queues that are not equal
are compared unit by unit. A queue may end earlier or begin later on one side: dispatch
lags, and files are deleted.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.against.invariants import SAME_UNITS
from spark_checks.against.sides import Queue
from spark_checks.tables.finding_rows import UNIT, Rule, findings
from spark_checks.tables.predicates import needs_record
from spark_checks.tables.store_tables import Tables
from spec.store.consume_queue import EXTENSION_ADDRESS_MAX, UNIT_SIZE
from spec.wire.message.topic_names import SCHEDULE_TOPIC

_QUEUE = ("topic", "queue_id")
_PLACE = (*_QUEUE, "queue_offset")
_VALUES = ("commit_log_offset", "size", "code")


def units_between(tables: Tables, *, begin: int, end: int) -> DataFrame:
    """Return the units that point at records from *begin* to *end*.

    They lack codes that depend on a broker's settings.
    """
    is_own_unit = (F.col("tags_code") <= EXTENSION_ADDRESS_MAX) | (
        F.col("topic") == SCHEDULE_TOPIC
    )
    return tables.units.where(
        needs_record(tables.situation)
        & (F.col("commit_log_offset") >= begin)
        & (F.col("commit_log_offset") < end)
    ).withColumn("code", F.when(~is_own_unit, F.col("tags_code")))


def differing_queues(here: DataFrame, there: DataFrame) -> list[Queue]:
    """Return the queues of both sides whose units are not equal."""
    side = F.col("side")
    rows = (
        here.withColumn("side", F.lit(1))
        .unionByName(there.withColumn("side", F.lit(-1)))
        .groupBy(*_QUEUE)
        .agg(
            (F.max(side) - F.min(side) > 0).alias("is_in_both"),
            F.sum(side).alias("more"),
            F.bit_xor(F.xxhash64("queue_offset", *_VALUES)).alias("hash"),
        )
        .where(F.col("is_in_both") & ((F.col("more") != 0) | (F.col("hash") != 0)))
        .collect()
    )
    return [(row.topic, row.queue_id) for row in rows]


def differing_units(
    here: DataFrame, there: DataFrame, queues: list[Queue]
) -> DataFrame:
    """Return the units of *queues* that differ between the sides, as findings.

    A unit missing on one side counts only between that side's first and last unit.
    """
    queue = Window.partitionBy(*_QUEUE)
    session = here.sparkSession
    wanted = F.broadcast(session.createDataFrame(queues, "topic string, queue_id int"))
    of_here, of_there = (
        side.join(wanted, [*_QUEUE], "left_semi").select(
            *_PLACE,
            "file_base",
            "position",
            F.struct(*_VALUES).alias(name),
            F.min("queue_offset").over(queue).alias(f"{name}_first"),
            F.max("queue_offset").over(queue).alias(f"{name}_last"),
        )
        for name, side in (("here", here), ("there", there))
    )
    both = of_here.join(
        of_there.drop("file_base", "position"), [*_PLACE], "full_outer"
    ).withColumns(
        {
            name: F.max(name).over(queue)
            for name in ("here_first", "here_last", "there_first", "there_last")
        }
    )
    is_same = F.col("here").eqNullSafe(F.col("there"))
    here_text, there_text = _unit_text("here"), _unit_text("there")
    return findings(
        both.where(_is_within("here") & _is_within("there") & ~is_same),
        Rule(
            invariant=SAME_UNITS,
            expected=there_text,
            found=here_text,
            message=f"{UNIT} differs from the other store: here {here_text},"
            f" there {there_text}.",
        ),
        file="consumequeue/{topic}/{queue_id}"
        "{coalesce('/' || lpad(file_base, 20, '0'), '')}",
        offset=f"coalesce(position, queue_offset * {UNIT_SIZE})",
        length=UNIT_SIZE,
    )


def _is_within(side: str) -> Column:
    """Whether a place is between the first and last unit of *side*."""
    return F.col("queue_offset").between(F.col(f"{side}_first"), F.col(f"{side}_last"))


def _unit_text(side: str) -> str:
    """Return the unit of *side* in words, as SQL in braces."""
    return (
        f"{{coalesce('commit-log offset ' || {side}.commit_log_offset || ', size '"
        f" || {side}.size || ', tags code ' || coalesce({side}.code,"
        " '(broker setting)'), 'none')}"
    )
