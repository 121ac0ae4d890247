"""
Popped messages of one group, as sets: ready, hidden for a time, acknowledged.

Times are a broker's own: the time of a pop, and the store time of the record by which a
message became visible again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

CLOCK_TICK_MS = 100
"""Two clocks of a broker differ by less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hidden:
    """A popped message without an acknowledgement."""

    visible_at_ms: int
    """End of its invisible time."""
    clause: str
    """Clause that requires this end: of the pop, or of a later change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A rule that a pop has broken."""

    clause: str
    reason: str


@dataclass(slots=True)
class Pops:
    """Each message of a topic, by its number, with its state for one group."""

    ready: dict[int, list[int]] = field(default_factory=dict)
    """Messages that were never popped, by queue id, the oldest first."""
    hidden: dict[int, Hidden] = field(default_factory=dict)
    acknowledged: set[int] = field(default_factory=set)
    popped_times: dict[int, int] = field(default_factory=dict)

    def send(self, number: int, *, queue_id: int) -> None:
        """Store a message behind those of its queue."""
        self.ready.setdefault(queue_id, []).append(number)
        self.popped_times[number] = 0

    @property
    def missing(self) -> set[int]:
        """Messages that a pop must still return, now or after an invisible time."""
        return set(self.popped_times) - self.acknowledged

    def first_pops(self, numbers: Sequence[int], *, queue_id: int) -> Broken | None:
        """Check the messages of a queue that one pop returned for the first time."""
        ready = self.ready.get(queue_id, [])
        for number in numbers:
            if number in self.acknowledged or number not in ready:
                is_done = number in self.acknowledged
                clause = "POP-ACK-001" if is_done else "POP-HIDE-001"
                state = "acknowledged" if is_done else "hidden"
                return Broken(clause=clause, reason=f"message {number}, {state}")
        expected = ready[: len(numbers)]
        if list(numbers) == expected:
            return None
        reason = f"messages {list(numbers)} of queue {queue_id}, not {expected}"
        return Broken(clause="POP-GET-003", reason=reason)

    def repeated(self, number: int, *, stored_at_ms: int) -> Broken | None:
        """Check a message that a pop returned again, stored anew at that time."""
        if number in self.acknowledged:
            reason = f"message {number}, which was acknowledged"
            return Broken(clause="POP-ACK-001", reason=reason)
        hidden = self.hidden.get(number)
        if hidden is None:
            reason = f"message {number} again, which was not popped"
            return Broken(clause="POP-REVIVE-002", reason=reason)
        early_ms = hidden.visible_at_ms - stored_at_ms
        if early_ms <= CLOCK_TICK_MS:
            return None
        reason = f"message {number}, {early_ms} ms before its invisible time ends"
        return Broken(clause=hidden.clause, reason=reason)

    def hide(self, number: int, *, visible_at_ms: int) -> None:
        """Hide a message that a pop has returned."""
        for numbers in self.ready.values():
            if number in numbers:
                numbers.remove(number)
        self.popped_times[number] += 1
        self.hidden[number] = Hidden(
            visible_at_ms=visible_at_ms, clause="POP-REVIVE-001"
        )

    def change(self, number: int, *, visible_at_ms: int) -> None:
        """Hide a message until another time."""
        is_longer = visible_at_ms >= self.hidden[number].visible_at_ms
        clause = "POP-INVISIBLE-002" if is_longer else "POP-INVISIBLE-001"
        self.hidden[number] = Hidden(visible_at_ms=visible_at_ms, clause=clause)

    def acknowledge(self, number: int) -> None:
        """Consume a message."""
        del self.hidden[number]
        self.acknowledged.add(number)
