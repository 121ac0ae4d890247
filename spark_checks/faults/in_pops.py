"""
Faults in the records of popped messages, in rich stores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from spark_checks.faults.fault import Expected, Fault, Site, at_record
from spark_checks.generate.encoding import with_checksum
from spark_checks.generate.part import Placed
from spark_checks.generate.rounds import Kind
from spec.store.message_record import Record
from spec.store.record_checksum import CHECKSUM_SIZE
from spec.wire.bodies import fastjson

Found = tuple[Expected, Sequence[Expected]]
Change = Callable[[Record], Record]


def _changed(
    kind: str,
    description: str,
    change: Change,
    *,
    hit: Kind,
    finding: str,
    at: Kind | None = None,
    also: tuple[tuple[str, Kind], ...] = (),
) -> Fault:
    """Return a fault that changes the record of kind *hit*, found *at* another kind."""

    def plant(site: Site) -> Found:
        of_kind: dict[Kind, Placed] = {}
        for message in site.take_round():
            of_kind.setdefault(message.kind, message)
        record = of_kind[hit].record
        bare = replace(record, properties=record.properties[:-CHECKSUM_SIZE])
        site.rewrite(of_kind[hit], with_checksum(change(bare)))
        more = [at_record(one, of_kind[place]) for one, place in also]
        return at_record(finding, of_kind[at or hit]), more

    return Fault(kind=kind, description=description, plant=plant, is_rich=True)


def _with(name: str, value: Callable[[int], object]) -> Change:
    """Return a function that changes the number *name* of a body."""

    def change(record: Record) -> Record:
        body = fastjson.loads(record.body)
        assert isinstance(body, dict)
        changed = {**body, name: value(int(body[name]))}
        return replace(record, body=fastjson.dumps(changed))

    return change


def _other_end(number: int) -> int:
    """Return *number* with another last digit."""
    return number - 1 if number % 10 else number + 1


def _unreadable(record: Record) -> Record:
    return replace(record, body=b"[" + record.body[1:])


def _without_topic(record: Record) -> Record:
    return replace(record, body=record.body.replace(b'"t":"', b'"T":"'))


def _later(record: Record) -> Record:
    begin, name, rest = record.properties.partition("TIMER_DELIVER_MS\x01")
    value, _, more = rest.partition("\x02")
    text = f"{begin}{name}{_other_end(int(value))}\x02{more}"
    return replace(record, properties=text)


def _falling(record: Record) -> Record:
    return replace(record, body=record.body.replace(b"[0,1]", b"[1,0]"))


def _uncounted(record: Record) -> Record:
    return replace(record, reconsume_times=0)


def _without_time(record: Record) -> Record:
    text = record.properties.replace("1ST_POP_TIME\x011", "1ST_POP_TIME\x01x")
    return replace(record, properties=text)


_IS_LOST = (("INV-POP-005", Kind.CHECKPOINT),)
POP_FAULTS: tuple[Fault, ...] = (
    _changed(
        "checkpoint-unreadable",
        "a checkpoint that is not JSON",
        _unreadable,
        hit=Kind.CHECKPOINT,
        finding="INV-POP-001",
    ),
    _changed(
        "acknowledgement-no-topic",
        "an acknowledgement without a topic",
        _without_topic,
        hit=Kind.ACKNOWLEDGED,
        finding="INV-POP-001",
        also=_IS_LOST,
    ),
    _changed(
        "checkpoint-count",
        "a checkpoint of more messages than offsets",
        _with("n", lambda count: count + 1),
        hit=Kind.CHECKPOINT,
        finding="INV-POP-002",
    ),
    _changed(
        "checkpoint-bits",
        "a bit behind the messages of a checkpoint",
        _with("bm", lambda _bits: 4),
        hit=Kind.CHECKPOINT,
        finding="INV-POP-002",
    ),
    _changed(
        "checkpoint-falling",
        "offsets of a checkpoint that fall",
        _falling,
        hit=Kind.CHECKPOINT,
        finding="INV-POP-002",
    ),
    _changed(
        "checkpoint-invisible-time",
        "another invisible time than the timer's",
        _with("it", _other_end),
        hit=Kind.CHECKPOINT,
        finding="INV-POP-003",
    ),
    _changed(
        "checkpoint-due",
        "another delivery time of a checkpoint",
        _later,
        hit=Kind.CHECKPOINT,
        finding="INV-POP-003",
    ),
    _changed(
        "acknowledgement-other-message",
        "an acknowledgement of a message behind the pop",
        _with("ao", lambda offset: offset + 3 if offset % 10 < 7 else offset - 3),
        hit=Kind.ACKNOWLEDGED,
        finding="INV-POP-004",
        also=_IS_LOST,
    ),
    _changed(
        "popped-lost",
        "a message neither acknowledged nor popped again",
        _with("q", lambda _queue: 1),
        hit=Kind.ACKNOWLEDGED,
        finding="INV-POP-005",
        at=Kind.CHECKPOINT,
    ),
    _changed(
        "popped-again-uncounted",
        "a message popped again that was never delivered",
        _uncounted,
        hit=Kind.POPPED_AGAIN,
        finding="INV-POP-006",
    ),
    _changed(
        "popped-again-no-time",
        "a message popped again without the time of its pop",
        _without_time,
        hit=Kind.POPPED_AGAIN,
        finding="INV-POP-006",
    ),
)
