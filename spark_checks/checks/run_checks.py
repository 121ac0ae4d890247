"""
Execution of several checks in one Spark job.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import TypeVar

from pyspark.sql import DataFrame, Row, Window
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.findings import (
    LISTED_MAX,
    Finding,
    Invariant,
    Severity,
)

CheckedTables = TypeVar("CheckedTables")


def run_checks(
    tables: CheckedTables,
    checks: Mapping[Invariant, Callable[[CheckedTables], DataFrame]],
) -> list[Finding]:
    """Return the findings of *checks* in *tables*, from one job.

    A check may be that of several invariants, and of others without an entry.
    """
    by_id = {invariant.id: invariant for invariant in checks}
    parts = [check(tables) for check in dict.fromkeys(checks.values())]
    place = Window.partitionBy("invariant", "file")
    rows = (
        reduce(DataFrame.unionByName, parts)
        .where(F.col("invariant").isin(*by_id))
        .withColumn("rank", F.row_number().over(place.orderBy("offset")))
        .withColumn("total", F.count(F.lit(1)).over(place))
        .where(F.col("rank") <= LISTED_MAX)
        .collect()
    )
    return [_finding(row, by_id[row.invariant]) for row in rows]


def _finding(row: Row, invariant: Invariant) -> Finding:
    found = Finding(
        invariant=invariant,
        severity=Severity(row.severity),
        **{name: row[name] for name in _CONTENT},
    )
    more = row.total - LISTED_MAX if row["rank"] == LISTED_MAX else 0
    return found.with_more(more)


_CONTENT = ("file", "offset", "length", "expected", "found", "message")
