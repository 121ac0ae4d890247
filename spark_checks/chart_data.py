"""
Numbers for the charts of an HTML page: messages by size and by store time.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame

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


def histograms(log: DataFrame) -> Histograms | None:
    """Return the histograms of the records of *log*; None if there are no records."""
    records = log.where("kind = 'record'")
    (edges,) = records.selectExpr("min(stored_at_ms)", "max(stored_at_ms)").collect()
    first_ms, last_ms = edges
    if first_ms is None:
        return None
    width = (last_ms - first_ms) // SPANS + 1
    spans = records.selectExpr(
        "int(log2(size)) AS power",
        f"int((stored_at_ms - {first_ms}) DIV {width}) AS span",
    )
    sizes: dict[int, int] = {}
    times = [0] * SPANS
    for row in spans.groupBy("power", "span").count().collect():
        sizes[row.power] = sizes.get(row.power, 0) + row["count"]
        times[row.span] += row["count"]
    return Histograms(
        sizes=dict(sorted(sizes.items())),
        times=times,
        first_ms=first_ms,
        last_ms=last_ms,
    )
