"""
A trace: a store's operations on its disk, in order, in the words of a file system.

It also has the store's state after every step of a workload: the records of its log,
and the flushed position. A power cut may fall between any two events. A step that it
interrupts may be done or not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Made:
    """An empty file got a name."""

    number: int
    path: str


@dataclass(frozen=True, slots=True)
class Sized:
    """An empty file got its size, all zeros."""

    number: int
    size: int


@dataclass(frozen=True, slots=True)
class Written:
    """Bytes of a file were changed; they may reach the disk at any time."""

    number: int
    at: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Flushed:
    """The bytes of a file are on disk, and all names up to now."""

    number: int


@dataclass(frozen=True, slots=True)
class Renamed:
    """A file got another name, and replaced the file that had it."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Deleted:
    """A name is gone."""

    path: str


@dataclass(frozen=True, slots=True)
class Settled:
    """All names up to now are on disk: a directory was flushed."""


Event = Made | Sized | Written | Flushed | Renamed | Deleted | Settled


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreState:
    """State of a store between two steps."""

    records: Mapping[int, bytes] = field(default_factory=dict)
    """The records of its log by their offsets."""
    flushed: int = 0
    """The store reported the log as flushed up to this offset."""


@dataclass(slots=True)
class Trace:
    """Events, and the beliefs between the steps that they belong to."""

    image: Mapping[str, bytes] = field(default_factory=dict)
    """Contents of the disk at the beginning, by path."""
    before: StoreState = field(default_factory=StoreState)
    events: list[Event] = field(default_factory=list)
    steps: list[tuple[int, StoreState]] = field(default_factory=list)
    """Number of events at the end of each step, and the state then."""

    def step(self, state: StoreState) -> None:
        """Note that a step is done."""
        self.steps.append((len(self.events), state))

    def states_at(self, count: int) -> tuple[StoreState, StoreState]:
        """Return the states before and after the step of event *count*."""
        last = self.before
        for events, state in self.steps:
            if events >= count:
                return (state, state) if events == count else (last, state)
            last = state
        return last, last
