"""
Messages that only one of two stores has, before, within and behind the common range.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.against.sides import Side
from spark_checks.tables.predicates import is_record
from spark_checks.tables.store_tables import open_commit_log

IDENTITY = ("topic", "queue_id", "queue_offset", "born_at_ms", "computed_crc")
"""Columns that identify a message at any place of its record."""
_QUEUE = ("topic", "queue_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class OneSided:
    """Messages of one queue that one side lacks."""

    side: str
    """Side that has them."""
    topic: str
    queue_id: int
    count: int
    first: int
    """Smallest queue offset."""
    last: int
    offset: int
    """Commit-log offset of the first of them."""


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
) -> list[OneSided]:
    """Return the messages among *differing* rows that the other side lacks.

    A message may have moved within the differing rows, or behind the common range.
    """
    rows = differing.where(is_record() & (F.col("side") != "both"))
    found = []
    for side, other, behind in (
        ("here", "there", there_behind),
        ("there", "here", here_behind),
    ):
        moved = rows.where(F.col("side") == other).select(*IDENTITY)
        elsewhere = moved.unionByName(behind.select(*IDENTITY)).distinct()
        lacking = rows.where(F.col("side") == side)
        counted = (
            lacking.join(elsewhere, [*IDENTITY], "left_anti")
            .groupBy(F.lit(side).alias("side"), *_QUEUE)
            .agg(
                F.expr("count(*) AS count"),
                F.expr("min(queue_offset) AS first"),
                F.expr("max(queue_offset) AS last"),
                F.expr("min(offset) AS offset"),
            )
            .orderBy(*_QUEUE)
        )
        found += [OneSided(**row.asDict()) for row in counted.collect()]
    return found
