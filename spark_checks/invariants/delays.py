"""
Invariants between delayed messages and delivered ones.

A delay level is a queue of SCHEDULE_TOPIC_XXXX. delayOffset.json holds the delivered
offset of each. Messages in a timer wheel (since 5.0) are not checked.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from spark_checks.columns.by_key import NO_ROW, ByKey, Table, at_rows, numbers_at
from spark_checks.situation import Situation
from spark_checks.survey.ledger import Ledger
from spec.integers import INT64_MIN

UNKNOWN = INT64_MIN
"""Due time of a message without a unit, and delivered offset of a level without one."""
EARLY_MAX_MS = 500
"""Deliveries early by up to this many milliseconds are not reported."""


def match_units(ledger: Ledger, _situation: Situation) -> Mapping[str, Table]:
    """Return the delayed messages with the due times in their units."""
    messages, units = ledger.table("delayed"), ledger.table("due")
    unit = ByKey(units["offset"], units["offset"]).rows(messages["offset"])
    due_ms = at_rows(units["due_ms"], unit, UNKNOWN)
    return {"delayed": messages.with_columns(due_ms=due_ms)}


def match_deliveries(ledger: Ledger, situation: Situation) -> Mapping[str, Table]:
    """Return the messages not delivered, and the deliveries too many or too early.

    Equal messages are delivered in their order.
    """
    messages, deliveries = ledger.table("delayed"), ledger.table("delivered")
    due_ms, keys = messages["due_ms"], deliveries["message"]
    of_message = ByKey(messages["message"], messages["offset"])
    of_delivery = ByKey(keys, deliveries["offset"])
    delivery = of_delivery.rows(messages["message"], of_message.ranks())
    level_done = numbers_at(situation.delivered_offsets, messages["queue_id"], UNKNOWN)
    is_passed = (messages["queue_offset"] < level_done) & (due_ms != UNKNOWN)
    is_due = due_ms < situation.last_stored_at_ms
    is_missing = is_passed & is_due & (delivery == NO_ROW)
    rank = of_delivery.ranks()
    same = np.full(len(keys), NO_ROW)  # the message of each delivery
    delivered = np.flatnonzero(delivery != NO_ROW)
    same[delivery[delivered]] = delivered
    due_of = at_rows(due_ms, same, UNKNOWN)
    is_early = deliveries["stored_at_ms"] + EARLY_MAX_MS < due_of
    others = deliveries.with_columns(rank=rank).where(same == NO_ROW)
    first = of_message.rows(others["message"])
    is_again = first != NO_ROW
    is_again &= others["offset"] > at_rows(messages["offset"], first, NO_ROW)
    again = others.where(is_again)
    return {
        "INV-DELAY-001": messages.with_columns(
            level=messages["queue_id"] + 1, level_done=level_done
        ).where(is_missing),
        "INV-DELAY-002": again.with_columns(waited=of_message.counts(again["message"])),
        "INV-DELAY-003": deliveries.with_columns(due_ms=due_of).where(is_early),
    }
