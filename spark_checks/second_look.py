"""
The second look at a log, for what only properties can tell.

It reads each record's properties, and so is not had for nothing: only that is asked of
which the first pass saw the topic, or commits, or where there is an index to compare
with; and nothing of all this is read if nobody wants to know. One reading serves both.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.backstage import (
    Backstage,
    Ranges,
    open_backstage,
    second_look,
)
from spark_checks.checking import run_checks
from spark_checks.digest import Digest
from spark_checks.findings import Finding, Invariant
from spark_checks.invariants import delays, index_keys, retries, transactions
from spark_checks.invariants.index_keys import KEY_CHECKS, KeyTables
from spark_checks.sources.store_files import Store
from spark_checks.tables import Situation, open_tables
from spec.wire.delay_levels import SCHEDULE_TOPIC
from spec.wire.groups import DEAD_LETTER_PREFIX, RETRY_PREFIX
from spec.wire.transactions import HALF_TOPIC, OPERATIONS_TOPIC

StageCheck = Callable[[Backstage], DataFrame]
STAGE_CHECKS: Mapping[Invariant, StageCheck] = {
    transactions.NOTE_OF_HALF: transactions.notes_of_nothing,
    transactions.COMMIT_OF_HALF: transactions.commits_of_others,
    transactions.COMMIT_ONCE: transactions.commits_too_many,
    transactions.DECIDED: transactions.halves_waiting,
    delays.DELIVERED: delays.never_delivered,
    delays.DELIVERED_ONCE: delays.delivered_again,
    delays.NOT_BEFORE_ITS_TIME: delays.delivered_early,
    retries.NAMES_ORIGIN: retries.retries_without_origin,
    retries.DEAD_LETTER_NAMES_TOPIC: retries.dead_letters_of_nothing,
}
_ABOUT_TOPIC: Mapping[Invariant, str] = {
    transactions.NOTE_OF_HALF: OPERATIONS_TOPIC,
    transactions.DECIDED: HALF_TOPIC,
    delays.DELIVERED: SCHEDULE_TOPIC,
    delays.DELIVERED_ONCE: SCHEDULE_TOPIC,
    delays.NOT_BEFORE_ITS_TIME: SCHEDULE_TOPIC,
    retries.NAMES_ORIGIN: RETRY_PREFIX,
    retries.DEAD_LETTER_NAMES_TOPIC: DEAD_LETTER_PREFIX,
}
"""How the topic begins without whose records an invariant holds.

The others are about commits, which are in any topic.
"""
SECOND_CHECKS: tuple[Invariant, ...] = (*STAGE_CHECKS, *KEY_CHECKS)
"""The invariants that a second look answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondLook:
    """What a second look at a store needs, after the first."""

    session: SparkSession
    store: Store
    seen: Digest
    situation: Situation
    delays: Mapping[int, int]
    """Milliseconds of each delay level."""
    progress: Callable[[str], None]
    only: Collection[str] = ()
    """The ids of the invariants that are asked about; empty for all."""


def stage_checks(
    seen: Digest, only: Collection[str] = ()
) -> Mapping[Invariant, StageCheck]:
    """Return the checks that are wanted, and may find something after the first pass.

    All are wanted unless *only* names some by their ids.
    """
    return {
        invariant: check
        for invariant, check in STAGE_CHECKS.items()
        if (not only or invariant.id in only) and _may_be_broken(invariant, seen)
    }


def _may_be_broken(invariant: Invariant, seen: Digest) -> bool:
    begin = _ABOUT_TOPIC.get(invariant)
    if begin is None:
        return seen.commits > 0
    return any(topic.startswith(begin) for topic, _ in seen.records)


def second_findings(look: SecondLook) -> list[Finding]:
    """Return what is wrong with properties and what follows from them."""
    ranges = index_keys.ranges_of(look.store) if _wants_keys(look) else []
    checks = stage_checks(look.seen, look.only)
    if not look.store.commit_log or not (ranges or checks):
        return []
    look.progress("reading properties")
    table, stage = open_backstage(
        look.session, look.store, look.seen, look.situation, ranges=ranges
    )
    table.persist()
    try:
        found = run_checks(stage, checks) if checks else []
        if ranges:
            sums = table.where(F.col("kind") == "keys")
            found += _key_findings(look, sums, ranges)
    finally:
        table.unpersist()
    return found


def _wants_keys(look: SecondLook) -> bool:
    return not look.only or any(one.id in look.only for one in KEY_CHECKS)


def _key_findings(look: SecondLook, sums: DataFrame, ranges: Ranges) -> list[Finding]:
    tables = open_tables(look.session, look.store, look.situation, look.delays)
    items = index_keys.items_of(tables.index, ranges)
    if index_keys.agree(sums, items):
        return []
    look.progress("comparing keys with the index one by one")
    damage = tables.log.where(F.col("kind") == "damaged").select(
        F.col("offset").alias("damage_begin"),
        (F.col("offset") + F.col("size")).alias("damage_end"),
    )
    both = KeyTables(
        items=items.persist(),
        keys=second_look(look.session, look.store, "rocketmq.keys", ranges).persist(),
        damage=damage,
        situation=look.situation,
    )
    try:
        return run_checks(both, KEY_CHECKS)
    finally:
        both.items.unpersist()
        both.keys.unpersist()
