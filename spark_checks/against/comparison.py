"""
Comparison of two stores of one commit log.

Workers compare the bytes of the common range, a piece at a time. Only differing pieces
are read as records. A log that ends earlier is behind, one that begins later has been
cleaned. Neither is a divergence.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import partial

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.against import units
from spark_checks.against.differences import SCHEMA, cut, differences
from spark_checks.against.differing_rows import (
    first_of,
    is_parted,
    one_sided,
    parted_at,
    ranges_of,
)
from spark_checks.against.document import document_of
from spark_checks.against.findings import findings_of
from spark_checks.against.sides import Comparison, Side, with_outside, written_end
from spark_checks.audit import Audit
from spark_checks.broker_conf import BrokerConf
from spark_checks.checks.run_checks import run_checks
from spark_checks.findings import LISTED_MAX, in_order
from spark_checks.progress import Progress, silent
from spark_checks.session.failures import FAILURES, failed
from spark_checks.situation import situation_of
from spark_checks.store_files import Store, list_store
from spark_checks.survey.survey import survey_uncut
from spark_checks.tables.predicates import needs_record
from spark_checks.tables.store_tables import open_units

PIECES_A_TASK = 8


def compare_stores(
    session: SparkSession,
    url: str,
    other_url: str,
    *,
    audit: Audit | None = None,
    conf: BrokerConf | None = None,
    progress: Progress = silent,
) -> Comparison:
    """Return the comparison of the store at *url* with the one at *other_url*.

    *audit* is that of the first store, if it exists. Raises NotAStoreError and
    SparkError.
    """
    conf = conf or BrokerConf()
    store, other = list_store(url), list_store(other_url)
    try:
        here = _side(session, store, conf, progress, audit)
        there = _side(session, other, conf, progress)
        return _compared(session, here, there, progress)
    except FAILURES as error:
        raise failed(error) from error


def compared_with(
    session: SparkSession,
    audit: Audit,
    urls: tuple[str, str],
    *,
    conf: BrokerConf,
    only: Collection[str],
    progress: Progress,
) -> Audit:
    """Return *audit*, of the first of *urls*, with its comparison to the second.

    Raises NotAStoreError and SparkError.
    """
    compared = compare_stores(session, *urls, audit=audit, conf=conf, progress=progress)
    found = findings_of(compared)
    wanted = [one for one in found if not only or one.invariant.id in only]
    return replace(
        audit,
        findings=tuple(in_order([*wanted, *audit.findings])),
        against=document_of(compared, found),
    )


def _side(
    session: SparkSession,
    store: Store,
    conf: BrokerConf,
    progress: Progress,
    audit: Audit | None = None,
) -> Side:
    situation = replace(situation_of(store, conf), needs_system_topics=False)
    if audit is not None:
        store = replace(store, cut_at=audit.listing.cut_at)
        summary = audit.survey_summary
    else:
        size = sum(file.size for file in store.files)
        progress(f"reading {size:,} bytes of the other store", size)
        store, survey = survey_uncut(session.sparkContext, store, situation)
        summary = survey.summary
    of_queues = open_units(session, store, store.queue_files())
    of_records = of_queues.where(needs_record(situation))
    end = written_end(store, summary)
    return Side(store=store, units=of_records, summary=summary, end=end)


def _compared(
    session: SparkSession, here: Side, there: Side, progress: Progress
) -> Comparison:
    begin, end = max(here.begin, there.begin), min(here.end, there.end)
    pieces = cut(here.store, there.store, begin=begin, end=end)
    progress(f"comparing {max(end - begin, 0):,} bytes of two logs")
    of_pieces = session.sparkContext.parallelize(
        pieces, max(len(pieces) // PIECES_A_TASK, 1)
    ).flatMap(partial(differences, urls=(here.store.url, there.store.url)))
    rows = session.createDataFrame(of_pieces, SCHEMA, verifySchema=False).persist()
    try:
        ranges = ranges_of(rows)
        units_end = parted_at(rows) if any(map(is_parted, ranges)) else end
        here, there = (
            with_outside(session.sparkContext, side, begin=begin, end=end)
            for side in (here, there)
        )
        of_both = units.units_of(here.units, there.units, begin=begin, end=units_end)
        queues = units.differing_queues(of_both)
        sides = {"here": here, "there": there}
        lacking = one_sided(session, rows, sides) if ranges else []
        both = rows.where(F.col("side") == "both").orderBy("offset")
        return Comparison(
            here=here,
            there=there,
            begin=begin,
            end=end,
            gaps=tuple(p for p in pieces if p.here is None or p.there is None),
            first=first_of(rows) if ranges else None,
            ranges=tuple(ranges),
            changed=tuple(both.limit(LISTED_MAX).collect()) if ranges else (),
            changed_count=both.count() if ranges else 0,
            one_sided=tuple(lacking),
            unit_findings=run_checks(units.differing_units(of_both, queues))
            if queues
            else (),
        )
    finally:
        rows.unpersist()
