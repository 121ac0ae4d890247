"""
Checks of message properties: transactions, delays, send-backs and index keys.

The survey sums up the keys and keeps a ledger of system topics. Records are read again
only where the ledger does not balance. Keys are compared with index items only where
their sums differ. The survey omits both if no requested invariant needs them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.broker_progress import BrokerProgress, broker_progress
from spark_checks.checks.run_checks import SurveyedStore, run_checks
from spark_checks.findings import Finding, Invariant
from spark_checks.invariants import delays, retries, transactions
from spark_checks.invariants.index import index_keys
from spark_checks.invariants.index.index_keys import KEY_CHECKS, KeyTables
from spark_checks.store_files import Store
from spark_checks.survey.summary import Ranges, SurveySummary
from spark_checks.tables.store_tables import open_commit_log, open_index, open_log
from spark_checks.tables.system_topics import (
    SystemTopicTables,
    open_system_topics,
    system_topic_tables,
)
from spec.wire.message.topic_names import (
    DLQ_PREFIX,
    HALF_TOPIC,
    OP_TOPIC,
    RETRY_PREFIX,
    SCHEDULE_TOPIC,
)

SystemTopicCheck = Callable[[SystemTopicTables], DataFrame]
SYSTEM_TOPIC_CHECKS: Mapping[Invariant, SystemTopicCheck] = {
    transactions.OP_NAMES_HALF: transactions.ops_without_half,
    transactions.COMMIT_OF_HALF: transactions.commits_unlike_half,
    transactions.COMMIT_ONCE: transactions.duplicate_commits,
    transactions.DECIDED: transactions.undecided_halves,
    delays.DELIVERED: delays.missing_deliveries,
    delays.DELIVERED_ONCE: delays.duplicate_deliveries,
    delays.NOT_BEFORE_ITS_TIME: delays.early_deliveries,
    retries.NAMES_ORIGIN: retries.retries_without_origin,
    retries.DEAD_LETTER_NAMES_TOPIC: retries.dead_letters_without_topic,
}
_ABOUT_TOPIC: Mapping[Invariant, str] = {
    transactions.OP_NAMES_HALF: OP_TOPIC,
    transactions.DECIDED: HALF_TOPIC,
    delays.DELIVERED: SCHEDULE_TOPIC,
    delays.DELIVERED_ONCE: SCHEDULE_TOPIC,
    delays.NOT_BEFORE_ITS_TIME: SCHEDULE_TOPIC,
    retries.NAMES_ORIGIN: RETRY_PREFIX,
    retries.DEAD_LETTER_NAMES_TOPIC: DLQ_PREFIX,
}
"""Prefix of the topics that an invariant needs.

The invariants about commits are not listed, because commits are in any topic.
"""
PROPERTY_CHECKS: tuple[Invariant, ...] = (*SYSTEM_TOPIC_CHECKS, *KEY_CHECKS)
"""Invariants of this module."""


def system_topic_checks(
    summary: SurveySummary, only: Collection[str] = ()
) -> Mapping[Invariant, SystemTopicCheck]:
    """Return the requested checks that may find something after the survey.

    *only* holds ids of invariants; empty requests all.
    """
    return {
        invariant: check
        for invariant, check in SYSTEM_TOPIC_CHECKS.items()
        if (not only or invariant.id in only) and _may_be_broken(invariant, summary)
    }


def _may_be_broken(invariant: Invariant, summary: SurveySummary) -> bool:
    begin = _ABOUT_TOPIC.get(invariant)
    if begin is None:
        return summary.commits > 0
    return any(topic.startswith(begin) for topic, _ in summary.records)


def key_ranges(store: Store, only: Collection[str] = ()) -> Ranges:
    """Return the ranges of *store* in which the survey must sum up keys."""
    wants_keys = not only or any(one.id in only for one in KEY_CHECKS)
    return index_keys.ranges_of(store) if wants_keys else []


def needs_system_topics(only: Collection[str] = ()) -> bool:
    """Return whether a requested check needs the ledger."""
    return not only or any(one.id in only for one in SYSTEM_TOPIC_CHECKS)


def property_findings(surveyed: SurveyedStore) -> list[Finding]:
    """Return the findings about properties, and about records made from them."""
    if not surveyed.store.commit_log:
        return []
    found: list[Finding] = []
    checks = _checks_not_balanced(
        surveyed, system_topic_checks(surveyed.summary, surveyed.only)
    )
    if checks:
        surveyed.progress("comparing records of system topics")
        found += _system_topic_findings(surveyed, checks)
    if surveyed.ranges and not surveyed.summary.is_index_complete:
        surveyed.progress("comparing keys with the index")
        found += _key_findings(surveyed)
    return found


def _checks_not_balanced(
    surveyed: SurveyedStore, checks: Mapping[Invariant, SystemTopicCheck]
) -> Mapping[Invariant, SystemTopicCheck]:
    """Return the *checks* that the ledger does not settle."""
    from spark_checks.checks import balance

    if not checks:
        return checks
    progress = _progress(surveyed)
    balances: Mapping[str, balance.Balance] = {
        transactions.__name__: balance.transactions_balance,
        delays.__name__: balance.delays_balance,
        retries.__name__: balance.send_backs_balance,
    }
    modules = {check.__module__ for check in checks.values()}
    open_ones = {
        name for name in modules if not balances[name](surveyed.ledger, progress)
    }
    # The ledger computes due times from records, a unit may hold another.
    suspects = surveyed.summary.suspects(surveyed.situation)
    if any(topic == SCHEDULE_TOPIC for topic, _ in suspects):
        open_ones.add(delays.__name__)
    return {
        invariant: check
        for invariant, check in checks.items()
        if check.__module__ in open_ones
    }


def _progress(surveyed: SurveyedStore) -> BrokerProgress:
    last_ms = surveyed.summary.last_stored_at_ms or 0
    return broker_progress(surveyed.store, surveyed.situation.min_offset, last_ms)


def _system_topic_findings(
    surveyed: SurveyedStore, checks: Mapping[Invariant, SystemTopicCheck]
) -> list[Finding]:
    """Return the findings of *checks*; shared tables are computed once."""
    rows = open_system_topics(surveyed.session, surveyed.store).persist()
    tables = system_topic_tables(
        rows, surveyed.store, _progress(surveyed), surveyed.situation
    )
    needs_delays = any(_ABOUT_TOPIC.get(one) == SCHEDULE_TOPIC for one in checks)
    kept = [tables.delayed, tables.delivered] if needs_delays else []
    for table in kept:
        table.persist()
    try:
        return run_checks(tables, checks)
    finally:
        for table in (*kept, rows):
            table.unpersist()


def _key_findings(surveyed: SurveyedStore) -> list[Finding]:
    session, store = surveyed.session, surveyed.store
    log = open_commit_log(session, store, surveyed.delays)
    damage = log.where(F.col("kind") == "damaged").select(
        F.col("offset").alias("damage_begin"),
        (F.col("offset") + F.col("size")).alias("damage_end"),
    )
    index = open_index(session, store)
    both = KeyTables(
        items=index_keys.items_of(index, surveyed.ranges).persist(),
        keys=_keys(surveyed).persist(),
        damage=damage,
        situation=surveyed.situation,
    )
    try:
        return run_checks(both, KEY_CHECKS)
    finally:
        both.items.unpersist()
        both.keys.unpersist()


def _keys(surveyed: SurveyedStore) -> DataFrame:
    """Return every key of the records whose keys the survey summed up."""
    # Imported late: the driver needs this module only from here on.
    from spark_checks.readers.record_keys import KeySource

    ranges = json.dumps(surveyed.ranges)
    session, store = surveyed.session, surveyed.store
    return open_log(session, store, KeySource, delays={}, ranges=ranges)
