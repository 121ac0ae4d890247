"""
Rows that a check returns: one row per finding.
"""

from __future__ import annotations

from typing import NotRequired, TypedDict, Unpack

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.findings import Severity
from spark_checks.tables.predicates import log_file, queue_file
from spec.store.consume_queue import UNIT_SIZE

ERROR = str(Severity.ERROR)
WARNING = str(Severity.WARNING)


class Content(TypedDict):
    """Content of findings, apart from their places."""

    expected: Column
    found: Column
    message: Column
    severity: NotRequired[Column | None]
    """Error by default."""


def finding(
    rows: DataFrame,
    *,
    file: Column,
    offset: Column,
    length: Column,
    **content: Unpack[Content],
) -> DataFrame:
    """Return *rows* as findings at a place in *file*, in bytes."""
    severity = content.get("severity")
    return rows.select(
        (F.lit(ERROR) if severity is None else severity).alias("severity"),
        file.alias("file"),
        offset.cast("bigint").alias("offset"),
        length.cast("bigint").alias("length"),
        content["expected"].alias("expected"),
        content["found"].alias("found"),
        content["message"].alias("message"),
    )


def record_finding(rows: DataFrame, **content: Unpack[Content]) -> DataFrame:
    """Return *rows* of the commit log as findings at their places in it."""
    place = F.col("position")
    return finding(rows, file=log_file(), offset=place, length=F.col("size"), **content)


def unit_finding(rows: DataFrame, **content: Unpack[Content]) -> DataFrame:
    """Return *rows* of consume-queue units as findings at their places."""
    place, size = F.col("position"), F.lit(UNIT_SIZE)
    return finding(rows, file=queue_file(), offset=place, length=size, **content)


def record_message(text: str) -> Column:
    """Return a sentence about a row's record that ends with *text*."""
    return F.format_string(
        f"The record at %d (%s, queue %d, offset %d) {text}",
        *(F.col(n) for n in ("position", "topic", "queue_id", "queue_offset")),
    )
