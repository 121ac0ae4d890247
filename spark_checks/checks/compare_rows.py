"""
Comparison of single rows, where the survey's two sides of a queue differ.

The units of suspect queues are compared with the records that they point at. Damaged
records and index items are examined one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from columns.scan.log_ranges import Ranges, common, merged
from columns.scan.record_columns import Queue, QueuePart
from spark_checks.chart_data import Histogram, histograms
from spark_checks.checks.run_checks import SurveyedStore, persisted, run_checks
from spark_checks.checks.suspect_parts import suspect_parts
from spark_checks.findings import Finding
from spark_checks.invariants import extensions, queues, records
from spark_checks.invariants.index import index_items
from spark_checks.readers.index import ItemDamage
from spark_checks.readers.multi_dispatch import MultiDispatchSource
from spark_checks.tables.finding_rows import has_damage
from spark_checks.tables.predicates import in_parts, is_record
from spark_checks.tables.store_tables import (
    Tables,
    open_commit_log,
    open_extensions,
    open_index,
    open_log,
    open_units,
)

SHARED_QUEUE_INVARIANTS = ("INV-LOG-005", "INV-CQ-004", "INV-CQ-005", "INV-CQ-007")
"""Invariants whose checks must take queues shared with other topics into account.

Few stores have such queues. They are read only after one of these checks finds
something.
"""
PARTS_MAX = 1_000
"""With more suspect parts of queues, all of the log is read again."""
PLACES_MAX = 10_000
"""Most places of the log that are read one by one."""


def compare_rows(
    surveyed: SurveyedStore, *, with_charts: bool
) -> tuple[list[Finding], Mapping[str, Histogram]]:
    """Return the findings in rows, and the histograms if requested.

    No row is read if the survey found nothing suspect.
    """
    suspects = surveyed.summary.suspects(surveyed.situation)
    found = [*row_findings(surveyed, suspects), *index_findings(surveyed)]
    if not with_charts:
        return found, {}
    return found, histograms(_log_rows(surveyed, None, None))


def row_findings(surveyed: SurveyedStore, suspects: Collection[Queue]) -> list[Finding]:
    """Return the findings in suspect queues and records."""
    summary = surveyed.summary
    if not suspects and not summary.log_is_suspect:
        return []
    surveyed.progress(f"comparing queues row by row: {len(suspects)}")
    with narrowed(surveyed, suspects) as narrow:
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
    shared = in_parts(shared.distinct(), tables.parts, "inner")
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


def index_findings(surveyed: SurveyedStore) -> list[Finding]:
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
        if not disordered.isEmpty():
            pointed = disordered.selectExpr("commit_log_offset as offset").distinct()
            at_them = _records_at(surveyed, pointed)
            parts.append(index_items.seconds_unlike_record(disordered, at_them))
        return run_checks(*parts)


@contextmanager
def narrowed(surveyed: SurveyedStore, suspects: Collection[Queue]) -> Iterator[Tables]:
    """Yield the rows of suspect parts of queues, their records, and damaged records.

    Without suspects the suspect ranges of the log are read, else all of it. With few
    suspects, only rows of these leave the reader. Records of other parts at which their
    units point are then read by their places.
    """
    parts = suspect_parts(surveyed, suspects)
    session, store = surveyed.session, surveyed.store
    units = open_units(session, store, store.queue_files(), queues=parts)
    few = parts if len(parts) <= PARTS_MAX else None
    ranges = None if suspects else merged(surveyed.summary.suspect_ranges)
    narrow = Tables(
        log=in_parts(_log_rows(surveyed, ranges, few), parts, "left"),
        units=in_parts(units, parts, "inner"),
        extensions=open_extensions(session, store),
        situation=surveyed.situation,
        parts=parts,
    )
    with persisted(narrow.units, narrow.log):
        if not few:
            yield narrow
            return
        pointed = queues.expected_units(narrow).selectExpr(
            "commit_log_offset as offset"
        )
        known = narrow.log.select("offset")
        places = pointed.join(known, "offset", "left_anti").distinct()
        others = _records_at(surveyed, places)
        with persisted(others):
            log = narrow.log.unionByName(others, allowMissingColumns=True)
            yield replace(narrow, log=log)


def _log_rows(
    surveyed: SurveyedStore, ranges: Ranges | None, queues: Collection[QueuePart] | None
) -> DataFrame:
    """Return the rows of the log, all or those in *ranges*, of *queues* if given."""
    store = surveyed.store
    if ranges is not None:
        store = replace(store, parts=tuple(ranges))
    return open_commit_log(
        surveyed.session, store, surveyed.situation.delays, queues=queues
    )


def _records_at(surveyed: SurveyedStore, places: DataFrame) -> DataFrame:
    """Return the records at the offsets of *places*, read by these if they are few.

    Of many places, all that lies between the first and the last is read.
    """
    some = [row.offset for row in places.limit(PLACES_MAX + 1).collect()]
    wanted = [(place, place + 1) for place in sorted(some)]
    if len(some) > PLACES_MAX:
        first, last = places.agg(F.min("offset"), F.max("offset")).collect()[0]
        wanted = [(first, last + 1)]
    found = _log_rows(surveyed, common(wanted, surveyed.store.ranges), None)
    if len(some) > PLACES_MAX:
        found = found.join(places, "offset", "left_semi")
    return found.where(is_record())
