"""
Faults in system topics: transactions, delays, retries and dead letters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from spark_checks.faults.fault import Expected, Fault, Site, at_record, at_unit
from spark_checks.faults.index_places import keys_lost
from spark_checks.generate.part import Placed, rounds_of
from spark_checks.generate.plan import ROUND_MS, PlanError
from spark_checks.generate.rounds import Kind, steps_of
from spark_checks.invariants.transactions import CHECKS_END_MS
from spec.store.message_record import Record, record_size

Found = tuple[Expected, Sequence[Expected]]
Change = Callable[[Record], Record]
EARLY_ROUND = 3
"""Round without other faults, whose half messages are overdue at the store's end."""


def _of_kind(site: Site, messages: Sequence[Placed], kind: Kind) -> list[Placed]:
    steps = steps_of(site.plan)
    return [m for m in messages if steps[m.step].kind is kind]


def _changed(
    kind: str,
    description: str,
    change: Change,
    *,
    hit: Kind,
    finding: str,
    at: Kind | None = None,
    also: tuple[tuple[str, Kind], ...] = (),
    claims: frozenset[str] = frozenset(),
) -> Fault:
    """Return a fault that changes a record of kind *hit*, found *at* another kind."""

    def plant(site: Site) -> Found:
        messages = site.take_round()
        of_kind = {one: _of_kind(site, messages, one) for one in Kind}
        first = {one: found[0] for one, found in of_kind.items() if found}
        site.rewrite(first[hit], change(first[hit].record))
        more = [at_record(finding, first[place]) for finding, place in also]
        return at_record(finding, first[at or hit]), more

    return Fault(kind=kind, description=description, plant=plant, claims=claims)


def _op(body: bytes) -> Change:
    """Return a function that fills an op message with *body*, repeated."""
    return lambda record: replace(record, body=body * len(record.body))


def _other_body(record: Record) -> Record:
    return replace(record, body=b"x" * len(record.body))


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


def _too_early(site: Site) -> Found:
    """Deliver a message with a delay of one second after a tenth of it."""
    messages = site.take_round()
    (waits,) = _of_kind(site, messages, Kind.DELAYED)
    (hit,) = _of_kind(site, messages, Kind.DELIVERED)
    stored_at_ms = waits.record.stored_at_ms + 100
    site.rewrite(hit, replace(hit.record, stored_at_ms=stored_at_ms))
    return at_record("INV-DELAY-003", hit), ()


def _delivered_twice(site: Site) -> Found:
    """Deliver a message again, in place of another delivery."""
    return _in_place_of_next(site, Kind.DELIVERED, "INV-DELAY-002", "INV-DELAY-001")


def _committed_twice(site: Site) -> Found:
    """Commit a half message again, in place of another commit."""
    return _in_place_of_next(site, Kind.COMMITTED, "INV-TXN-003", "INV-TXN-002")


def _in_place_of_next(site: Site, kind: Kind, finding: str, more: str) -> Found:
    one, other = (site.take_round() for _ in range(2))
    (source,), (hit,) = (_of_kind(site, messages, kind) for messages in (one, other))
    again = replace(
        source.record,
        physical_offset=hit.offset,
        queue_offset=hit.record.queue_offset,
        stored_at_ms=hit.record.stored_at_ms,
    )
    site.rewrite(hit, _as_large(again, hit.size))
    waits = _of_kind(site, other, Kind.DELAYED)[0]
    also = [at_record(more, hit), at_record(more, waits), at_unit("INV-CQ-003", hit)]
    return at_record(finding, hit), [*also, *keys_lost(site, hit)]


def _as_large(record: Record, size: int) -> Record:
    """Return *record* with *size* bytes: without keys, and with a longer WAIT."""
    text = re.sub("KEYS\x01[^\x02]*\x02", "", record.properties)
    bare = replace(record, properties=text)
    value = "true" + "e" * (size - record_size(bare))
    return replace(bare, properties=text.replace("WAIT\x01true", f"WAIT\x01{value}"))


def _undecided(site: Site) -> Found:
    """Make an op message name the previous half message again."""
    plan = site.plan
    last = rounds_of(plan) * plan.files - 1
    if (last - EARLY_ROUND) * ROUND_MS <= CHECKS_END_MS:
        raise PlanError("the store is too short for a half message to get old")
    messages = site.round(EARLY_ROUND)
    noted, forgotten = _of_kind(site, messages, Kind.HALF)
    hit = _of_kind(site, messages, Kind.OP)[1]
    body = str(noted.record.queue_offset).encode()
    site.rewrite(hit, replace(hit.record, body=body))
    return at_record("INV-TXN-004", forgotten), ()


SYSTEM_TOPIC_FAULTS: tuple[Fault, ...] = (
    _changed(
        "op-unreadable",
        "letters in an op message",
        _op(b"n"),
        hit=Kind.OP,
        finding="INV-TXN-001",
    ),
    _changed(
        "op-of-nothing",
        "an op message of a half message to come",
        _op(b"9"),
        hit=Kind.OP,
        finding="INV-TXN-001",
    ),
    _changed(
        "commit-other-body",
        "another body than the half message's",
        _other_body,
        hit=Kind.COMMITTED,
        finding="INV-TXN-002",
    ),
    _changed(
        "commit-of-nothing",
        "a commit of no half message",
        _other_half,
        hit=Kind.COMMITTED,
        finding="INV-TXN-002",
    ),
    Fault(kind="commit-twice", description="a second commit", plant=_committed_twice),
    Fault(kind="half-undecided", description="an old half message", plant=_undecided),
    _changed(
        "delay-lost",
        "a delayed message that is not delivered",
        _born_earlier,
        hit=Kind.DELIVERED,
        finding="INV-DELAY-001",
        at=Kind.DELAYED,
        claims=frozenset({"delay offsets are read"}),
    ),
    _changed(
        "retry-lost",
        "a message sent back that does not come",
        _born_earlier,
        hit=Kind.RETRIED,
        finding="INV-DELAY-001",
        at=Kind.SENT_BACK,
        claims=frozenset({"delay offsets are read, too"}),
    ),
    Fault(kind="delay-twice", description="a second delivery", plant=_delivered_twice),
    Fault(kind="delay-early", description="a delivery too early", plant=_too_early),
    _changed(
        "retry-no-topic",
        "a retry without its topic",
        _renamed("RETRY_TOPIC"),
        hit=Kind.RETRIED,
        finding="INV-RETRY-001",
    ),
    _changed(
        "retry-no-id",
        "a retry without its first id",
        _renamed("ORIGIN_MESSAGE_ID"),
        hit=Kind.RETRIED,
        finding="INV-RETRY-001",
        also=(("INV-DELAY-001", Kind.SENT_BACK),),
    ),
    _changed(
        "retry-no-count",
        "a retry that was never delivered",
        lambda record: replace(record, reconsume_times=0),
        hit=Kind.RETRIED,
        finding="INV-RETRY-001",
        also=(("INV-DELAY-001", Kind.SENT_BACK),),
    ),
    _changed(
        "dead-letter-no-topic",
        "a dead letter without its topic",
        _renamed("RETRY_TOPIC"),
        hit=Kind.DEAD,
        finding="INV-RETRY-002",
    ),
)
