"""
Faults in the records of popped messages, in rich stores.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from spark_checks.faults.fault import Change
from spark_checks.faults.fault_list import FaultList
from spark_checks.generate.rounds import Kind
from spec.store.message_record import Record
from spec.wire.bodies import fastjson

POP_FAULTS = FaultList(is_rich=True)
_in_checkpoint, _in_acknowledgement, _in_popped_again = (
    partial(POP_FAULTS.change, hit=kind)
    for kind in (Kind.CHECKPOINT, Kind.ACKNOWLEDGED, Kind.POPPED_AGAIN)
)
_IS_LOST = (("INV-POP-005", Kind.CHECKPOINT),)


def _with(name: str, value: Callable[[int], object]) -> Change:
    """Return a function that changes the number *name* of a body."""

    def change(record: Record) -> Record:
        body = fastjson.loads(record.body)
        assert isinstance(body, dict)
        changed = {**body, name: value(int(body[name]))}
        return replace(record, body=fastjson.dumps(changed))

    return change


def _body(old: bytes, new: bytes) -> Change:
    """Return a function that replaces bytes of a body, once."""
    return lambda record: replace(record, body=record.body.replace(old, new, 1))


def _other_end(number: int) -> int:
    """Return *number* with another last digit."""
    return number - 1 if number % 10 else number + 1


def _later(record: Record) -> Record:
    begin, name, rest = record.properties.partition("TIMER_DELIVER_MS\x01")
    value, _, more = rest.partition("\x02")
    text = f"{begin}{name}{_other_end(int(value))}\x02{more}"
    return replace(record, properties=text)


def _uncounted(record: Record) -> Record:
    return replace(record, reconsume_times=0)


def _without_time(record: Record) -> Record:
    text = record.properties.replace("1ST_POP_TIME\x011", "1ST_POP_TIME\x01x")
    return replace(record, properties=text)


_in_checkpoint(
    "checkpoint-unreadable",
    "a checkpoint that is not JSON",
    "INV-POP-001",
    _body(b"{", b"["),
)
_in_acknowledgement(
    "acknowledgement-no-topic",
    "an acknowledgement without a topic",
    "INV-POP-001",
    _body(b'"t":"', b'"T":"'),
    also=_IS_LOST,
)
_in_checkpoint(
    "checkpoint-count",
    "a checkpoint of more messages than offsets",
    "INV-POP-002",
    _with("n", lambda count: count + 1),
)
_in_checkpoint(
    "checkpoint-bits",
    "a bit behind the messages of a checkpoint",
    "INV-POP-002",
    _with("bm", lambda _bits: 4),
)
_in_checkpoint(
    "checkpoint-falling",
    "offsets of a checkpoint that fall",
    "INV-POP-002",
    _body(b"[0,1]", b"[1,0]"),
)
_in_checkpoint(
    "checkpoint-invisible-time",
    "another invisible time than the timer's",
    "INV-POP-003",
    _with("it", _other_end),
)
_in_checkpoint(
    "checkpoint-due", "another delivery time of a checkpoint", "INV-POP-003", _later
)
_in_acknowledgement(
    "acknowledgement-other-message",
    "an acknowledgement of a message behind the pop",
    "INV-POP-004",
    _with("ao", lambda offset: offset + 3 if offset % 10 < 7 else offset - 3),
    also=_IS_LOST,
)
_in_acknowledgement(
    "popped-lost",
    "a message neither acknowledged nor popped again",
    "INV-POP-005",
    _with("q", lambda _queue: 1),
    found=Kind.CHECKPOINT,
)
_in_popped_again(
    "popped-again-uncounted",
    "a message popped again that was never delivered",
    "INV-POP-006",
    _uncounted,
)
_in_popped_again(
    "popped-again-no-time",
    "a message popped again without the time of its pop",
    "INV-POP-006",
    _without_time,
)
