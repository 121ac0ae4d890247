"""
Comparison of keys with the items of index files, where their sums differ.
"""

from __future__ import annotations

import json
from collections.abc import Collection

from pyspark.sql import DataFrame

from spark_checks.checks.run_checks import SurveyedStore, persisted, run_checks
from spark_checks.findings import Finding
from spark_checks.invariants.index import index_keys
from spark_checks.readers.log_part import Ranges
from spark_checks.readers.record_keys import KeySource
from spark_checks.store_files import Store
from spark_checks.tables.predicates import within
from spark_checks.tables.store_tables import open_commit_log, open_index, open_log

KEY_INVARIANTS = ("INV-INDEX-007", "INV-INDEX-008")


def key_ranges(store: Store, only: Collection[str] = ()) -> Ranges:
    """Return the ranges of *store* in which the survey must sum up keys."""
    wants_keys = not only or any(one in only for one in KEY_INVARIANTS)
    return index_keys.ranges_of(store) if wants_keys else []


def key_findings(surveyed: SurveyedStore) -> list[Finding]:
    """Return the findings about keys of records and items of index files."""
    if surveyed.summary.is_index_complete or not surveyed.store.commit_log:
        return []
    surveyed.progress("comparing keys with the index")
    session, store = surveyed.session, surveyed.store
    log = open_commit_log(session, store, surveyed.situation.delays)
    damage = log.where("kind = 'damaged'").selectExpr(
        "offset as damage_begin", "offset + size as damage_end"
    )
    items = within(
        open_index(session, store).where("number is not null"),
        "commit_log_offset",
        surveyed.situation.key_ranges,
    )
    keys = _keys(surveyed)
    with persisted(items, keys):
        return run_checks(
            index_keys.items_without_key(items, keys, damage),
            index_keys.missing_keys(items, keys),
        )


def _keys(surveyed: SurveyedStore) -> DataFrame:
    """Return every key of the records whose keys the survey summed up."""
    ranges = json.dumps(surveyed.situation.key_ranges)
    session, store = surveyed.session, surveyed.store
    return open_log(session, store, KeySource, delays={}, ranges=ranges)
