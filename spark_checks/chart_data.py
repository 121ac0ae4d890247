"""
Numbers for the charts of an HTML page: messages by size and by store time.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.tables.predicates import is_record

SPANS = 60
"""Spans of equal length between the first and the last store time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Histograms:
    """Messages by size and by store time."""

    sizes: dict[int, int]
    """Counts by the largest power of two not above the record's size."""
    times: list[int]
    """Counts by span."""
    first_ms: int
    last_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartData:
    """Data of the page's charts, besides the findings of an audit."""

    files: tuple[tuple[str, int, int], ...]
    """Path, start offset and size of each commit-log file."""
    log_end: int
    histograms: Histograms | None
    sampled_ranges: tuple[tuple[int, int], ...] | None = None
    """Ranges of a sample, by commit-log offset; None without a sample."""


def histograms(log: DataFrame) -> Histograms | None:
    """Return the histograms of the records of *log*; None if there are no records."""
    records = log.where(is_record())
    edges = records.agg(
        F.min("stored_at_ms").alias("first"), F.max("stored_at_ms").alias("last")
    ).collect()[0]
    if edges["first"] is None:
        return None
    width = (edges["last"] - edges["first"]) // SPANS + 1
    span = F.floor((F.col("stored_at_ms") - F.lit(edges["first"])) / width)
    rows = (
        records.groupBy(
            F.floor(F.log2("size")).alias("power"), span.cast("int").alias("span")
        )
        .count()
        .collect()
    )
    sizes: dict[int, int] = {}
    times = [0] * SPANS
    for row in rows:
        sizes[row.power] = sizes.get(row.power, 0) + row["count"]
        times[row.span] += row["count"]
    return Histograms(
        sizes=dict(sorted(sizes.items())),
        times=times,
        first_ms=edges["first"],
        last_ms=edges["last"],
    )
