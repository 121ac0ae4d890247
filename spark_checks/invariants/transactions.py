"""
Invariants between half messages, op messages and committed messages.

A half message stays in RMQ_SYS_TRANS_HALF_TOPIC. An op message marks it as decided. A
commit puts the message into its real topic, with the half message's offset. Half
messages before the log's begin are not checked.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from columns.numbers.by_key import (
    NEVER,
    NO_ROW,
    NOTHING,
    ByKey,
    Table,
    at_rows,
    joined,
    later_offsets,
    numbers_of,
)
from spark_checks.situation import Situation
from spark_checks.survey.ledger import Ledger

CHECKS_END_MS = 6_000 + 15 * 60_000
"""Time until a broker's last transaction check, by default."""


def match_ops(ledger: Ledger, _situation: Situation) -> Mapping[str, Table]:
    """Return the half messages with their op message, and the ops without one.

    ``oldest`` is the first half message of each queue.
    """
    halves, ops = ledger.table("halves"), ledger.table("ops")
    places, offsets = halves["place"], halves["offset"]
    half = ByKey(places, offsets).rows(ops["place"])
    half_at = at_rows(offsets, half, NEVER)
    is_unreadable = ops["queue_offset"] == NOTHING
    by_queue = ByKey(halves["queue_id"], offsets)
    return {
        "halves": halves.with_columns(
            decided_at=later_offsets(places, offsets, ops["place"], ops["offset"])
        ),
        "orphans": ops.where((half_at > ops["offset"]) | is_unreadable),
        "oldest": halves.where(by_queue.ranks() == 1),
    }


def match_commits(ledger: Ledger, situation: Situation) -> Mapping[str, Table]:
    """Return the wrong commits, and the overdue half messages without a decision.

    ``ends`` are the half messages that may replace an earlier one of their key.
    """
    halves, commits = ledger.table("halves"), ledger.table("commits")
    offsets = halves["offset"]
    half = ByKey(offsets, offsets).rows(commits["half_at"])
    found = {
        name: at_rows(halves[name], half, NOTHING)
        for name in ("message", "key", "decided_at")
    }
    has_half = half != NO_ROW
    is_same = commits["message"] == found["message"]
    is_same &= (
        (commits["key"] == found["key"])
        | (commits["key"] == NOTHING)
        | (found["key"] == NOTHING)
    )
    by_half = ByKey(commits["half_at"], commits["offset"])
    commits = commits.with_columns(
        rank=by_half.ranks(), has_half=has_half.astype(np.int64)
    )
    is_late = has_half & (commits["offset"] > found["decided_at"])
    is_overdue = halves["stored_at_ms"] + CHECKS_END_MS < situation.last_stored_at_ms
    checked = numbers_of(situation.checked_offsets, halves["queue_id"], 0)
    is_waiting = halves["is_waiting"] == 1
    is_open = is_overdue & is_waiting & (halves["queue_offset"] >= checked)
    is_open &= (halves["decided_at"] == NEVER) & (by_half.rows(offsets) == NO_ROW)
    return {
        "INV-TXN-002": commits.where(~has_half | ~is_same),
        "INV-TXN-003": commits.where((commits["rank"] > 1) | is_late),
        "open": halves.where(is_open),
        "ends": Table(offset=offsets, key=halves["key"]).where(
            is_waiting & (halves["key"] != NOTHING)
        ),
    }


def match_keys(ledger: Ledger, _situation: Situation) -> Mapping[str, Table]:
    """Return the open half messages that their broker has not put again."""
    halves = ledger.table("open")
    if not len(halves["offset"]):
        return {}
    put_again = joined(
        [ledger.table(name).select("key", "offset") for name in ("ends", "expired")]
    )
    later = later_offsets(
        halves["key"], halves["offset"], put_again["key"], put_again["offset"]
    )
    is_undecided = (halves["key"] == NOTHING) | (later == NEVER)
    return {"undecided": halves.where(is_undecided)}


def match_queues(ledger: Ledger, situation: Situation) -> Mapping[str, Table]:
    """Return the op messages of missing half messages, and the undecided ones.

    A half message older than the first of its queue may have been deleted.
    """
    orphans, oldest, undecided = map(ledger.table, ("orphans", "oldest", "undecided"))
    first = ByKey(oldest["queue_id"], oldest["offset"]).rows(orphans["queue_id"])
    otherwise = 0 if situation.min_offset == 0 else NEVER
    since = at_rows(oldest["queue_offset"], first, otherwise)
    named = orphans["queue_offset"]
    orphans = orphans.where((named >= since) | (named == NOTHING))
    of_queue = ByKey(undecided["queue_id"], undecided["offset"])
    halves = of_queue.counts(undecided["queue_id"])
    return {
        "INV-TXN-001": orphans.where(
            ByKey(orphans["offset"], orphans["queue_offset"]).ranks() == 1
        ),
        "INV-TXN-004": undecided.with_columns(halves=halves).where(
            of_queue.ranks() == 1
        ),
    }
