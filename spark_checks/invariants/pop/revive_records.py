"""
Records of a revive topic: checkpoints of pops, and acknowledgements.

A record first waits in the timer's topic, and its REAL_TOPIC is the revive topic. One
that is late is put into the revive topic directly.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from spark_checks.findings import Finding, Severity
from spark_checks.invariants.file_findings import file_finding
from spark_checks.invariants.queue_records import QueuedRecord
from spec.layout import LayoutError
from spec.wire.bodies import fastjson
from spec.wire.pop.pop_bodies import ACK_TAG, ACKS_TAG, CHECKPOINT_TAG

TAGS = frozenset({CHECKPOINT_TAG, ACK_TAG, ACKS_TAG})
ACK_INTERVAL_MS = 1000
"""Milliseconds by which a checkpoint is due earlier (Java: ackTimeInterval)."""
BITS = 32
"""Bits of the bitmap, an int."""
_NUMBERS = {
    CHECKPOINT_TAG: ("so", "pt", "it", "n", "q", "bm"),
    ACK_TAG: ("so", "pt", "q", "ao"),
    ACKS_TAG: ("so", "pt", "q"),
}
_LISTS = {CHECKPOINT_TAG: "d", ACK_TAG: None, ACKS_TAG: "aol"}
Popped = tuple[str, str, int, int]
"""A message of a pop: topic, group, queue id and queue offset."""
Identity = tuple[str, str, int, int, int]
"""A pop: topic, group, queue id, first offset and pop time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviveRecord:
    """Decoded record of a revive topic."""

    record: QueuedRecord
    tag: str
    topic: str
    group: str
    queue_id: int
    start_offset: int
    popped_at_ms: int
    offsets: tuple[int, ...]
    """Queue offsets of a checkpoint's messages, or of acknowledged ones."""
    bits: int = 0
    due_ms: int = 0
    """End of a checkpoint's invisible time."""

    @property
    def identity(self) -> Identity:
        """The pop that a checkpoint records, or that is acknowledged."""
        return (
            self.topic,
            self.group,
            self.queue_id,
            self.start_offset,
            self.popped_at_ms,
        )

    def message(self, offset: int) -> Popped:
        """Return the message at *offset* of the popped queue."""
        return self.topic, self.group, self.queue_id, offset

    @property
    def open_messages(self) -> Iterator[Popped]:
        """The messages of a checkpoint whose bit is not set."""
        for index, offset in enumerate(self.offsets):
            if not self.bits >> index & 1:
                yield self.message(offset)


def revive_record(record: QueuedRecord) -> ReviveRecord | None:
    """Return *record* decoded; None if it is unreadable or has another tag."""
    found = _members(record)
    if isinstance(found, str):
        return None
    tag = record.properties.get("TAGS", "")
    begin = _number(found, "so")
    offsets = tuple(_list_of(found, tag) or ())
    if tag == CHECKPOINT_TAG:
        count = min(max(_number(found, "n"), 0), BITS)
        offsets = tuple(begin + n for n in offsets or range(count))
    return ReviveRecord(
        record=record,
        tag=tag,
        topic=str(found["t"]),
        group=str(found["c"]),
        queue_id=_number(found, "q"),
        start_offset=begin,
        popped_at_ms=_number(found, "pt"),
        offsets=(_number(found, "ao"),) if tag == ACK_TAG else offsets,
        bits=_number(found, "bm") if tag == CHECKPOINT_TAG else 0,
        due_ms=_number(found, "pt") + _number(found, "it"),
    )


def check_record(record: QueuedRecord) -> Iterator[Finding]:
    """Yield the findings in one *record* of a revive topic."""
    found = _members(record)
    tag = record.properties.get("TAGS", "")
    if isinstance(found, str):
        yield file_finding(
            "INV-POP-001",
            record.file,
            record.place,
            expected="a checkpoint (ck) or an acknowledgement (ack, bAck) in JSON",
            found=found,
            severity=None if tag in TAGS else Severity.WARNING,
        )
    elif tag == CHECKPOINT_TAG:
        yield from _check_checkpoint(record, found)


def _check_checkpoint(
    record: QueuedRecord, found: Mapping[str, object]
) -> Iterator[Finding]:
    wrong = _wrong_count(found)
    if wrong is not None:
        yield file_finding(
            "INV-POP-002",
            record.file,
            record.place,
            expected="a count, rising offsets of that number, and no bit behind them",
            found=wrong,
        )
    until_ms = _number(found, "pt") + _number(found, "it")
    revive_ms = found.get("reviveTime", until_ms)
    due = record.properties.get("TIMER_DELIVER_MS", str(until_ms - ACK_INTERVAL_MS))
    if due != str(until_ms - ACK_INTERVAL_MS) or revive_ms != until_ms:
        yield file_finding(
            "INV-POP-003",
            record.file,
            record.place,
            expected=f"TIMER_DELIVER_MS {until_ms - ACK_INTERVAL_MS}"
            f" and reviveTime {until_ms}",
            found=f"TIMER_DELIVER_MS {due} and reviveTime {revive_ms}",
        )


def _wrong_count(found: Mapping[str, object]) -> str | None:
    """Return the contradiction between a checkpoint's count, offsets and bits."""
    count, bits = _number(found, "n"), _number(found, "bm")
    steps = _list_of(found, CHECKPOINT_TAG) or range(count)
    if count < 1 or len(steps) != count:
        return f"a count of {count} and {len(steps)} offsets"
    if steps[0] < 0 or any(b <= a for a, b in itertools.pairwise(steps)):
        return f"the offsets {', '.join(map(str, steps))}"
    if count < BITS and bits >> count:
        return f"the bits {bits & (1 << BITS) - 1:#x} of {count} messages"
    return None


def _members(record: QueuedRecord) -> Mapping[str, object] | str:
    """Return the members of a record's body, or the reason why they are unreadable."""
    tag = record.properties.get("TAGS", "")
    if tag not in TAGS:
        return f"the tag {tag or 'none'}"
    try:
        found = fastjson.loads(record.body)
    except (LayoutError, UnicodeDecodeError):
        return "no JSON"
    if not isinstance(found, dict):
        return "no object in JSON"
    for name in _NUMBERS[tag]:
        if type(found.get(name)) is not int:
            return f"no number {name}"
    for name in ("t", "c"):
        if not isinstance(found.get(name), str):
            return f"no text {name}"
    list_name = _LISTS[tag]
    if list_name is not None and _list_of(found, tag) is None:
        return f"no numbers in {list_name}"
    return found


def _list_of(found: Mapping[str, object], tag: str) -> list[int] | None:
    """Return the list of numbers of a *tag*; None if it is something else."""
    name = _LISTS[tag]
    value = found.get(name) if name else None
    if value is None and tag != ACKS_TAG:
        return []
    if not isinstance(value, list) or any(type(n) is not int for n in value):
        return None
    return value


def _number(found: Mapping[str, object], name: str) -> int:
    value = found.get(name, 0)
    return value if isinstance(value, int) else 0
