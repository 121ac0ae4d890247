"""
Invariants of index items and slots, and between items and the keys of records.

An index file covers the records from its begin offset to its end offset. Records
outside all files need no items. The survey sums up both sides. Keys and items are
compared one by one only in the sections of the log whose sums differ.
"""

from __future__ import annotations

import json
from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from columns.scan.log_ranges import Ranges, common, merged
from spark_checks.checks.run_checks import SurveyedStore, persisted, run_checks
from spark_checks.findings import Finding
from spark_checks.invariants.index.index_headers import used_index_headers
from spark_checks.readers.index import ItemDamage
from spark_checks.readers.record_keys import KeySource
from spark_checks.store_files import Store
from spark_checks.tables.finding_rows import LOG_FILE, Rule, damage_rules, findings
from spark_checks.tables.predicates import is_record
from spark_checks.tables.store_tables import open_commit_log, open_index, open_log
from spec.integers import INT64_MAX
from spec.store.index_file import ITEM_SIZE, SLOT_SIZE

KEY_INVARIANTS = ("INV-INDEX-007", "INV-INDEX-008")


def key_ranges(store: Store) -> Ranges:
    """Return the ranges of the log that *store*'s index covers.

    The first record of a file may have its first keys in the file before, except at
    offset 0. The last record of a killed store may lack items. Adjacent files are one
    range.
    """
    headers = (header for _, header in used_index_headers(store))
    found: list[tuple[int, int]] = []
    for header in sorted(headers, key=lambda header: header.end_offset):
        first = header.begin_offset + 1 if header.begin_offset else 0
        begin = max(first, store.min_offset)
        if found and header.begin_offset < found[-1][1]:
            begin = found.pop()[0]
        if begin <= header.end_offset:
            found.append((begin, min(header.end_offset + 1, INT64_MAX)))
    if found and store.was_left_open:
        found[-1] = (found[-1][0], found[-1][1] - 1)
    return found if store.parts is None else common(found, store.parts)


def key_findings(surveyed: SurveyedStore) -> list[Finding]:
    """Return the findings about keys of records and items of index files."""
    summary, situation = surveyed.summary, surveyed.situation
    unlike = situation.sections.ranges(summary.unlike_sections)
    if not unlike or not surveyed.store.commit_log:
        return []
    surveyed.progress("comparing keys with the index")
    ranges = common(situation.key_ranges, unlike)
    # A range may begin with records that are not certain. Those have suspect ranges.
    suspect = merged(summary.suspect_ranges)
    near = merged([*ranges, *(one for one in suspect if common([one], ranges))])
    session, store = surveyed.session, replace(surveyed.store, parts=tuple(near))
    log = open_commit_log(session, store, situation.delays)
    damage = log.where("kind = 'damaged'").selectExpr(
        "offset as damage_begin", "offset + size as damage_end"
    )
    wanted = json.dumps(ranges)
    items = open_index(session, store, ranges=wanted)
    keys = open_log(session, store, KeySource, delays={}, ranges=wanted)
    with persisted(items, keys):
        return run_checks(
            items_without_key(items, keys, damage), missing_keys(items, keys)
        )


def items_without_key(
    items: DataFrame, keys: DataFrame, damage: DataFrame
) -> DataFrame:
    """Return the items without a record that has a key of their hash.

    Items that point into a damaged region, from damage_begin to damage_end, are left
    out, because it has a finding already.
    """
    known = keys.select(F.col("offset").alias("commit_log_offset"), "key_hash")
    inside = F.expr(
        "commit_log_offset >= damage_begin and commit_log_offset < damage_end"
    )
    rows = items.join(known, ["commit_log_offset", "key_hash"], "left_anti").join(
        F.broadcast(damage), inside, "left_anti"
    )
    return _item_findings(rows, Rule("INV-INDEX-007"))


def missing_keys(items: DataFrame, keys: DataFrame) -> DataFrame:
    """Return the records with a key that has no item."""
    there = items.select(F.col("commit_log_offset").alias("offset"), "key_hash")
    rows = (
        keys.where("is_tag = 0")
        .join(there, ["offset", "key_hash"], "left_anti")
        .groupBy("file_base", "offset")
        .agg(F.count(F.lit(1)).alias("count"), F.min("key_hash").alias("first"))
    )
    return findings(
        rows,
        Rule("INV-INDEX-008"),
        file=LOG_FILE,
        offset="offset - file_base",
        length=0,
    )


def wrong_items(items: DataFrame) -> DataFrame:
    """Return the slots and *items* that are wrong by themselves or beside others."""
    names = {
        ItemDamage.SLOT: "INV-INDEX-003",
        ItemDamage.PREVIOUS: "INV-INDEX-004",
        ItemDamage.SECONDS: "INV-INDEX-005",
        ItemDamage.HASH: "INV-INDEX-006",
        ItemDamage.PLACE: "INV-INDEX-010",
    }
    return _item_findings(items, *damage_rules(names))


def seconds_unlike_record(disordered: DataFrame, log: DataFrame) -> DataFrame:
    """Return the *disordered* items whose seconds are not those of their record.

    Of two items out of order only one is wrong, and none if the clock was put back.
    """
    times = log.where(is_record()).select(
        F.col("offset").alias("commit_log_offset"), "stored_at_ms"
    )
    due = "greatest(floor((stored_at_ms - begun_at_ms) / 1000), 0)"
    rows = (
        disordered.join(times, "commit_log_offset")
        .withColumn("due", F.expr(due))
        .where("begun_at_ms > 0 and seconds != due")
    )
    return _item_findings(rows, Rule("INV-INDEX-009"))


def _item_findings(rows: DataFrame, *rules: Rule) -> DataFrame:
    length = f"if(number is null, {SLOT_SIZE}, {ITEM_SIZE})"
    return findings(rows, *rules, file="{file}", length=length)
