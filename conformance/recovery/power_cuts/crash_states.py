"""
Possible states of a killed broker's store after a power cut.

No test can cut the power of the machine that it runs on, so this is a simulation. A
killed broker's files hold all that it wrote. It was configured to flush every message
before its response and to flush its consume queues never. So it is certain which bytes
were on disk. The rest is removed page by page, as if the system had not written it. The
specification defines the bytes of a record, a unit and an item.

A state is a change that is made to a copy of the store. Those with a name are what a
person would think of; others are drawn, from a seed that a failure names.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

from spec.store.commit_log import PlacedRecord
from spec.store.consume_queue import UNIT_SIZE
from spec.store.file_names import (
    ABORT,
    CHECKPOINT,
    COMMIT_LOG,
    CONFIG,
    CONSUME_QUEUE,
    INDEX,
    file_name,
)
from spec.store.recovery.power_cut import PAGE_SIZE, SECTOR_SIZE

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """The files of a killed broker, to take away from."""

    path: Path
    log_file_size: int
    tail: tuple[PlacedRecord, ...]
    """The records that were not flushed, as far as is known; all in one file."""

    def queue_files(self, queue: str = "*/*") -> list[Path]:
        """Return the files of the consume queue, or of all of them."""
        return sorted((self.path / CONSUME_QUEUE).glob(f"{queue}/*"))

    def index_files(self) -> list[Path]:
        """Return the index files."""
        return sorted((self.path / INDEX).iterdir())

    def lose(self, path: Path, begin: int, end: int | None = None) -> None:
        """Make zeros of the bytes from *begin* on, up to *end*, of a file."""
        data = bytearray(path.read_bytes())
        stop = len(data) if end is None else min(end, len(data))
        data[begin:stop] = bytes(max(stop - begin, 0))
        path.write_bytes(data)

    def lose_page(self, path: Path, page: int) -> None:
        """Take one page of a file."""
        self.lose(path, page * PAGE_SIZE, (page + 1) * PAGE_SIZE)

    def age_page(self, path: Path, page: int, unit_count: int) -> None:
        """Make a page what it was when the file had so many units and no more."""
        begin = max(page * PAGE_SIZE, unit_count * UNIT_SIZE)
        self.lose(path, begin, (page + 1) * PAGE_SIZE)

    def lose_log(self, begin: int, end: int) -> None:
        """Take the bytes of the log between two offsets, in one file."""
        base = begin - begin % self.log_file_size
        path = self.path / COMMIT_LOG / file_name(base)
        self.lose(path, begin - base, end - base)

    def tail_sectors(self) -> list[tuple[int, int]]:
        """Return begin and end of every sector with bytes of the tail alone."""
        if not self.tail:
            return []
        begin, last = self.tail[0].offset, self.tail[-1]
        edges = [
            begin,
            *range(begin - begin % SECTOR_SIZE + SECTOR_SIZE, last.offset, SECTOR_SIZE),
            last.offset + last.size,
        ]
        return list(pairwise(edges))


Change = Callable[[Cut], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashState:
    """Something that a power cut may leave."""

    description: str
    change: Change
    is_refused: bool = False
    """A file is empty: releases of REC-LOAD-001 do not start on it."""


def named_states(first: str) -> list[CrashState]:
    """Return the states that have a name; *first* is the queue with two files."""
    return [
        CrashState(
            description=description,
            change=change,
            is_refused="has no size" in description,
        )
        for description, change in _changes(first).items()
    ]


def _changes(first: str) -> dict[str, Change]:
    return {
        "everything is there": lambda _: None,
        "no unit is there": _lose_units,
        "no unit of one queue is there": lambda cut: _lose_units(cut, first),
        "no queue has a file": lambda cut: shutil.rmtree(cut.path / CONSUME_QUEUE),
        "the second file of a queue is not there": lambda cut: cut.queue_files(first)[
            1
        ].unlink(),
        "the second file of a queue has no unit": lambda cut: cut.lose(
            cut.queue_files(first)[1], 0
        ),
        "the second file of a queue has no size": lambda cut: cut.queue_files(first)[
            1
        ].write_bytes(b""),
        "the first page of a queue is not there": lambda cut: cut.lose_page(
            cut.queue_files(first)[0], 0
        ),
        "the second page of a queue is not there": lambda cut: cut.lose_page(
            cut.queue_files(first)[0], 1
        ),
        "no index file is there": lambda cut: shutil.rmtree(cut.path / INDEX),
        "an index file has its first page alone": lambda cut: cut.lose(
            cut.index_files()[0], PAGE_SIZE
        ),
        "an index file lacks its first page": lambda cut: cut.lose_page(
            cut.index_files()[0], 0
        ),
        "the checkpoint is not there": lambda cut: (cut.path / CHECKPOINT).unlink(),
        "the checkpoint has no byte": lambda cut: _empty(cut.path / CHECKPOINT),
        "the mark of a crash is not there": lambda cut: (cut.path / ABORT).unlink(),
        "no settings file has a byte": _empty_settings,
        "the settings files are zeros, but for their copies": _clear_settings,
        "no byte of the tail is there": lambda cut: _lose_tail(cut, 0),
        "the tail's second record is not there": lambda cut: _lose_tail(cut, 1, 2),
        "the tail's last record is cut at a sector": _cut_last_at_a_sector,
        "the tail's last record lacks a sector": _lose_a_sector_of_the_last,
    }


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _empty_settings(cut: Cut) -> None:
    for path in (cut.path / CONFIG).iterdir():
        _empty(path)


def _clear_settings(cut: Cut) -> None:
    for path in (cut.path / CONFIG).glob("*.json"):
        cut.lose(path, 0)


def _lose_units(cut: Cut, queue: str = "*/*") -> None:
    for path in cut.queue_files(queue):
        cut.lose(path, 0)


def _lose_tail(cut: Cut, first: int, end: int | None = None) -> None:
    for placed in cut.tail[first:end]:
        cut.lose_log(placed.offset, placed.offset + placed.size)


def _cut_last_at_a_sector(cut: Cut) -> None:
    begin, end = cut.tail_sectors()[-1]
    cut.lose_log(begin, end)


def _lose_a_sector_of_the_last(cut: Cut) -> None:
    begin, end = cut.tail_sectors()[-3]
    cut.lose_log(begin, end)


def drawn_states(seed: int, count: int) -> Iterator[CrashState]:
    """Yield states of which every page was drawn."""
    for number in range(count):
        change = partial(_draw, seed=f"{seed}/{number}")
        description = f"drawn with CRASH_SEED={seed}, number {number}"
        yield CrashState(description=description, change=change)


def _draw(cut: Cut, seed: str) -> None:
    """Set every page that was not flushed to some state that it went through."""
    chance = random.Random(seed)  # noqa: S311 - a sample that can be had again
    for path, page in _drawn(chance, _pages(cut.queue_files())):
        units = range((page + 1) * PAGE_SIZE // UNIT_SIZE + 1)
        cut.age_page(path, page, chance.choice(units))
    for path, page in _drawn(chance, _pages(cut.index_files())):
        cut.lose_page(path, page)
    for begin, end in _drawn(chance, cut.tail_sectors()):
        cut.lose_log(begin, end)


def _pages(paths: Iterable[Path]) -> Iterator[tuple[Path, int]]:
    for path in paths:
        for page in range(-(-path.stat().st_size // PAGE_SIZE)):
            yield path, page


def _drawn(chance: random.Random, of: Iterable[T]) -> Iterator[T]:
    """Yield one of two, by chance."""
    return (one for one in of if chance.random() < 0.5)
