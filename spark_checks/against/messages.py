"""
Messages that only one of two stores has, before, within and behind the common range.
"""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.against.sides import Side
from spark_checks.tables.predicates import is_record
from spark_checks.tables.store_tables import open_commit_log

IDENTITY = ("topic", "queue_id", "queue_offset", "born_at_ms", "computed_crc")
"""Columns that identify a message at any place of its record."""
_QUEUE = ("topic", "queue_id")


def with_outside(
    session: SparkSession, side: Side, *, begin: int, end: int
) -> tuple[Side, DataFrame]:
    """Return *side* with the numbers of its records outside the range of offsets.

    The records behind it are returned as rows.
    """
    files = tuple(
        file
        for file in side.store.files
        if file.directory != "commitlog"
        or (file.base or 0) < begin
        or (file.base or 0) + file.size > end
    )
    log = open_commit_log(session, replace(side.store, files=files), {})
    records = log.where(is_record())
    behind = records.where(f"offset >= {end}")
    if (side.begin, side.end) == (begin, end):
        return side, behind
    is_before = f"offset < {begin}"
    counted = (
        records.where(f"{is_before} OR offset >= {end}")
        .groupBy(
            F.expr(f"{is_before} AS is_before"),
            *(F.expr(f"if({is_before}, NULL, {name}) AS {name}") for name in _QUEUE),
        )
        .agg(F.expr("count(*) AS rows"))
        .collect()
    )
    found = replace(
        side,
        before=sum(row.rows for row in counted if row.is_before),
        behind={
            (row.topic, row.queue_id): row.rows for row in counted if not row.is_before
        },
    )
    return found, behind


def one_sided(
    differing: DataFrame, here_behind: DataFrame, there_behind: DataFrame
) -> list[Row]:
    """Return the messages among *differing* rows that the other side lacks, by queue.

    ``first`` and ``last`` are queue offsets, ``offset`` is the commit-log offset of the
    first of them. A message may have moved within the differing rows, or behind the
    common range.
    """
    rows = differing.where(is_record() & (F.col("side") != "both"))
    found = []
    for side, behind in (("here", there_behind), ("there", here_behind)):
        is_here = F.col("side") == side
        moved = rows.where(~is_here).select(*IDENTITY)
        elsewhere = moved.unionByName(behind.select(*IDENTITY)).distinct()
        found += (
            rows.where(is_here)
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
