"""
Faults in system topics: transactions, delays, retries and dead letters.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial

from spark_checks.faults.fault import Change, Site, at_record, at_unit
from spark_checks.faults.fault_list import FaultList, Found
from spark_checks.faults.index_places import keys_lost
from spark_checks.generate.part import rounds_of
from spark_checks.generate.plan import ROUND_MS, PlanError
from spark_checks.generate.rounds import Kind
from spark_checks.invariants.transactions import CHECKS_END_MS
from spec.store.message_record import Record, record_size

SYSTEM_TOPIC_FAULTS = FaultList()
_in_op, _in_commit, _in_delivery, _in_retry, _in_dead_letter = (
    partial(SYSTEM_TOPIC_FAULTS.change, hit=kind)
    for kind in (Kind.OP, Kind.COMMITTED, Kind.DELIVERED, Kind.RETRIED, Kind.DEAD)
)
_IS_LOST = (("INV-DELAY-001", Kind.SENT_BACK),)
EARLY_ROUND = 3
"""Round without other faults, whose half messages are overdue at the store's end."""


def _filled(body: bytes) -> Change:
    """Return a function that fills a body with *body*, repeated."""
    return lambda record: replace(record, body=body * len(record.body))


def _other_half(record: Record) -> Record:
    return replace(
        record, prepared_transaction_offset=record.prepared_transaction_offset + 8
    )


def _renamed(name: str) -> Change:
    """Return a function that changes the last letter of the property *name*."""

    def change(record: Record) -> Record:
        text = record.properties.replace(f"{name}\x01", f"{name[:-1]}_\x01")
        return replace(record, properties=text)

    return change


def _born_earlier(record: Record) -> Record:
    return replace(record, born_at_ms=record.born_at_ms - 1)


_in_op("op-unreadable", "letters in an op message", "INV-TXN-001", _filled(b"n"))
_in_op(
    "op-of-nothing",
    "an op message of a half message to come",
    "INV-TXN-001",
    _filled(b"9"),
)
_in_commit(
    "commit-other-body",
    "another body than the half message's",
    "INV-TXN-002",
    _filled(b"x"),
)
_in_commit(
    "commit-of-nothing", "a commit of no half message", "INV-TXN-002", _other_half
)
SYSTEM_TOPIC_FAULTS.add(
    "commit-twice",
    "a second commit",
    lambda site: _in_place_of_next(site, Kind.COMMITTED, "INV-TXN-003", "INV-TXN-002"),
)


@SYSTEM_TOPIC_FAULTS.planting("half-undecided", "an old half message")
def _undecided(site: Site) -> Found:
    """Make an op message name the previous half message again."""
    plan = site.plan
    last = rounds_of(plan) * plan.files - 1
    if (last - EARLY_ROUND) * ROUND_MS <= CHECKS_END_MS:
        raise PlanError("the store is too short for a half message to get old")
    messages = site.round(EARLY_ROUND)
    noted, forgotten = (m for m in messages if m.kind is Kind.HALF)
    _, hit = (m for m in messages if m.kind is Kind.OP)
    body = str(noted.record.queue_offset).encode()
    site.rewrite(hit, replace(hit.record, body=body))
    return [at_record("INV-TXN-004", forgotten)]


_in_delivery(
    "delay-lost",
    "a delayed message that is not delivered",
    "INV-DELAY-001",
    _born_earlier,
    "delay offsets are read",
    found=Kind.DELAYED,
)
_in_retry(
    "retry-lost",
    "a message sent back that does not come",
    "INV-DELAY-001",
    _born_earlier,
    "delay offsets are read, too",
    found=Kind.SENT_BACK,
)
SYSTEM_TOPIC_FAULTS.add(
    "delay-twice",
    "a second delivery",
    lambda site: _in_place_of_next(
        site, Kind.DELIVERED, "INV-DELAY-002", "INV-DELAY-001"
    ),
)


@SYSTEM_TOPIC_FAULTS.planting("delay-early", "a delivery too early")
def _too_early(site: Site) -> Found:
    """Deliver a message with a delay of one second after a tenth of it."""
    messages = site.take_kinds()
    hit = messages[Kind.DELIVERED]
    stored_at_ms = messages[Kind.DELAYED].record.stored_at_ms + 100
    site.rewrite(hit, replace(hit.record, stored_at_ms=stored_at_ms))
    return [at_record("INV-DELAY-003", hit)]


_in_retry(
    "retry-no-topic",
    "a retry without its topic",
    "INV-RETRY-001",
    _renamed("RETRY_TOPIC"),
)
_in_retry(
    "retry-no-id",
    "a retry without its first id",
    "INV-RETRY-001",
    _renamed("ORIGIN_MESSAGE_ID"),
    also=_IS_LOST,
)
_in_retry(
    "retry-no-count",
    "a retry that was never delivered",
    "INV-RETRY-001",
    lambda record: replace(record, reconsume_times=0),
    also=_IS_LOST,
)
_in_dead_letter(
    "dead-letter-no-topic",
    "a dead letter without its topic",
    "INV-RETRY-002",
    _renamed("RETRY_TOPIC"),
)


def _in_place_of_next(site: Site, kind: Kind, finding: str, more: str) -> Found:
    """Put a copy of a message of *kind* in place of the next one of its kind."""
    one, other = site.take_kinds(), site.take_kinds()
    source, hit = one[kind], other[kind]
    again = replace(
        source.record,
        physical_offset=hit.offset,
        queue_offset=hit.record.queue_offset,
        stored_at_ms=hit.record.stored_at_ms,
    )
    site.rewrite(hit, _as_large(again, hit.size))
    also = [at_record(more, hit), at_record(more, other[Kind.DELAYED])]
    also += [at_unit("INV-CQ-003", hit), *keys_lost(site, hit)]
    return [at_record(finding, hit), *also]


def _as_large(record: Record, size: int) -> Record:
    """Return *record* with *size* bytes: without keys, and with a longer WAIT."""
    text = re.sub("KEYS\x01[^\x02]*\x02", "", record.properties)
    bare = replace(record, properties=text)
    value = "true" + "e" * (size - record_size(bare))
    return replace(bare, properties=text.replace("WAIT\x01true", f"WAIT\x01{value}"))
