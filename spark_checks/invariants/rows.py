"""
The shape of what a row-level invariant returns: one row a finding.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.findings import Severity

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
    """Return *rows* as findings; their severity is error unless it is given."""
    return rows.select(
        (F.lit(ERROR) if severity is None else severity).alias("severity"),
        file.alias("file"),
        offset.cast("bigint").alias("offset"),
        length.cast("bigint").alias("length"),
        expected.alias("expected"),
        found.alias("found"),
        message.alias("message"),
    )
