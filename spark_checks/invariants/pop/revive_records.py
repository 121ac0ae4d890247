"""
Records of a revive topic: checkpoints of pops, and acknowledgements.

A record first waits in the timer's topic, and its REAL_TOPIC is the revive topic. One
that is late is put into the revive topic directly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from spark_checks.findings import Finding, Severity
from spark_checks.invariants.file_findings import file_finding
from spark_checks.invariants.queue_records import QueuedRecord
from spec.layout import LayoutError
from spec.wire.bodies import fastjson
from spec.wire.bodies.json_body import Body, body_from_json, members
from spec.wire.bodies.json_object import as_object
from spec.wire.pop.pop_bodies import (
    ACK_TAG,
    ACKS_TAG,
    CHECKPOINT_TAG,
    AckMsg,
    PopCheckpoint,
)
from spec.wire.pop.pop_topics import next_topics

ACK_INTERVAL_MS = 1000
"""Milliseconds by which a checkpoint is due earlier (Java: ackTimeInterval)."""
BITS = 32
"""Bits of the bitmap, an int."""
_POP = ("t", "c", "q", "so", "pt")
_REQUIRED = {
    CHECKPOINT_TAG: (*_POP, "it", "n", "bm"),
    ACK_TAG: (*_POP, "ao"),
    ACKS_TAG: (*_POP, "aol"),
}
"""Members that every release writes, by tag; for ack 5.0.0 has the alternate names."""
Popped = tuple[str, str, int, int]
"""A message of a pop: topic, group, queue id and queue offset."""


@dataclass(frozen=True, slots=True)
class ReviveRecord:
    """Decoded record of a revive topic."""

    record: QueuedRecord
    body: PopCheckpoint | AckMsg

    @property
    def pop(self) -> tuple[object, ...]:
        """Identity of the pop that a checkpoint records, or that is acknowledged."""
        return *self.message(self.body.start_offset), self.body.popped_at_ms

    @property
    def offsets(self) -> Sequence[int]:
        """Queue offsets of a checkpoint's messages, or of acknowledged ones."""
        body = self.body
        if isinstance(body, AckMsg):
            return (body.offset,) if body.offsets is None else body.offsets
        steps = body.offsets or range(min(body.count, BITS))
        return [body.start_offset + step for step in steps]

    @property
    def topic(self) -> str:
        """The popped topic."""
        return str(self.body.topic)

    @property
    def group(self) -> str:
        """The group that popped."""
        return str(self.body.group)

    @property
    def queue(self) -> tuple[str, int]:
        """Topic and id of the popped queue."""
        return self.topic, self.body.queue_id

    def message(self, offset: int) -> Popped:
        """Return the message at *offset* of the popped queue."""
        return self.topic, self.group, self.body.queue_id, offset


@dataclass(frozen=True, slots=True)
class Checkpoint(ReviveRecord):
    """Record of a pop."""

    body: PopCheckpoint

    @property
    def due_ms(self) -> int:
        """End of the invisible time."""
        return self.body.popped_at_ms + self.body.invisible_ms

    @property
    def times_ms(self) -> tuple[int, int]:
        """Begin and end of the invisible time."""
        return self.body.popped_at_ms, self.due_ms

    @property
    def retry_topics(self) -> Sequence[str]:
        """Topics from which a message of the pop may come again."""
        return next_topics(self.topic, group=self.group)

    @property
    def open_messages(self) -> Iterator[Popped]:
        """The messages whose bit is not set."""
        for index, offset in enumerate(self.offsets):
            if not self.body.bits >> index & 1:
                yield self.message(offset)


def revive_record(record: QueuedRecord) -> ReviveRecord | str:
    """Return *record* decoded, or the reason why it is unreadable."""
    tag = record.properties.get("TAGS", "")
    if tag not in _REQUIRED:
        return f"the tag {tag or 'none'}"
    try:
        found = as_object(fastjson.loads(record.body))
        revived = (
            Checkpoint(record, body_from_json(PopCheckpoint, found))
            if tag == CHECKPOINT_TAG
            else ReviveRecord(record, body_from_json(AckMsg, found))
        )
    except UnicodeDecodeError:
        return "no JSON"
    except LayoutError as error:
        return f"no valid {error.field}" if error.field else "no JSON"
    alternates = _alternates(type(revived.body))
    missing = (
        name
        for name in _REQUIRED[tag]
        if found.get(name) is None and found.get(alternates[name]) is None
    )
    return next((f"no member {name}" for name in missing), revived)


@cache
def _alternates(body: type[Body]) -> Mapping[str, str]:
    """Return the alternate name of each member of *body*, by its name."""
    return {one.member.java_name: one.member.alternate for one in members(body)}


def check_record(record: QueuedRecord, found: ReviveRecord | str) -> Iterator[Finding]:
    """Yield the findings in one *record* of a revive topic, decoded as *found*."""
    if isinstance(found, str):
        has_other_tag = record.properties.get("TAGS") not in _REQUIRED
        severity = Severity.WARNING if has_other_tag else None
        yield file_finding("INV-POP-001", *record.place, severity, found=found)
    elif isinstance(found, Checkpoint):
        yield from _check_checkpoint(found)


def _check_checkpoint(found: Checkpoint) -> Iterator[Finding]:
    record = found.record
    wrong = _wrong_count(found.body)
    if wrong is not None:
        yield file_finding("INV-POP-002", *record.place, found=wrong)
    times = "TIMER_DELIVER_MS {} and reviveTime {}"
    timer_ms, stated_ms = found.due_ms - ACK_INTERVAL_MS, found.body.revive_at_ms
    expected = times.format(timer_ms, found.due_ms)
    stated = times.format(
        record.properties.get("TIMER_DELIVER_MS", timer_ms),
        found.due_ms if stated_ms is None else stated_ms,
    )
    if stated != expected:
        yield file_finding(
            "INV-POP-003", *record.place, expected=expected, found=stated
        )


def _wrong_count(body: PopCheckpoint) -> str | None:
    """Return the contradiction between a checkpoint's count, offsets and bits."""
    count, bits = body.count, body.bits
    steps = body.offsets or ()  # without them, those from 0 on
    if count < 1 or (steps and len(steps) != count):
        return f"a count of {count} and {len(steps)} offsets"
    if steps and (steps[0] < 0 or any(b <= a for a, b in pairwise(steps))):
        return f"the offsets {', '.join(map(str, steps))}"
    if count < BITS and bits >> count:
        return f"the bits {bits & (1 << BITS) - 1:#x} of {count} messages"
    return None
