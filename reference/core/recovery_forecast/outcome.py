"""
The outcome of a forecast start: the store after it, and the findings about messages.

The first file or state that prevents the start ends the forecast with a refusal.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from msgspec import Struct, field

from reference.core.recovery_forecast.index_state import IndexState
from reference.core.recovery_forecast.log_state import LogState
from reference.core.recovery_forecast.queue_state import QueueState
from reference.core.recovery_forecast.store_view import StartRefusedError

CLAUSES_OF_UNITS_LEFT = ("REC-QUEUE-010", "REC-LOAD-003")
"""Clauses of lost messages whose units a start does not truncate."""


class Note(NamedTuple):
    """Further information for the operator."""

    clause: str
    text: str


class Cause(NamedTuple):
    """The reason of a finding, as a sentence about the message, and its clause."""

    why: str
    clause: str
    is_unreadable: bool = False
    """Whether the store had no readable record of the message before the start."""


class MessageRange(Struct, kw_only=True):
    """Consecutive messages of one queue with the same finding."""

    topic: str
    queue_id: int
    begin: int
    end: int
    """The queue offset after the last."""
    first_stored_ms: int | None
    last_stored_ms: int | None
    cause: Cause

    @property
    def count(self) -> int:
        """Number of messages."""
        return self.end - self.begin


def messages_in(ranges: Iterable[MessageRange]) -> int:
    """Return the number of messages in *ranges*."""
    return sum(one.count for one in ranges)


class Ranges(list[MessageRange]):
    """Messages with findings, given in the order of their queue, as ranges."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[tuple[str, int, str], MessageRange] = {}

    def add(
        self,
        queue: tuple[str, int],
        index: int,
        cause: Cause,
        stored_at_ms: int | None = None,
    ) -> None:
        """Add one message; its store time is None if it is not known."""
        topic, queue_id = queue
        last = self._last.get((topic, queue_id, cause.why))
        if last is not None and last.end == index:
            last.end = index + 1
            last.last_stored_ms = stored_at_ms or last.last_stored_ms
            last.first_stored_ms = last.first_stored_ms or stored_at_ms
            return
        self._last[topic, queue_id, cause.why] = found = MessageRange(
            topic=topic,
            queue_id=queue_id,
            begin=index,
            end=index + 1,
            first_stored_ms=stored_at_ms,
            last_stored_ms=stored_at_ms,
            cause=cause,
        )
        self.append(found)


class OffsetOutside(Struct, frozen=True, kw_only=True):
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
    is_expected: bool = True
    """Whether the store has the file, or must have had it."""

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.file.rpartition("/")[2]

    @property
    def has_lost(self) -> bool:
        """Whether the broker does not read what the file had."""
        return self.is_expected and self.source != "file"


class Outcome(Struct, kw_only=True):
    """All effects of a start on a store."""

    release: str
    after_crash: bool
    log: LogState
    index: IndexState
    queues: list[QueueState] = field(default_factory=list)
    """Queues by topic and queue id; none before recovery."""
    refusal: StartRefusedError | None = None
    lost: Ranges = field(default_factory=Ranges)
    invisible: Ranges = field(default_factory=Ranges)
    of_deleted_topics: Ranges = field(default_factory=Ranges)
    """Messages in no queue because their topic was deleted, perhaps created again.

    Their topic may also have lost the directory of its queues, as the cause states."""
    repeated: Ranges = field(default_factory=Ranges)
    offsets: list[OffsetOutside] = field(default_factory=list)
    delay_offsets: list[OffsetOutside] = field(default_factory=list)
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
        return [one for one in self.lost if one.cause.is_unreadable]

    @property
    def destroyed(self) -> list[MessageRange]:
        """Lost messages that could be read before the start."""
        return [one for one in self.lost if not one.cause.is_unreadable]

    @property
    def units_at_garbage(self) -> int:
        """Number of units that stay, although no record lies in their place."""
        stay = CLAUSES_OF_UNITS_LEFT
        return messages_in(one for one in self.unreadable if one.cause.clause in stay)

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
