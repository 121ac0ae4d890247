"""
Comparison of two stores of one commit log.

Workers compare the bytes of the common range, a piece at a time. Only differing pieces
are read as records. A log that ends earlier is behind, one that begins later has been
cleaned. Neither is a divergence.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.against import units
from spark_checks.against.common_range import Common, common_of
from spark_checks.against.differing_ranges import (
    First,
    Range,
    first_of,
    parted_at,
    ranges_of,
)
from spark_checks.against.invariants import SAME_UNITS
from spark_checks.against.messages import OneSided, Outside, one_sided, outside
from spark_checks.against.pieces import Log, Piece, cut, log_of
from spark_checks.against.reader import DifferencesSource, as_option
from spark_checks.broker_conf import BrokerConf
from spark_checks.checks.run_checks import run_checks
from spark_checks.findings import LISTED_MAX, Finding
from spark_checks.progress import Progress, silent
from spark_checks.session.session import FAILURES, failed
from spark_checks.situation import situation_of
from spark_checks.store_files import Store, list_store
from spark_checks.survey.summary import SurveySummary
from spark_checks.tables.store_tables import Tables, open_tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """One of the two stores, with its survey."""

    store: Store
    tables: Tables
    summary: SurveySummary


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Result of a comparison of two stores."""

    here: Read
    there: Read
    common: Common
    outside: tuple[Outside, Outside]
    """Records of each store before and behind the common range."""
    gaps: tuple[Piece, ...]
    """Pieces for which one side has no file."""
    first: First | None = None
    ranges: tuple[Range, ...] = ()
    changed: tuple[Row, ...] = ()
    """Listed records that both have, with different contents."""
    changed_count: int = 0
    one_sided: tuple[OneSided, ...] = ()
    unit_findings: tuple[Finding, ...] = ()


def compare_stores(
    session: SparkSession,
    url: str,
    other_url: str,
    *,
    summary: SurveySummary | None = None,
    conf: BrokerConf | None = None,
    progress: Progress = silent,
) -> Comparison:
    """Return the comparison of the store at *url* with the one at *other_url*.

    *summary* is the survey's summary of the first store, if it exists. Raises
    NotAStoreError and SparkError.
    """
    conf = conf or BrokerConf()
    store, other = list_store(url), list_store(other_url)
    try:
        here = _read(session, store, conf, progress, summary)
        there = _read(session, other, conf, progress)
        return _compared(session, here, there, progress)
    except FAILURES as error:
        raise failed(error) from error


def _read(
    session: SparkSession,
    store: Store,
    conf: BrokerConf,
    progress: Progress,
    summary: SurveySummary | None = None,
) -> Read:
    situation = situation_of(store, conf)
    tables = open_tables(session, store, situation, conf.delays)
    if summary is None:
        size = sum(file.size for file in store.files)
        progress(f"reading {size:,} bytes of the other store", size)
        # Imported late: the driver needs these modules only from here on.
        from spark_checks.survey.sums import SurveyOptions
        from spark_checks.survey.survey import survey_store

        options = SurveyOptions.of(store, situation, conf.delays)
        summary = survey_store(session.sparkContext, store, options).summary
    return Read(store=store, tables=tables, summary=summary)


def _compared(
    session: SparkSession, here: Read, there: Read, progress: Progress
) -> Comparison:
    common = common_of((here.store, here.summary), (there.store, there.summary))
    logs = log_of(here.store), log_of(there.store)
    pieces = cut(*logs, begin=common.begin, end=common.end)
    progress(f"comparing {max(common.end - common.begin, 0):,} bytes of two logs")
    rows = _differences(session, logs, common).persist()
    try:
        ranges = ranges_of(rows, pieces)
        parted = parted_at(rows) if any(one.is_parted for one in ranges) else None
        here_has, here_behind = outside(
            session, here.store, common, end=common.here_end
        )
        there_has, there_behind = outside(
            session, there.store, common, end=common.there_end
        )
        lacking = one_sided(rows, here_behind, there_behind) if ranges else []
        both = rows.where(F.col("side") == "both").orderBy("offset")
        return Comparison(
            here=here,
            there=there,
            common=common,
            outside=(here_has, there_has),
            gaps=tuple(p for p in pieces if p.here is None or p.there is None),
            first=first_of(rows) if ranges else None,
            ranges=tuple(ranges),
            changed=tuple(both.limit(LISTED_MAX).collect()) if ranges else (),
            changed_count=both.count() if ranges else 0,
            one_sided=tuple(lacking),
            unit_findings=_unit_findings(here, there, common, parted),
        )
    finally:
        rows.unpersist()


def _differences(
    session: SparkSession, logs: tuple[Log, Log], common: Common
) -> DataFrame:
    """Return the rows in which *logs* differ within the common range."""
    session.dataSource.register(DifferencesSource)
    return (
        session.read.format(DifferencesSource.name())
        .option("here", as_option(logs[0]))
        .option("there", as_option(logs[1]))
        .option("begin", str(common.begin))
        .option("end", str(common.end))
        .load()
    )


def _unit_findings(
    here: Read, there: Read, common: Common, parted: int | None
) -> tuple[Finding, ...]:
    """Return the differences of consume queues, up to the logs' divergence."""
    end = common.end if parted is None else parted
    found = units.units_of(here.tables, there.tables, begin=common.begin, end=end)
    suspects = units.suspects(found)
    if not suspects:
        return ()
    rows = units.differing_units(found, suspects)
    return tuple(run_checks(here.tables, {SAME_UNITS: lambda _tables: rows}))
