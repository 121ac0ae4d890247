"""
Pieces of the common range of two commit logs.

A log may begin later on one side after cleaning, and end earlier on a slave. The range
between must hold the same bytes. A piece is a range in one file of each side, or of one
side if the other has no file for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count, pairwise

from spark_checks.store_files import Store, StoreFile, file_at

PIECE_SIZE = 16 * 1024 * 1024
"""Bytes compared per piece."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Range of commit-log offsets, and the files that hold it."""

    number: int
    """Adjacent pieces have adjacent numbers."""
    begin: int
    end: int
    here: StoreFile | None
    there: StoreFile | None


def cut(here: Store, there: Store, *, begin: int, end: int) -> list[Piece]:
    """Return the pieces of [begin, end) for which at least one log has a file."""
    logs = here.commit_log, there.commit_log
    edges = {begin, end}
    for file in (*logs[0], *logs[1]):
        edges |= {file.base or 0, (file.base or 0) + file.size}
    found: list[Piece] = []
    numbers = count()
    for first, last in pairwise(sorted(e for e in edges if begin <= e <= end)):
        of_here, of_there = (file_at(log, first) for log in logs)
        if of_here is None and of_there is None:
            next(numbers)
            continue
        found += [
            Piece(
                number=next(numbers),
                begin=start,
                end=min(start + PIECE_SIZE, last),
                here=of_here,
                there=of_there,
            )
            for start in range(first, last, PIECE_SIZE)
        ]
    return found
