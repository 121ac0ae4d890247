"""
Faults of several messages in system topics: transactions and delays.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial

from spark_checks.faults.fault import Found, at_record, at_unit
from spark_checks.faults.in_records import keys_lost
from spark_checks.faults.site import Site
from spark_checks.generate.part import rounds_of
from spark_checks.generate.plan import ROUND_MS, PlanError
from spark_checks.generate.rounds import Kind
from spark_checks.invariants.transactions import CHECKS_END_MS
from spec.store.message_record import Record, record_size

EARLY_ROUND = 3
"""Round without other faults, whose half messages are overdue at the store's end."""


def half_undecided(site: Site) -> Found:
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


commit_twice = partial(
    _in_place_of_next, kind=Kind.COMMITTED, finding="INV-TXN-003", more="INV-TXN-002"
)
delay_twice = partial(
    _in_place_of_next,
    kind=Kind.DELIVERED,
    finding="INV-DELAY-002",
    more="INV-DELAY-001",
)
