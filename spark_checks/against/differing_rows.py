"""
Queries on the rows in which two logs differ: ranges, and messages of one side.

Messages that only one store has are before, within or behind the common range.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pyspark.sql import DataFrame, Row, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.against.sides import Side
from spark_checks.tables.predicates import is_record
from spark_checks.tables.store_tables import open_commit_log
from spec.integers import INT64_MAX

_COUNTS = {"here": "here", "there": "there", "changed": "both"}
"""Side of the counted records, by the name of their number."""
IDENTITY = ("topic", "queue_id", "queue_offset", "born_at_ms", "computed_crc")
"""Columns that identify a message at any place of its record."""
_QUEUE = ("topic", "queue_id")


def first_of(rows: DataFrame) -> Row | None:
    """Return the first difference among *rows*: byte, record and both sides' values.

    ``field`` has the names of the differing fields, or ``record`` for another record.
    """
    found = rows.orderBy("at", "offset").limit(2).collect()
    if not found or found[0].side == "both":
        return found[0] if found else None
    texts = {
        one.side: f"{one.topic}, queue {one.queue_id}, offset {one.queue_offset}"
        if one.kind == "record"
        else one.kind
        for one in found
        if one.offset == found[0].offset
    }
    here, there = (texts.get(side, "no record") for side in ("here", "there"))
    place = {"at": found[0].at, "offset": found[0].offset}
    return Row(**place, field="record", found=here, expected=there)


def parted_at(rows: DataFrame) -> int:
    """Return the offset of the first different record; *rows* must have one."""
    found: int = rows.where("side != 'both'").agg({"offset": "min"}).collect()[0][0]
    return found


def ranges_of(rows: DataFrame) -> list[Row]:
    """Return the ranges of *rows*: from the first byte to the end of the last record.

    Adjacent pieces make one range. ``here`` and ``there`` count records where the other
    side has none or another, ``changed`` those with other contents at the same place.
    """
    counts = (
        F.expr(f"count_if(side = '{side}' AND kind = 'record') AS {name}")
        for name, side in _COUNTS.items()
    )
    ends = F.expr("min(at) AS begin"), F.expr("max(offset + size) AS end")
    in_order = Window.partitionBy(F.lit(0)).orderBy("piece")
    return (
        rows.groupBy("piece")
        .agg(*ends, *counts)
        .withColumn("run", F.col("piece") - F.row_number().over(in_order))
        .groupBy("run")
        .agg(
            F.min("begin").alias("begin"),
            F.max("end").alias("end"),
            *(F.sum(name).alias(name) for name in _COUNTS),
        )
        .orderBy("begin")
        .collect()
    )


def is_parted(one: Row) -> bool:
    """Return whether the logs hold different records in a range."""
    return bool(one.here + one.there)


def one_sided(
    session: SparkSession, differing: DataFrame, sides: Mapping[str, Side]
) -> list[Row]:
    """Return the messages among *differing* rows that the other side lacks, by queue.

    ``first`` and ``last`` are queue offsets, ``offset`` is the commit-log offset of the
    first of them. A message may have moved within the differing rows, or behind the
    common range.
    """
    rows = differing.where(is_record() & (F.col("side") != "both"))
    end = min(side.end for side in sides.values())
    found = []
    for name, other in (("here", "there"), ("there", "here")):
        is_own = F.col("side") == name
        store = replace(sides[other].store, parts=((end, INT64_MAX),))
        behind = open_commit_log(session, store, {}).where(is_record())
        moved = rows.where(~is_own).select(*IDENTITY)
        elsewhere = moved.unionByName(behind.select(*IDENTITY)).distinct()
        found += (
            rows.where(is_own)
            .join(elsewhere, [*IDENTITY], "left_anti")
            .groupBy("side", *_QUEUE)
            .agg(
                F.expr("count(*) AS messages"),
                F.expr("min(queue_offset) AS first"),
                F.expr("max(queue_offset) AS last"),
                F.expr("min(offset) AS offset"),
            )
            .orderBy(*_QUEUE)
            .collect()
        )
    return found
