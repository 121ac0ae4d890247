"""
A trace: what a store asked of its disk, in order, in the words of a file system.

Beside that it says, after every step of a workload, what the store believed then:
which records its log had, and up to where it called the log flushed. A power cut
may fall between any two events; a step that it falls into may be done or not.
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
    """Bytes of a file were changed; the disk may hear of it at any time."""

    number: int
    at: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Flushed:
    """The bytes of a file are on disk, and all names up to now."""

    number: int


@dataclass(frozen=True, slots=True)
class Renamed:
    """A file got another name, and took it from whatever had it."""

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
class Belief:
    """What a store believed between two steps."""

    records: Mapping[int, bytes] = field(default_factory=dict)
    """The records of its log by their offsets."""
    flushed: int = 0
    """The log is on disk up to here, it said."""


@dataclass(slots=True)
class Trace:
    """Events, and the beliefs between the steps that they belong to."""

    image: Mapping[str, bytes] = field(default_factory=dict)
    """What was on disk at the beginning: contents by path."""
    before: Belief = field(default_factory=Belief)
    events: list[Event] = field(default_factory=list)
    steps: list[tuple[int, Belief]] = field(default_factory=list)
    """After so many events a step was done, and that was believed."""

    def step(self, belief: Belief) -> None:
        """Note that a step is done."""
        self.steps.append((len(self.events), belief))

    def beliefs_at(self, count: int) -> tuple[Belief, Belief]:
        """Return what was believed before and after the step of event *count*."""
        last = self.before
        for events, belief in self.steps:
            if events >= count:
                return (belief, belief) if events == count else (last, belief)
            last = belief
        return last, last
