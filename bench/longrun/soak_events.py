"""
Comparison of the events of Java clients in a soak with the store at its end.

A client writes an event for each message that the broker answered, that failed to be
sent, or that a listener has consumed. The requirement is at-least-once delivery. Each
answered message is at its response's place, and each stored message was received. A
message comes again only if a consumer ended before it had committed it. Some unanswered
messages may be stored: those in flight when a producer ended, and failed attempts.
Pure: arrays in, a balance out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

KEY_SIZE = 16
"""Bytes of a unique key that count: its last, which no two messages share."""
EVENT = np.dtype(
    [("kind", ">i4"), ("queue", ">i4"), ("offset", ">i8"), ("key", f"S{KEY_SIZE}")]
)
"""An event as ``java/WatchedClient.java`` writes it."""

Events = npt.NDArray[Any]
Keys = npt.NDArray[np.bytes_]
Flags = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


class Kind(IntEnum):
    """Kinds of events."""

    ANSWERED = 1
    FAILED = 2
    RECEIVED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientRun:
    """A client from its start to its end."""

    events: Events
    begins: Mapping[int, int] = field(default_factory=dict)
    """For each queue, the offset that was committed when a consumer started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """Counts of messages by their way."""

    stored: int
    answered: int
    failed: int
    """Attempts that failed or that the producers abandoned."""
    unanswered: int
    """Stored, and no producer noted a response."""
    in_flight: int
    """As many may have been on their way when a producer ended."""
    lost: int
    """Answered, and not at the place in the response."""
    stored_twice: int
    received: int
    """Different messages, not how often."""
    repeated: int
    """Receipts of messages that had been received."""
    missed: int
    """Stored, and never received."""
    strange: int
    """Received, and not what is stored there."""
    repeated_needlessly: int
    """Received again by the same client, or though it had been committed."""
    uncommitted: int
    """Messages that the group has not committed in the end."""

    @property
    def faults(self) -> tuple[str, ...]:
        """Violations of at-least-once delivery, as sentences."""
        wrong = {
            "answered messages are not where their answers said": self.lost,
            "stored messages were never received": self.missed,
            "received messages are not those that are stored": self.strange,
            "messages came again without need": self.repeated_needlessly,
            "messages are not committed": self.uncommitted,
            "messages are stored twice without a failed attempt": max(
                0, self.stored_twice - self.failed
            ),
            "messages are stored that nobody can have sent": max(
                0, self.unanswered - self.failed - self.in_flight
            ),
        }
        return tuple(f"{count} {what}" for what, count in wrong.items() if count)


def read_events(path: Path) -> Events:
    """Return the events in a client's file, without one that was cut short."""
    data = path.read_bytes() if path.exists() else b""
    return np.frombuffer(data[: len(data) // EVENT.itemsize * EVENT.itemsize], EVENT)


class StoredKeys:
    """The unique keys of all stored messages, queue after queue."""

    def __init__(self, queues: Mapping[int, Keys]) -> None:
        """Take the keys of each queue, in the order of their offsets."""
        count = max(queues, default=-1) + 1
        empty = np.empty(0, f"S{KEY_SIZE}")
        parts = [queues.get(queue_id, empty) for queue_id in range(count)]
        self.sizes: Ints = np.array([len(part) for part in parts], np.int64)
        self.keys: Keys = np.concatenate([empty, *parts])
        self._begins = np.cumsum(self.sizes) - self.sizes

    def __len__(self) -> int:
        return len(self.keys)

    def places(self, events: Events) -> tuple[Ints, Flags]:
        """Return the place of each event's message, and whether it is that message."""
        queue, offset = events["queue"].astype(np.int64), events["offset"]
        if not len(self):
            return np.zeros(len(events), np.int64), np.zeros(len(events), np.bool_)
        known = (queue >= 0) & (queue < len(self.sizes)) & (offset >= 0)
        queue = np.where(known, queue, 0)
        known &= offset < self.sizes[queue]
        places = np.where(known, self._begins[queue] + offset, 0).astype(np.int64)
        return places, known & (self.keys[places] == events["key"])

    def twice(self) -> int:
        """Return the number of messages stored again with the key of another."""
        return len(self) - len(np.unique(self.keys))


def balance(
    queues: Mapping[int, Keys],
    *,
    producers: Sequence[ClientRun],
    consumers: Sequence[ClientRun],
    committed: Mapping[int, int],
    at_once: int,
) -> Balance:
    """Return the balance of a soak.

    *queues* has the stored keys by offset. *committed* has the group's last offsets.
    *at_once* is the limit of messages that a producer has in flight.
    """
    stored = StoredKeys(queues)
    sent = _all_events(producers)
    places, right = stored.places(sent[sent["kind"] == Kind.ANSWERED])
    answered = len(np.unique(places[right]))
    seen, strange, needless = _receipts(stored, consumers)
    return Balance(
        stored=len(stored),
        answered=answered + int((~right).sum()),
        failed=int((sent["kind"] == Kind.FAILED).sum()),
        unanswered=len(stored) - answered,
        in_flight=at_once * len(producers),
        lost=int((~right).sum()),
        stored_twice=stored.twice(),
        received=int((seen > 0).sum()),
        repeated=int(seen.sum() - (seen > 0).sum()),
        missed=int((seen == 0).sum()),
        strange=strange,
        repeated_needlessly=needless,
        uncommitted=sum(
            abs(len(keys) - committed.get(queue_id, 0))
            for queue_id, keys in queues.items()
        ),
    )


def _receipts(
    stored: StoredKeys, consumers: Sequence[ClientRun]
) -> tuple[Ints, int, int]:
    """Return the receipts of each message, and the numbers of wrong ones."""
    seen = np.zeros(len(stored), np.int64)
    strange = needless = 0
    for run in consumers:
        events = run.events[run.events["kind"] == Kind.RECEIVED]
        places, right = stored.places(events)
        times = np.bincount(places[right], minlength=len(stored))
        seen += times
        strange += int((~right).sum())
        needless += int(times.sum() - (times > 0).sum())
        begins = [run.begins.get(q, 0) for q in range(len(stored.sizes))] or [0]
        begin = np.array(begins)[np.where(right, events["queue"], 0)]
        needless += int((right & (events["offset"] < begin)).sum())
    return seen, strange, needless


def _all_events(runs: Sequence[ClientRun]) -> Events:
    return np.concatenate([np.empty(0, EVENT), *(run.events for run in runs)])
