"""Histograms of an HTML page: messages by size and by store time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from pyspark.sql import DataFrame

SPANS = 60
"""Spans of equal length between the first and the last store time."""


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts side by side, and the texts at their two ends."""

    bars: Sequence[tuple[str, int]]
    """Label and count of each bar."""
    edges: tuple[str, str]


def histograms(log: DataFrame) -> Mapping[str, Histogram]:
    """Return the histograms of the records of *log* by name, none without records.

    A bar of sizes has the records from one power of two to the next.
    """
    records = log.where("kind = 'record'")
    (edges,) = records.selectExpr("min(stored_at_ms)", "max(stored_at_ms)").collect()
    first_ms, last_ms = edges
    if first_ms is None:
        return {}
    width_ms = (last_ms - first_ms) // SPANS + 1
    spans = records.selectExpr(
        "int(log2(size)) AS power",
        f"int((stored_at_ms - {first_ms}) DIV {width_ms}) AS span",
    )
    sizes: Counter[int] = Counter()
    times: Counter[int] = Counter()
    for row in spans.groupBy("power", "span").count().collect():
        sizes[row.power] += row["count"]
        times[row.span] += row["count"]
    powers = range(min(sizes), max(sizes) + 1)
    of_sizes = [(f"{1 << n:,} to {(2 << n) - 1:,} bytes", sizes[n]) for n in powers]
    begins = (_time(first_ms + n * width_ms) for n in range(SPANS))
    of_times = [(f"from {begin}", times[n]) for n, begin in enumerate(begins)]
    return {
        "sizes": Histogram(
            of_sizes, (f"{1 << powers[0]:,} bytes", f"{2 << powers[-1]:,} bytes")
        ),
        "times": Histogram(of_times, (_time(first_ms), _time(last_ms))),
    }


def _time(ms: int) -> str:
    try:
        moment = datetime.fromtimestamp(ms / 1000, tz=UTC)
    except (OverflowError, ValueError, OSError):
        return f"{ms} ms"
    return moment.isoformat(sep=" ", timespec="seconds").removesuffix("+00:00") + " UTC"
