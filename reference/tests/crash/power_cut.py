"""
Possible contents of a disk after a power cut: every image that a trace allows.

A test cannot cut the power of its machine, so this module is a model of the disk. It is
the only mock of nature in the project.

* Flushed data is there. A flush of a file also keeps every name given before it, as on
  ext4, XFS and btrfs. POSIX promises less, and brokers do not rely on more.
* Each page written since may be on disk in any of the states it went through,
  independently of other pages. One page may be torn between two states at any sector.
* Names and sizes change in order, for the file system keeps a journal of them: some
  first part of the changes is there. So a file may lack, or be empty and lack its
  size; a deleted one may be back.

A disk that lies about flushing, or that corrupts what it does not write, is not meant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from reference.tests.crash.trace import (
    Deleted,
    Event,
    Flushed,
    Made,
    Renamed,
    Settled,
    Sized,
    Written,
)

NameChange = Made | Sized | Renamed | Deleted


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """The units in which a disk writes. Small ones make small traces interesting."""

    page_size: int = 4096
    sector_size: int = 512


@dataclass(slots=True)
class Content:
    """One file: its content for the running program, and the pages not yet flushed."""

    now: bytearray = field(default_factory=bytearray)
    flushed: bytearray = field(default_factory=bytearray)
    states: dict[int, list[bytes]] = field(default_factory=dict)
    """By page, the flushed state and all later ones."""


@dataclass(slots=True)
class Names:
    """A directory tree: which file each path names, and how long the files are."""

    numbers: dict[str, int] = field(default_factory=dict)
    sizes: dict[int, int] = field(default_factory=dict)

    def change(self, event: NameChange) -> None:
        """Make one change."""
        match event:
            case Made(number, path):
                self.numbers[path] = number
                self.sizes[number] = 0
            case Sized(number, size):
                self.sizes[number] = size
            case Renamed(old, new):
                self.numbers[new] = self.numbers.pop(old)
            case Deleted(path):
                self.numbers.pop(path, None)

    def copy(self) -> Names:
        """Return the same, to be changed apart."""
        return Names(dict(self.numbers), dict(self.sizes))


class Disk:
    """A disk that follows a trace."""

    def __init__(self, image: Mapping[str, bytes], geometry: Geometry) -> None:
        self.geometry = geometry
        self.contents: dict[int, Content] = {}
        self.names = Names()
        """As they are on disk for certain."""
        self.waiting: list[NameChange] = []
        """The changes since then."""
        for number, path in enumerate(sorted(image)):
            content = image[path]
            self.contents[number] = Content(bytearray(content), bytearray(content))
            self.names.numbers[path] = number
            self.names.sizes[number] = len(content)

    def follow(self, event: Event) -> None:
        """Take one event."""
        match event:
            case Written(number, at, data):
                self._write(self.contents[number], at, data)
            case Flushed(number):
                self._settle()
                content = self.contents[number]
                content.flushed[:] = content.now
                content.states.clear()
            case Settled():
                self._settle()
            case _:
                self.waiting.append(event)
                if isinstance(event, Made):
                    self.contents[event.number] = Content()
                elif isinstance(event, Sized):
                    content = self.contents[event.number]
                    content.now = bytearray(event.size)
                    content.flushed = bytearray(event.size)

    def names_after(self, count: int) -> Names:
        """Return the names if *count* of the waiting changes are on disk."""
        names = self.names.copy()
        for change in self.waiting[:count]:
            names.change(change)
        return names

    def states_of(self, number: int) -> dict[int, list[bytes]]:
        """Return, by page, all that the disk may hold where there is a choice."""
        sector = self.geometry.sector_size
        return {
            page: found
            for page, states in self.contents[number].states.items()
            if len(found := _with_tears(states, sector)) > 1
        }

    def _settle(self) -> None:
        self.names = self.names_after(len(self.waiting))
        self.waiting.clear()

    def _write(self, content: Content, at: int, data: bytes) -> None:
        size = self.geometry.page_size
        pages = range(at // size, (at + len(data) - 1) // size + 1) if data else ()
        for page in pages:
            if page not in content.states:
                content.states[page] = [_page(content.flushed, page, size)]
        content.now[at : at + len(data)] = data
        for page in pages:
            content.states[page].append(_page(content.now, page, size))


def _page(content: bytearray, page: int, size: int) -> bytes:
    return bytes(content[page * size : (page + 1) * size])


def _with_tears(states: list[bytes], sector: int) -> list[bytes]:
    """Return the states, each once, then those torn between two that follow."""
    found = dict.fromkeys((states[-1], *states))
    for k in range(1, len(states)):
        before, after = states[k - 1], states[k]
        for cut in range(sector, len(after), sector):
            found[after[:cut] + before[cut:]] = None
            found[before[:cut] + after[cut:]] = None
    return list(found)
