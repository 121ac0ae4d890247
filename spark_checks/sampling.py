"""
An audit of a part of a large log: ranges that chance chooses, the same for one seed.

The log is cut into pieces, and some are chosen. A range begins at the first record in
it that is surely one and ends where another surely begins, so that its rows are just
those that a reader of the whole log finds there. Consume queues, index files and
configuration are small beside the log and are read whole; of them only what is about
the chosen records is compared. What takes the whole log is not judged.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from spark_checks.digest import Digest
from spark_checks.findings import Invariant
from spark_checks.invariants import records, side_files
from spark_checks.second_look import STAGE_CHECKS
from spark_checks.sources.record_scan import FileRange, ReadAt, find_record, is_sure
from spark_checks.sources.store_files import Store, StoreFile, reading

PIECES_PER_FILE = 64
PIECE_SIZE_MIN = 4096
PIECE_SIZE_MAX = 16 * 1024 * 1024
PROBE_SIZE = 64 * 1024
"""Bytes in which the next record mostly begins."""
_ABOUT_ONE_RECORD = ("INV-RETRY-",)
NEEDS_WHOLE: tuple[Invariant, ...] = (
    records.FILE_WRITTEN_TO_ITS_END,
    records.QUEUE_OFFSETS_DENSE,
    side_files.CHECKPOINT_NOT_AHEAD,
    *(one for one in STAGE_CHECKS if not one.id.startswith(_ABOUT_ONE_RECORD)),
)
"""What is not judged of a sample, for it takes the whole log."""


class SampleError(Exception):
    """Nothing that is asked for can be judged of a sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """Which part of a log is to be looked at."""

    fraction: float
    """The share of its pieces, more than 0 and up to 1."""
    seed: int
    """Whoever says it again gets the same pieces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Which part of a log was looked at."""

    wish: Wish
    ranges: tuple[tuple[int, int], ...]
    """Commit-log offsets at which ranges begin, and behind them; in order."""
    log_size: int
    """Bytes of the whole log, as far as it is written."""
    surely_reaches: int
    """Commit-log offset up to which the log surely goes."""

    @property
    def size(self) -> int:
        """Bytes of the ranges."""
        return sum(end - begin for begin, end in self.ranges)

    def seen_by_all(self, seen: Digest) -> Digest:
        """Return what was *seen* of the sample, with what is known of the log's end."""
        return replace(seen, log_end=max(seen.log_end, self.surely_reaches))

    def as_json(self) -> dict[str, object]:
        """Return the sample as the audit's output has it; 64-bit values are strings."""
        return {
            "fraction": self.wish.fraction,
            "seed": self.wish.seed,
            "ranges": [[str(begin), str(end)] for begin, end in self.ranges],
            "bytes": str(self.size),
            "of_bytes": str(self.log_size),
            "not_judged": [one.id for one in NEEDS_WHOLE],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """A part of a file of the log, by positions in it."""

    file: StoreFile
    start: int
    end: int


def sample_of(store: Store, wish: Wish) -> Sample:
    """Return the sample of the log of *store* that is wished for."""
    pieces = _written(store, [p for file in store.commit_log for p in _cut(file)])
    count = min(max(round(wish.fraction * len(pieces)), 1), len(pieces))
    chance = random.Random(wish.seed)  # noqa: S311 # no secret
    chosen = sorted(chance.sample(range(len(pieces)), count))
    found = [_range_of(store, run) for run in _joined([pieces[n] for n in chosen])]
    ranges = tuple(one for one in found if one is not None)
    return Sample(
        wish=wish,
        ranges=ranges,
        log_size=sum(piece.end - piece.start for piece in pieces),
        surely_reaches=max(
            (_reaches(store, end) for _, end in ranges), default=store.min_offset
        ),
    )


def judged(only: Collection[str], known: Collection[Invariant]) -> list[str]:
    """Return which ids of *only*, of all *known* ones if empty, a sample can judge."""
    left_out = {one.id for one in NEEDS_WHOLE}
    asked = only or [one.id for one in known]
    found = [one for one in asked if one not in left_out]
    if not found:
        raise SampleError(f"a sample cannot tell {', '.join(asked)}")
    return found


def _cut(file: StoreFile) -> Iterator[_Piece]:
    size = max(min(file.size // PIECES_PER_FILE, PIECE_SIZE_MAX), PIECE_SIZE_MIN)
    for start in range(0, file.size, size):
        yield _Piece(file=file, start=start, end=min(start + size, file.size))


def _written(store: Store, pieces: Sequence[_Piece]) -> Sequence[_Piece]:
    """Return *pieces* without those at the end that begin with zeros."""
    for index in range(len(pieces) - 1, -1, -1):
        piece = pieces[index]
        with reading(store.url, piece.file.path) as read_at:
            size = min(PIECE_SIZE_MIN, piece.end - piece.start)
            if read_at(piece.start, size).strip(b"\0"):
                return pieces[: index + 1]
    return []


def _joined(pieces: Sequence[_Piece]) -> Iterator[_Piece]:
    """Yield *pieces*, those that touch as one."""
    run: _Piece | None = None
    for piece in pieces:
        if run is not None and (run.file, run.end) == (piece.file, piece.start):
            run = replace(run, end=piece.end)
            continue
        if run is not None:
            yield run
        run = piece
    if run is not None:
        yield run


def _range_of(store: Store, piece: _Piece) -> tuple[int, int] | None:
    """Return the range of the records of *piece*; None where none surely begins."""
    base, size = piece.file.base or 0, piece.file.size
    where = FileRange(base=base, file_size=size, start=0, end=size)
    with reading(store.url, piece.file.path) as read_at:
        begin = _record_at(read_at, where, piece.start, piece.end)
        end = _record_at(read_at, where, piece.end, size)
    if begin < 0:
        return None
    return base + begin, base + (size if end < 0 else end)


def _record_at(read_at: ReadAt, where: FileRange, start: int, end: int) -> int:
    """Return where in [start, end) surely a record begins, or -1.

    The beginning of a file is where a reader of all begins, whatever is there.
    """
    if not start:
        return 0
    near = replace(where, file_size=min(start + PROBE_SIZE, where.file_size))
    found = find_record(read_at, near, start=start, end=min(end, near.file_size))
    return found if found >= 0 else find_record(read_at, where, start=start, end=end)


def _reaches(store: Store, end: int) -> int:
    """Return how far the log surely goes by a range that ends at *end*."""
    for file in store.commit_log:
        base = file.base or 0
        if base <= end < base + file.size:
            where = FileRange(base=base, file_size=file.size, start=0, end=file.size)
            with reading(store.url, file.path) as read_at:
                return end + 1 if is_sure(read_at, where, end - base) else 0
    return 0
