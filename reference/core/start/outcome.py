"""
What a start would do, as plain values.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class Refusal(NamedTuple):
    """Why the broker does not start."""

    clause: str
    file: str
    says: str


class Note(NamedTuple):
    """Something else that the operator should know."""

    clause: str
    says: str


@dataclass(slots=True, kw_only=True)
class LogOutcome:
    """What becomes of the commit log."""

    recovery_begins: int | None = None
    end: int = 0
    """Where the last record ends that counts."""
    next_place: int = 0
    """Where the next record is written: not there if nothing fits in behind it."""
    end_on_disk: int = 0
    """Where the last byte ends that is not zero."""
    deleted_files: list[str] = field(default_factory=list)
    start: int = 0

    @property
    def cut_bytes(self) -> int:
        """Bytes that were written and do not count any more."""
        return max(self.end_on_disk - self.end, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueOutcome:
    """What becomes of one consume queue."""

    topic: str
    queue_id: int
    min_offset: int
    max_offset: int
    max_before: int
    cut: int
    """Units that do not count any more, unless dispatch made them again."""
    redispatched: int


@dataclass(slots=True, kw_only=True)
class MessageRange:
    """Messages of one queue, one after the other, to which the same happens."""

    topic: str
    queue_id: int
    begin: int
    end: int
    """The queue offset after the last."""
    first_stored_ms: int | None
    last_stored_ms: int | None
    why: str
    clause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetOutside:
    """A remembered offset that does not lie in its queue."""

    owner: str
    """A group, or a delay level."""
    topic: str
    queue_id: int
    offset: int
    min_offset: int
    max_offset: int
    says: str


class ConfigRead(NamedTuple):
    """Where a broker has a part of its configuration from."""

    file: str
    source: str
    says: str


@dataclass(slots=True, kw_only=True)
class Outcome:
    """Everything that a start would do to a store."""

    release: str
    after_crash: bool
    refusal: Refusal | None = None
    log: LogOutcome = field(default_factory=LogOutcome)
    queues: list[QueueOutcome] = field(default_factory=list)
    lost: list[MessageRange] = field(default_factory=list)
    invisible: list[MessageRange] = field(default_factory=list)
    repeated: list[MessageRange] = field(default_factory=list)
    offsets: list[OffsetOutside] = field(default_factory=list)
    delay_offsets: list[OffsetOutside] = field(default_factory=list)
    index_files: int = 0
    index_deleted: list[str] = field(default_factory=list)
    config: list[ConfigRead] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    @property
    def is_harmless(self) -> bool:
        """Whether the broker starts, and nothing is lost, hidden or out of place."""
        findings = (
            self.lost,
            self.invisible,
            self.repeated,
            self.offsets,
            self.delay_offsets,
        )
        return self.refusal is None and not self.log.cut_bytes and not any(findings)


class Ranges:
    """Collects messages into ranges; they come in the order of their queue."""

    def __init__(self) -> None:
        self.found: list[MessageRange] = []
        self._last: dict[tuple[str, int, str], MessageRange] = {}

    def add(
        self,
        queue: tuple[str, int],
        index: int,
        *,
        stored_at_ms: int | None,
        why: str,
        clause: str,
    ) -> None:
        """Note one message."""
        last = self._last.get((*queue, why))
        if last is not None and last.end == index:
            last.end = index + 1
            last.last_stored_ms = stored_at_ms or last.last_stored_ms
            last.first_stored_ms = last.first_stored_ms or stored_at_ms
            return
        topic, queue_id = queue
        self._last[topic, queue_id, why] = found = MessageRange(
            topic=topic,
            queue_id=queue_id,
            begin=index,
            end=index + 1,
            first_stored_ms=stored_at_ms,
            last_stored_ms=stored_at_ms,
            why=why,
            clause=clause,
        )
        self.found.append(found)

    def sorted(self) -> list[MessageRange]:
        """Return the ranges by topic, queue and offset."""
        return sorted(self.found, key=lambda one: (one.topic, one.queue_id, one.begin))
