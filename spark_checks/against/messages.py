"""
Messages that only one of two stores has, before, within and behind the common range.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.against.common_range import Common
from spark_checks.store_files import Store
from spark_checks.tables.predicates import is_record
from spark_checks.tables.store_tables import open_commit_log

IDENTITY = ("topic", "queue_id", "queue_offset", "born_at_ms", "computed_crc")
"""Columns that identify a message at any place of its record."""
Queue = tuple[str, int]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """Records of one side before and behind the common range."""

    before: int
    """Records before the other log's begin."""
    behind: Mapping[Queue, int]
    """Records of each queue behind the other log's end."""


def outside(
    session: SparkSession, store: Store, common: Common, *, end: int
) -> tuple[Outside, DataFrame]:
    """Return the records of *store* outside *common*, and those behind it as rows.

    Its log was written up to *end*.
    """
    files = tuple(
        file
        for file in store.files
        if file.directory != "commitlog"
        or (file.base or 0) < common.begin
        or (file.base or 0) + file.size > common.end
    )
    log = open_commit_log(session, replace(store, files=files), {})
    records = log.where(is_record())
    behind = records.where(F.col("offset") >= common.end)
    if store.min_offset == common.begin and end == common.end:
        return Outside(before=0, behind={}), behind
    counted = (
        records.where(
            (F.col("offset") < common.begin) | (F.col("offset") >= common.end)
        )
        .withColumn("is_before", F.col("offset") < common.begin)
        .withColumn("topic", F.when(~F.col("is_before"), F.col("topic")))
        .withColumn("queue_id", F.when(~F.col("is_before"), F.col("queue_id")))
        .groupBy("is_before", "topic", "queue_id")
        .count()
        .collect()
    )
    found = Outside(
        before=sum(row["count"] for row in counted if row.is_before),
        behind={
            (row.topic, row.queue_id): row["count"]
            for row in counted
            if not row.is_before
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
        elsewhere = _identities(rows.where(F.col("side") == other)).unionByName(
            _identities(behind)
        )
        lacking = rows.where(F.col("side") == side).join(
            elsewhere.distinct(), [*IDENTITY], "left_anti"
        )
        found += _by_queue(lacking, side)
    return found


def _identities(rows: DataFrame) -> DataFrame:
    return rows.select(*IDENTITY)


def _by_queue(rows: DataFrame, side: str) -> list[OneSided]:
    counted = rows.groupBy("topic", "queue_id").agg(
        F.count(F.lit(1)).alias("rows"),
        F.min("queue_offset").alias("first"),
        F.max("queue_offset").alias("last"),
        F.min("offset").alias("offset"),
    )
    return [
        OneSided(
            side=side,
            topic=row.topic,
            queue_id=row.queue_id,
            count=row.rows,
            first=row.first,
            last=row.last,
            offset=row.offset,
        )
        for row in counted.orderBy("topic", "queue_id").collect()
    ]
