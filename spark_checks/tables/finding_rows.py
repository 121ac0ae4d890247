"""
Rows that a check returns: one row per finding.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.findings import Severity
from spark_checks.tables.predicates import log_file

ERROR = str(Severity.ERROR)
WARNING = str(Severity.WARNING)


def finding(
    rows: DataFrame,
    *,
    file: Column,
    offset: Column,
    length: Column,
    expected: Column,
    found: Column,
    message: Column,
    severity: Column | None = None,
) -> DataFrame:
    """Return *rows* as findings; the default severity is error."""
    return rows.select(
        (F.lit(ERROR) if severity is None else severity).alias("severity"),
        file.alias("file"),
        offset.cast("bigint").alias("offset"),
        length.cast("bigint").alias("length"),
        expected.alias("expected"),
        found.alias("found"),
        message.alias("message"),
    )


def record_finding(
    rows: DataFrame,
    *,
    expected: Column,
    found: Column,
    message: Column,
    severity: Column | None = None,
) -> DataFrame:
    """Return *rows* of the commit log as findings at their places in it."""
    return finding(
        rows,
        severity=severity,
        file=log_file(),
        offset=F.col("position"),
        length=F.col("size"),
        expected=expected,
        found=found,
        message=message,
    )


def record_message(text: str) -> Column:
    """Return a sentence about a row's record that ends with *text*."""
    return F.format_string(
        f"The record at %d (%s, queue %d, offset %d) {text}",
        *(F.col(n) for n in ("position", "topic", "queue_id", "queue_offset")),
    )
