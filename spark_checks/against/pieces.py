"""
Pieces of the common range of two commit logs.

A log may begin later on one side after cleaning, and end earlier on a slave. The range
between must hold the same bytes. A piece is a range in one file of each side, or of one
side if the other has no file for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from spark_checks.store_files import Store, StoreFile, file_at

PIECE_SIZE = 16 * 1024 * 1024
"""Bytes compared per piece."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """Commit log of one store."""

    url: str
    files: tuple[StoreFile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """File of one store with a piece in it."""

    url: str
    path: str
    base: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Range of commit-log offsets, and the files that hold it."""

    begin: int
    end: int
    here: Side | None
    there: Side | None


def log_of(store: Store) -> Log:
    """Return the commit log of *store*."""
    return Log(url=store.url, files=store.commit_log)


def cut(here: Log, there: Log, *, begin: int, end: int) -> list[Piece]:
    """Return the pieces of [begin, end) for which at least one log has a file."""
    edges = {begin, end}
    for log in (here, there):
        for file in log.files:
            edges |= {file.base or 0, (file.base or 0) + file.size}
    marks = sorted(edge for edge in edges if begin <= edge <= end)
    found: list[Piece] = []
    for first, last in pairwise(marks):
        sides = (_side_at(here, first), _side_at(there, first))
        if sides != (None, None):
            found += _cut_range(first, last, *sides)
    return found


def _side_at(log: Log, offset: int) -> Side | None:
    """Return the file of *log* with the byte at *offset*; None without one."""
    file = file_at(log.files, offset)
    if file is None:
        return None
    return Side(url=log.url, path=file.path, base=file.base or 0, size=file.size)


def _cut_range(
    begin: int, end: int, here: Side | None, there: Side | None
) -> Iterator[Piece]:
    for start in range(begin, end, PIECE_SIZE):
        yield Piece(
            begin=start, end=min(start + PIECE_SIZE, end), here=here, there=there
        )
