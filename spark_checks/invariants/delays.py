"""
Invariants between delayed messages and delivered ones.

A delay level is a queue of SCHEDULE_TOPIC_XXXX. delayOffset.json holds the delivered
offset of each. Messages in a timer wheel (since 5.0) are not checked.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from columns.numbers.by_key import NEVER, NO_ROW, ByKey, Table, at_rows, numbers_of
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
    """Return the messages not delivered, and the deliveries that are too early.

    Equal messages are delivered in their order. The table "level_deliveries" has the
    deliveries with the level and the queue offset of their messages.
    """
    messages, deliveries = ledger.table("delayed"), ledger.table("delivered")
    due_ms, keys = messages["due_ms"], deliveries["message"]
    of_message = ByKey(messages["message"], messages["offset"])
    of_delivery = ByKey(keys, deliveries["offset"])
    delivery = of_delivery.rows(messages["message"], of_message.ranks())
    level_done = numbers_of(situation.delivered_offsets, messages["queue_id"], UNKNOWN)
    is_passed = (messages["queue_offset"] < level_done) & (due_ms != UNKNOWN)
    is_due = due_ms < situation.last_stored_at_ms
    is_missing = is_passed & is_due & (delivery == NO_ROW)
    message = np.full(len(keys), NO_ROW)  # the message of each delivery
    delivered = np.flatnonzero(delivery != NO_ROW)
    message[delivery[delivered]] = delivered
    due_of = at_rows(due_ms, message, UNKNOWN)
    is_early = deliveries["stored_at_ms"] + EARLY_MAX_MS < due_of
    rank, waited = of_delivery.ranks(), np.full(len(keys), NEVER)
    again = np.flatnonzero(message == NO_ROW)
    again = again[of_message.rows(keys[again]) != NO_ROW]
    waited[again] = of_message.counts(keys[again])
    nth = (rank[again] - 1) % waited[again] + 1
    message[again] = of_message.rows(keys[again], nth)
    on_levels = deliveries.select("offset").with_columns(
        queue_id=at_rows(messages["queue_id"], message, NO_ROW),
        number=at_rows(messages["queue_offset"], message, NO_ROW),
        rank=rank,
        waited=waited,
    )
    is_behind = deliveries["offset"] > at_rows(messages["offset"], message, NEVER)
    return {
        "INV-DELAY-001": messages.with_columns(
            level=messages["queue_id"] + 1, level_done=level_done
        ).where(is_missing),
        "INV-DELAY-003": deliveries.with_columns(due_ms=due_of).where(is_early),
        "level_deliveries": on_levels.where(is_behind),
    }


def match_levels(ledger: Ledger, _situation: Situation) -> Mapping[str, Table]:
    """Return the repeated deliveries that no start of a broker explains.

    A start delivers each level again from the last offset that delayOffset.json has,
    message by message (4.6.0 store.schedule.ScheduleMessageService#start, 5.3.3
    broker.schedule.ScheduleMessageService#start). It does not skip the next message.
    """
    rows = ledger.table("level_deliveries")
    rows = rows.where(np.lexsort((rows["offset"], rows["queue_id"])))
    level, number = rows["queue_id"], rows["number"]
    is_skip = (level[1:] == level[:-1]) & (number[1:] > number[:-1] + 1)
    is_again = rows["rank"] > rows["waited"]
    return {"INV-DELAY-002": rows.where(np.flatnonzero(is_again[:-1] & is_skip))}
