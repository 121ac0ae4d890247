"""
Half messages as a dictionary, and what is delivered of them as lists.

A half message has a place in the half topic, and a new one whenever its producer is
sent a check request. A decision is about one place. Every commit delivers. Only one
about the newest place ends the checks.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Place of a half message."""

    commit_log_offset: int
    queue_offset: int
    """Its number in the half topic's queue."""


@dataclass(slots=True, kw_only=True)
class HalfMessage:
    """A half message and what has become of it."""

    key: str
    group: str
    queue_id: int
    body: bytes
    places: list[Place]
    """One, and one more for each check request to its producer."""
    settled_at_ms: int | None = None
    """Time at which its newest place was decided or given up; None while it is open."""

    @property
    def is_open(self) -> bool:
        """Whether its producer will receive check requests for it."""
        return self.settled_at_ms is None


@dataclass(slots=True)
class Transactions:
    """The half messages of one topic."""

    halves: dict[str, HalfMessage] = field(default_factory=dict)
    """By key."""
    queues: dict[int, list[bytes]] = field(default_factory=dict)
    """Bodies that can be pulled, by queue id."""
    noted: set[int] = field(default_factory=set)
    """Numbers of the half messages that are noted to be decided."""
    given_up: list[str] = field(default_factory=list)
    """Keys of those that are not checked any more."""

    def deliver(self, queue_id: int, body: bytes) -> int:
        """Put a message into its queue, and return its queue offset."""
        queue = self.queues.setdefault(queue_id, [])
        queue.append(body)
        return len(queue) - 1

    def decide(
        self, half: HalfMessage, place: Place, *, commits: bool, now_ms: int
    ) -> None:
        """Note a decision about one of the places of *half*."""
        if commits:
            self.deliver(half.queue_id, half.body)
        self.noted.add(place.queue_offset)
        if place == half.places[-1] and half.is_open:
            half.settled_at_ms = now_ms

    def check(self, half: HalfMessage, place: Place) -> None:
        """Record a check request: the message lies at a new *place* for it."""
        half.places.append(place)
        half.settled_at_ms = None

    def give_up(self, now_ms: int) -> None:
        """Give up all that is open."""
        for half in self.halves.values():
            if half.is_open:
                half.settled_at_ms = now_ms
                self.given_up.append(half.key)
