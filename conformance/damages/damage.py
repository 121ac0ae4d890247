"""
Damage: one event that changes a store while it is closed.

A damage is done to a copy of a store that a broker wrote and closed. It finds its
target by meaning (the last record, the queue's third unit from the end). It is
therefore the same damage in the store of any release. Nothing is random.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from spec.store.checkpoint import Checkpoint, decode_checkpoint, encode_checkpoint
from spec.store.commit_log import PlacedRecord, scan
from spec.store.config.config_files import BACKUP_SUFFIX
from spec.store.consume_queue import UNIT_SIZE, Unit, decode_units, encode_unit
from spec.store.file_names import (
    ABORT,
    CHECKPOINT,
    COMMIT_LOG,
    CONFIG,
    CONSUME_QUEUE,
    INDEX,
    file_name,
    offset_of,
)

Edit: TypeAlias = Callable[["StoreCopy"], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """One kind of damage to a store."""

    name: str
    description: str
    """Description of the damage, in a line."""
    do: Edit
    after_crash: bool = False
    """Whether the file abort is there, too, as after a kill."""
    unsettled: tuple[str, ...] = ()
    """Fields of the outcome that differ from start to start: they are not compared."""

    def apply_to(self, store: Path) -> None:
        """Damage *store*, which no other process may read meanwhile."""
        copy = StoreCopy(store)
        if self.after_crash:
            copy.abort()
        self.do(copy)


@dataclass(frozen=True, slots=True)
class StoreCopy:
    """A store directory to be damaged. Files and records count from 0, or back."""

    path: Path

    def log_names(self) -> list[str]:
        """Return the names of the commit log's files."""
        return names_in(self.path / COMMIT_LOG)

    def log_file(self, number: int) -> Path:
        """Return the path of a file of the commit log."""
        return self.path / COMMIT_LOG / self.log_names()[number]

    def after_log(self) -> Path:
        """Return the path that the next file of the commit log will have."""
        last = self.log_file(-1)
        return last.with_name(file_name(offset_of(last.name) + last.stat().st_size))

    def records(self, number: int) -> tuple[PlacedRecord, ...]:
        """Return the records of a file of the commit log, placed in that file."""
        return scan(self.log_file(number).read_bytes()).records

    def log_end(self) -> int:
        """Return the end of the last file's records, relative to that file."""
        last = self.records(-1)[-1]
        return last.offset + last.size

    def queue_file(self, topic: str, queue_id: int, number: int) -> Path:
        """Return the path of a file of a consume queue."""
        directory = self.queue(topic, queue_id)
        return directory / names_in(directory)[number]

    def queue(self, topic: str, queue_id: int) -> Path:
        """Return the directory of a consume queue."""
        return self.path / CONSUME_QUEUE / topic / str(queue_id)

    def queues(self) -> list[Path]:
        """Return the directories of all consume queues."""
        return sorted((self.path / CONSUME_QUEUE).glob("*/*"))

    def index_file(self, number: int) -> Path:
        """Return the path of an index file."""
        return self.path / INDEX / names_in(self.path / INDEX)[number]

    def config(self, name: str) -> Path:
        """Return the path of a configuration file."""
        return self.path / CONFIG / name

    def backup(self, name: str) -> Path:
        """Return the path of a configuration file's copy of the time before."""
        return self.path / CONFIG / f"{name}{BACKUP_SUFFIX}"

    def abort(self) -> None:
        """Leave the mark of a broker that was killed."""
        (self.path / ABORT).touch()

    @property
    def checkpoint(self) -> Path:
        """The checkpoint's path."""
        return self.path / CHECKPOINT

    def move_checkpoint(self, *, physic_ms: int, index_ms: int | None = None) -> None:
        """Write times into the checkpoint that are later by so much."""
        old = decode_checkpoint(self.checkpoint.read_bytes())
        new = replace(
            old,
            physic_ms=old.physic_ms + physic_ms,
            logics_ms=old.logics_ms + physic_ms,
            index_ms=old.index_ms + (physic_ms if index_ms is None else index_ms),
        )
        self.checkpoint.write_bytes(encode_checkpoint(new))

    def write_checkpoint(self, **fields: int) -> None:
        """Replace the checkpoint."""
        self.checkpoint.write_bytes(encode_checkpoint(Checkpoint(**fields)))


class Catalogue(dict[str, Damage]):
    """Damages by name. A function becomes one by decoration: its name and docstring."""

    def add(
        self,
        *,
        after_stop: bool = True,
        after_crash: bool = False,
        unsettled: tuple[str, ...] = (),
    ) -> Callable[[Edit], Edit]:
        """Return a decorator that enters a damage, without abort, with it, or both."""

        def entered(do: Edit) -> Edit:
            name = do.__name__
            description = (do.__doc__ or "").strip().splitlines()[0]
            for crashed in [False] * after_stop + [True] * after_crash:
                self[name + "_after_crash" * crashed] = Damage(
                    name=name + "_after_crash" * crashed,
                    description=description,
                    do=do,
                    after_crash=crashed,
                    unsettled=unsettled,
                )
            return do

        return entered


def names_in(directory: Path) -> list[str]:
    """Return the names in *directory*, in order; the last digits decide."""
    return sorted(path.name for path in directory.iterdir())


def patch(path: Path, position: int, data: bytes) -> None:
    """Write *data* over what *path* has at *position*; the size stays."""
    old = path.read_bytes()
    assert position + len(data) <= len(old), f"{path} has no room for that"
    path.write_bytes(old[:position] + data + old[position + len(data) :])


def clear(path: Path, begin: int, end: int | None = None) -> None:
    """Make zeros of the bytes of *path* from *begin* to *end*, or to its end."""
    stop = path.stat().st_size if end is None else end
    patch(path, begin, bytes(stop - begin))


def flip(path: Path, position: int) -> None:
    """Flip the lowest bit of the byte of *path* at *position*."""
    patch(path, position, bytes([path.read_bytes()[position] ^ 1]))


def cut(path: Path, size: int) -> None:
    """Shorten *path* to *size* bytes."""
    path.write_bytes(path.read_bytes()[:size])


def cut_back(directory: Path, count: int) -> None:
    """Make zeros of the last *count* units of a consume queue; files stay."""
    left = count
    for name in reversed(names_in(directory)):
        path = directory / name
        written = len(decode_units(path.read_bytes()))
        gone = min(left, written)
        clear(path, (written - gone) * UNIT_SIZE)
        left -= gone


def write_unit(path: Path, number: int, unit: Unit) -> None:
    """Write *unit* at place *number* of a consume queue's file."""
    patch(path, number * UNIT_SIZE, encode_unit(unit))


def remove(path: Path) -> None:
    """Remove a file, or a directory and all in it."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
