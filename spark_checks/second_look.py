"""
The second look at a store, for what only properties can tell.

A survey has summed up the keys, and kept a ledger of what was set aside. Records are
read again only where that does not balance, and keys are compared with the index one by
one only where their sums differ. What nobody wants to know is not surveyed either.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.backstage import (
    Backstage,
    delivered_of,
    looked_of,
    open_aside,
    open_backstage,
)
from spark_checks.checking import run_checks
from spark_checks.digest import Digest, Ranges
from spark_checks.findings import Finding, Invariant
from spark_checks.invariants import delays, index_keys, retries, transactions
from spark_checks.invariants.index_keys import KEY_CHECKS, KeyTables
from spark_checks.sources.store_files import Store
from spark_checks.tables import Situation, listing, open_tables
from spec.wire.delay_levels import SCHEDULE_TOPIC
from spec.wire.groups import DEAD_LETTER_PREFIX, RETRY_PREFIX
from spec.wire.transactions import HALF_TOPIC, OPERATIONS_TOPIC

if TYPE_CHECKING:
    from spark_checks.sources.ledger import Ledger

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
    """What the survey sums up to."""
    ledger: Ledger
    """What it noted of records that were set aside."""
    ranges: Ranges
    """Of which records the keys were summed up."""
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


def ranges_wanted(store: Store, only: Collection[str] = ()) -> Ranges:
    """Return of which records of *store* the keys must be summed up."""
    wants_keys = not only or any(one.id in only for one in KEY_CHECKS)
    return index_keys.ranges_of(store) if wants_keys else []


def is_aside_wanted(only: Collection[str] = ()) -> bool:
    """Return whether anything is asked of what was set aside."""
    return not only or any(one.id in only for one in STAGE_CHECKS)


def second_findings(look: SecondLook) -> list[Finding]:
    """Return what is wrong with properties and what follows from them."""
    if not look.store.commit_log:
        return []
    found: list[Finding] = []
    checks = _unbalanced(look, stage_checks(look.seen, look.only))
    if checks:
        look.progress("comparing what was set aside with what came of it")
        found += _stage_findings(look, checks)
    if look.ranges and not look.seen.is_index_complete:
        look.progress("comparing keys with the index one by one")
        found += _key_findings(look)
    return found


def _unbalanced(
    look: SecondLook, checks: Mapping[Invariant, StageCheck]
) -> Mapping[Invariant, StageCheck]:
    """Return those of *checks* which the ledger cannot answer."""
    from spark_checks import balance

    if not checks:
        return checks
    progress = balance.Progress(
        min_offset=look.situation.min_offset,
        last_ms=look.seen.last_stored_at_ms or 0,
        delivered=delivered_of(look.store),
        looked=looked_of(look.store),
    )
    balances: Mapping[str, balance.Balance] = {
        transactions.__name__: balance.transactions_balance,
        delays.__name__: balance.delays_balance,
        retries.__name__: balance.returns_balance,
    }
    asked = {check.__module__ for check in checks.values()}
    open_ones = {name for name in asked if not balances[name](look.ledger, progress)}
    # The ledger takes the time at which a message is due from the record.
    suspects = look.seen.suspects(look.situation)
    if any(topic == SCHEDULE_TOPIC for topic, _ in suspects):
        open_ones.add(delays.__name__)
    return {
        invariant: check
        for invariant, check in checks.items()
        if check.__module__ in open_ones
    }


def _stage_findings(
    look: SecondLook, checks: Mapping[Invariant, StageCheck]
) -> list[Finding]:
    """Return what *checks* find; what several of them ask for is made once."""
    aside = open_aside(look.session, look.store)
    stage = open_backstage(aside.persist(), look.store, look.seen, look.situation)
    asks_delays = any(_ABOUT_TOPIC.get(one) == SCHEDULE_TOPIC for one in checks)
    kept = [stage.waiting, stage.arrived] if asks_delays else []
    for table in kept:
        table.persist()
    try:
        return run_checks(stage, checks)
    finally:
        for table in (*kept, aside):
            table.unpersist()


def _key_findings(look: SecondLook) -> list[Finding]:
    tables = open_tables(look.session, look.store, look.situation, look.delays)
    damage = tables.log.where(F.col("kind") == "damaged").select(
        F.col("offset").alias("damage_begin"),
        (F.col("offset") + F.col("size")).alias("damage_end"),
    )
    both = KeyTables(
        items=index_keys.items_of(tables.index, look.ranges).persist(),
        keys=_keys(look).persist(),
        damage=damage,
        situation=look.situation,
    )
    try:
        return run_checks(both, KEY_CHECKS)
    finally:
        both.items.unpersist()
        both.keys.unpersist()


def _keys(look: SecondLook) -> DataFrame:
    """Return every key of the records whose keys were summed up."""
    # Its module imports what Spark's workers import; nothing does so earlier.
    from spark_checks.sources.record_keys import KeySource

    look.session.dataSource.register(KeySource)
    return (
        look.session.read.format("rocketmq.keys")
        .option("url", look.store.url)
        .option("files", listing(look.store.commit_log))
        .option("ranges", json.dumps(look.ranges))
        .option("parts", json.dumps(look.store.parts))
        .load()
    )
