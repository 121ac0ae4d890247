"""
Comparison of single rows, where the survey's two sides of a queue differ.

The units of suspect queues are compared with the records that they point at. Damaged
records and index items are examined one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.chart_data import Histogram, histograms
from spark_checks.checks.run_checks import SurveyedStore, persisted, run_checks
from spark_checks.findings import Finding
from spark_checks.invariants import extensions, queues, records
from spark_checks.invariants.index import index_items
from spark_checks.invariants.records import WRONG_ROW
from spark_checks.readers.index import ItemDamage
from spark_checks.readers.multi_dispatch import MultiDispatchSource
from spark_checks.tables.finding_rows import has_damage
from spark_checks.tables.store_tables import (
    Tables,
    open_index,
    open_log,
    open_tables,
)

SHARED_QUEUE_INVARIANTS = ("INV-LOG-005", "INV-CQ-004", "INV-CQ-005")
"""Invariants whose checks must take queues shared with other topics into account.

Few stores have such queues. They are read only after one of these checks finds
something.
"""
SUSPECTS_MAX = 200
"""With more suspect queues, all queues are read again."""
SENT_MAX = 1_000_000
"""Unit offsets that are broadcast to the workers, some 40 MB."""


def compare_rows(
    surveyed: SurveyedStore, *, with_charts: bool
) -> tuple[list[Finding], Mapping[str, Histogram]]:
    """Return the findings in rows, and the histograms if requested.

    No row is read if the survey found nothing suspect.
    """
    summary, situation = surveyed.summary, surveyed.situation
    suspects = summary.suspects(situation)
    if not suspects and not summary.has_damaged_rows and not with_charts:
        return [], {}
    tables = open_tables(surveyed.session, surveyed.store, situation)
    found = [
        *row_findings(surveyed, tables, suspects),
        *index_findings(surveyed, tables),
    ]
    return found, histograms(tables.log) if with_charts else {}


def row_findings(
    surveyed: SurveyedStore, tables: Tables, suspects: Collection[tuple[str, int]]
) -> list[Finding]:
    """Return the findings in suspect queues and records."""
    summary = surveyed.summary
    if not suspects and not summary.log_is_suspect:
        return []
    surveyed.progress(f"comparing queues row by row: {len(suspects)}")
    wanted = suspects if len(suspects) <= SUSPECTS_MAX else summary.units
    units = sum(
        summary.units[queue].count for queue in wanted if queue in summary.units
    )
    narrow = narrowed(tables, suspects, is_small=units <= SENT_MAX)
    with persisted(narrow.units, narrow.log):  # the log's rows are found by units
        parts = [records.wrong_rows(narrow)] if summary.log_is_suspect else []
        if suspects:
            parts += _shared_queue_checks(narrow)
            parts += [
                queues.wrong_tags_codes(narrow),
                queues.holes(narrow),
                extensions.addresses_without_unit(narrow),
                extensions.extensions_unlike_message(narrow),
            ]
        found = run_checks(*parts)
        return _with_shared_queues(surveyed, narrow, found)


def _with_shared_queues(
    surveyed: SurveyedStore, tables: Tables, found: list[Finding]
) -> list[Finding]:
    """Return *found*, checked again where queues are shared with other topics."""
    others = [one for one in found if one.invariant.id not in SHARED_QUEUE_INVARIANTS]
    if len(others) == len(found):
        return found
    surveyed.progress("reading the queues that messages name")
    delays = surveyed.situation.delays
    records = open_log(
        surveyed.session, surveyed.store, MultiDispatchSource, delays=delays
    )
    shared = records.where("kind = 'shared'").selectExpr(
        *("offset", "queue as topic", "own_queue_id as queue_id"),
        "number as queue_offset",
    )
    shared = shared.distinct()
    with persisted(shared):
        if shared.isEmpty():
            return found
        parts = _shared_queue_checks(replace(tables, shared=shared))
        again = run_checks(*parts)
        return others + [
            one for one in again if one.invariant.id in SHARED_QUEUE_INVARIANTS
        ]


def _shared_queue_checks(tables: Tables) -> list[DataFrame]:
    """Return the rows of the checks of SHARED_QUEUE_INVARIANTS."""
    found = [records.offset_gaps(tables), queues.wrong_units(tables)]
    if tables.situation.has_queues_in_rocksdb:
        return found
    return [*found, queues.records_without_unit(tables)]


def index_findings(surveyed: SurveyedStore, tables: Tables) -> list[Finding]:
    """Return the findings in index slots and items, read a second time."""
    count = surveyed.summary.damaged_items
    if not count:
        return []
    surveyed.progress(f"reading {count:,} damaged items of the index")
    index = open_index(surveyed.session, surveyed.store)
    damaged = index.where("damage != 0")
    with persisted(damaged):
        parts = [index_items.wrong_items(damaged)]
        disordered = damaged.where(has_damage(ItemDamage.ORDER))
        if not disordered.isEmpty():  # this check needs another pass over the log
            parts.append(index_items.seconds_unlike_record(disordered, tables.log))
        return run_checks(*parts)


def narrowed(
    tables: Tables, suspects: Collection[tuple[str, int]], *, is_small: bool
) -> Tables:
    """Return the rows of suspect queues, their records, and damaged records.

    The offsets of few units are broadcast to the readers of the log. Otherwise both
    sides are shuffled.
    """
    suspected = _is_in(suspects)
    log = tables.log.withColumn("suspect", suspected)
    units = tables.units.where(suspected)
    if not suspects:
        return replace(tables, log=log.where(WRONG_ROW), units=units)
    pointed = units.selectExpr(
        "commit_log_offset as offset", "true as pointed"
    ).distinct()
    log = (
        log.join(F.broadcast(pointed) if is_small else pointed, "offset", "left")
        .where(f"{WRONG_ROW} or suspect or pointed")
        .drop("pointed")
    )
    return replace(tables, log=log, units=units)


def _is_in(suspects: Collection[tuple[str, int]]) -> Column:
    """Whether a row belongs to one of the *suspects*."""
    if len(suspects) > SUSPECTS_MAX:
        return F.lit(True)
    places = [f"{queue_id}/{topic}" for topic, queue_id in suspects]
    return F.concat_ws("/", "queue_id", "topic").isin(places)
