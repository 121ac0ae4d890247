"""
Execution of several checks in one Spark job, and the surveyed store that checks take.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce

from pyspark import SparkContext
from pyspark.sql import DataFrame, Row, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.findings import INVARIANTS, LISTED_MAX, TEXTS, Finding, Severity
from spark_checks.progress import Progress
from spark_checks.session.session import session_of
from spark_checks.situation import Situation
from spark_checks.store_files import Store
from spark_checks.survey.ledger import Ledger
from spark_checks.survey.summary import SurveySummary


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyedStore:
    """A store with the result of its survey, and the options of the audit."""

    context: SparkContext
    store: Store
    summary: SurveySummary
    """Sums of the survey."""
    ledger: Ledger
    """Rows of the survey about system topics."""
    situation: Situation
    progress: Progress
    requested: Collection[str]
    """Ids of the invariants to check."""

    @property
    def session(self) -> SparkSession:
        """Session for tables, which Java makes at the first access."""
        return session_of(self.context)


def run_checks(*parts: DataFrame) -> list[Finding]:
    """Return the findings in *parts*, the rows of several checks, from one job."""
    place = Window.partitionBy("invariant", "file")
    rows = (
        reduce(DataFrame.unionByName, parts)
        .withColumn("rank", F.row_number().over(place.orderBy("offset")))
        .withColumn("total", F.count(F.lit(1)).over(place))
        .where(F.col("rank") <= LISTED_MAX)
        .collect()
    )
    return list(map(_finding, rows))


@contextmanager
def persisted(*tables: DataFrame) -> Iterator[None]:
    """Cache the rows of *tables*, from their first use to the end."""
    for table in tables:
        table.persist()
    try:
        yield
    finally:
        for table in tables:
            table.unpersist()


def _finding(row: Row) -> Finding:
    found = Finding(
        invariant=INVARIANTS[row.invariant],
        severity=Severity(row.severity),
        **{name: row[name] for name in ("file", "offset", "length", *TEXTS)},
    )
    more = row.total - LISTED_MAX if row["rank"] == LISTED_MAX else 0
    return found.with_more(more)
