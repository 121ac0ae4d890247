"""
The outcome of a forecast start, as plain values.

The first file or state that prevents the start ends the forecast with a `Refusal`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from reference.core.store.recovery.load import LoadPlan, describe_wrong_file
from reference.core.store.recovery.rules import RecoveryRules, WrongSizeFilePolicy


class Refusal(NamedTuple):
    """The reason why the broker refuses to start."""

    clause: str
    file: str
    reason: str


class StartRefusedError(Exception):
    """The broker refuses to start."""

    def __init__(self, clause: str, file: str, reason: str) -> None:
        super().__init__(reason)
        self.refusal = Refusal(clause, file, reason)


def refuse_wrong_file(
    plan: LoadPlan, directory: str, file_size: int, rules: RecoveryRules
) -> None:
    """Raise StartRefusedError for the file that prevents the load of *directory*."""
    if plan.wrong_file is None:
        return
    clause = "REC-LOAD-001"
    if plan.wrong_file.size == file_size:
        clause = "REC-LOAD-004"
    elif rules.wrong_size_file is WrongSizeFilePolicy.DELETE_EMPTY_LAST:
        clause = "REC-LOAD-002"
    reason = describe_wrong_file(directory, plan.wrong_file, file_size)
    raise StartRefusedError(clause, f"{directory}/{plan.wrong_file.name}", reason)


_SEVERAL = 2
CLAUSES_OF_UNITS_LEFT = ("REC-QUEUE-010", "REC-LOAD-003")
"""Clauses of lost messages whose units a start does not truncate."""


class Note(NamedTuple):
    """Further information for the operator."""

    clause: str
    text: str


@dataclass(slots=True, kw_only=True)
class LogOutcome:
    """The commit log after the start."""

    recovery_begins: int | None = None
    end: int = 0
    """Physical end: the offset after the last valid record."""
    next_place: int = 0
    """Offset of the next record: in the next file if no record fits in this one."""
    end_on_disk: int = 0
    """Offset after the last byte that is not zero."""
    deleted_files: list[str] = field(default_factory=list)
    start: int = 0
    units_behind_end: int = 0
    """Units, in order, of messages behind the end on disk."""
    first_behind_end: int | None = None
    """Lowest offset of these messages."""

    def lacks_files(self, file_size: int) -> bool:
        """Return whether units show that files behind the end on disk are missing.

        One unit may be garbage. The first of several must point close behind the end.
        """
        first = self.first_behind_end
        if first is None or self.units_behind_end < _SEVERAL:
            return False
        return first < self.end_on_disk + file_size

    @property
    def cut_bytes(self) -> int:
        """Written bytes behind the physical end."""
        return max(self.end_on_disk - self.end, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueOutcome:
    """One consume queue after the start."""

    topic: str
    queue_id: int
    min_offset: int
    max_offset: int
    max_before: int
    cut: int
    """Truncated units, including those that dispatch appended again."""
    redispatched: int


@dataclass(slots=True, kw_only=True)
class MessageRange:
    """Consecutive messages of one queue with the same finding."""

    topic: str
    queue_id: int
    begin: int
    end: int
    """The queue offset after the last."""
    first_stored_ms: int | None
    last_stored_ms: int | None
    why: str
    clause: str
    is_unreadable: bool = False
    """Whether the store had no readable record of them before the start."""

    @property
    def count(self) -> int:
        """Number of messages."""
        return self.end - self.begin


def messages_in(ranges: Iterable[MessageRange]) -> int:
    """Return the number of messages in *ranges*."""
    return sum(one.count for one in ranges)


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetOutside:
    """A persisted offset outside the bounds of its queue."""

    owner: str
    """A group, or a delay level."""
    topic: str
    queue_id: int
    offset: int
    min_offset: int
    max_offset: int
    effect: str


class LaterStart(NamedTuple):
    """A start after an orderly stop of the started broker."""

    recovery_begins: int
    log_end: int
    """Physical end of the log, lower than after the forecast start."""
    lost: int
    """Messages behind this end that the forecast start keeps."""


class ConfigRead(NamedTuple):
    """The source of one configuration file: the file or its ``.bak``."""

    file: str
    source: str
    report: str
    is_present: bool = True

    @property
    def has_lost(self) -> bool:
        """Whether the broker does not read what the file had."""
        return self.is_present and self.source != "file"


@dataclass(slots=True, kw_only=True)
class Outcome:
    """All effects of a start on a store."""

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
    index_rewritten: list[str] = field(default_factory=list)
    """Deleted files whose items recovery writes again, all of them."""
    config: list[ConfigRead] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    later_start: LaterStart | None = None
    """The next start after an orderly stop; None unless it loses more messages."""

    def note(self, clause: str, text: str) -> None:
        """Add a note, unless there is the same already."""
        note = Note(clause, text)
        if note not in self.notes:
            self.notes.append(note)

    @property
    def unreadable(self) -> list[MessageRange]:
        """Lost messages that could not be read before the start."""
        return [one for one in self.lost if one.is_unreadable]

    @property
    def destroyed(self) -> list[MessageRange]:
        """Lost messages that could be read before the start."""
        return [one for one in self.lost if not one.is_unreadable]

    @property
    def units_at_garbage(self) -> int:
        """Number of units that stay, although no record lies in their place."""
        stay = [one for one in self.unreadable if one.clause in CLAUSES_OF_UNITS_LEFT]
        return messages_in(stay)

    @property
    def lost_config(self) -> list[ConfigRead]:
        """Configuration files with content that the broker does not read."""
        return [one for one in self.config if one.has_lost]

    @property
    def is_harmless(self) -> bool:
        """Whether the broker starts, and nothing is lost, hidden or out of place."""
        findings = (
            self.lost,
            self.invisible,
            self.repeated,
            self.offsets,
            self.delay_offsets,
            self.lost_config,
            self.later_start,
        )
        return self.refusal is None and not self.log.cut_bytes and not any(findings)


class Cause(NamedTuple):
    """The reason of a finding, as a sentence about the message, and its clause."""

    why: str
    clause: str
    is_unreadable: bool = False
    """Whether the store has no readable record of the message before the start."""


class Ranges:
    """Collects messages, given in the order of their queue, into ranges."""

    def __init__(self) -> None:
        self.found: list[MessageRange] = []
        self._last: dict[tuple[str, int, str], MessageRange] = {}

    def add(
        self,
        queue: tuple[str, int],
        index: int,
        cause: Cause,
        stored_at_ms: int | None = None,
    ) -> None:
        """Add one message; its store time is None if it is not known."""
        last = self._last.get((*queue, cause.why))
        if last is not None and last.end == index:
            last.end = index + 1
            last.last_stored_ms = stored_at_ms or last.last_stored_ms
            last.first_stored_ms = last.first_stored_ms or stored_at_ms
            return
        topic, queue_id = queue
        self._last[topic, queue_id, cause.why] = found = MessageRange(
            topic=topic,
            queue_id=queue_id,
            begin=index,
            end=index + 1,
            first_stored_ms=stored_at_ms,
            last_stored_ms=stored_at_ms,
            why=cause.why,
            clause=cause.clause,
            is_unreadable=cause.is_unreadable,
        )
        self.found.append(found)

    def sorted(self) -> list[MessageRange]:
        """Return the ranges by topic, queue and offset."""
        return sorted(self.found, key=lambda one: (one.topic, one.queue_id, one.begin))
