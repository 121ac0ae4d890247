"""
Audit of a random part of a large log, repeatable by seed.

The log is cut into pieces, and some are chosen. A range begins and ends at a certain
record, one with its own offset in it. Its rows are therefore those of a whole audit.
Consume queues, index files and configuration are read whole, because they are small.
Invariants that need the whole log are not checked.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from columns.scan.log_file import LogRange, ReadAt, find_record, is_certain
from spark_checks.file_systems import reading
from spark_checks.findings import INVARIANTS
from spark_checks.store_files import Store, StoreFile

PIECES_PER_FILE = 64
PIECE_SIZE_MIN = 4096
PIECE_SIZE_MAX = 16 * 1024 * 1024
NEEDS_WHOLE_LOG = [one.id for one in INVARIANTS.values() if one.needs_whole_log]
"""Invariants that a sample cannot check."""


class SampleError(Exception):
    """A sample can check none of the requested invariants."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleSpec:
    """Selection of a part of a log."""

    fraction: float
    """Share of the log's pieces, above 0 and up to 1."""
    seed: int
    """The same seed selects the same pieces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Selected part of a log."""

    spec: SampleSpec
    ranges: tuple[tuple[int, int], ...]
    """Begin and end of each range, as commit-log offsets, in order."""
    log_size: int
    """Bytes of the written part of the log."""
    certain_end: int
    """Lower bound of the log's end, as a commit-log offset."""

    @property
    def size(self) -> int:
        """Bytes of all ranges."""
        return sum(end - begin for begin, end in self.ranges)

    def as_json(self) -> dict[str, object]:
        """Return the sample for the audit's JSON output; 64-bit values are strings."""
        return {
            "fraction": self.spec.fraction,
            "seed": self.spec.seed,
            "ranges": [[str(begin), str(end)] for begin, end in self.ranges],
            "bytes": str(self.size),
            "of_bytes": str(self.log_size),
            "not_judged": NEEDS_WHOLE_LOG,
        }


def sample_of(store: Store, spec: SampleSpec) -> Sample:
    """Return the sample of the log of *store* that *spec* selects."""
    pieces = _written(store, [p for file in store.commit_log for p in _cut(file)])
    count = min(max(round(spec.fraction * len(pieces)), 1), len(pieces))
    chance = random.Random(spec.seed)  # noqa: S311 # no secret
    chosen = sorted(chance.sample(range(len(pieces)), count))
    found = [_range_of(store, run) for run in _joined([pieces[n] for n in chosen])]
    ranges = tuple(one for one in found if one is not None)
    return Sample(
        spec=spec,
        ranges=ranges,
        log_size=sum(piece.end - piece.start for piece in pieces),
        certain_end=max(
            (_reaches(store, end) for _, end in ranges), default=store.min_offset
        ),
    )


def checked_ids(only: Collection[str]) -> list[str]:
    """Return the ids that a sample can check, among *only* or all."""
    requested = only or [*INVARIANTS]
    found = [one for one in requested if one not in NEEDS_WHOLE_LOG]
    if not found:
        raise SampleError(f"a sample cannot check {', '.join(requested)}")
    return found


def _cut(file: StoreFile) -> Iterator[LogRange]:
    size = max(min(file.size // PIECES_PER_FILE, PIECE_SIZE_MAX), PIECE_SIZE_MIN)
    return file.whole.cut(size)


def _written(store: Store, pieces: Sequence[LogRange]) -> Sequence[LogRange]:
    """Return *pieces* without those at the end that begin with zeros."""
    for index in range(len(pieces) - 1, -1, -1):
        piece = pieces[index]
        with reading(store.url, piece.path) as read_at:
            size = min(PIECE_SIZE_MIN, piece.end - piece.start)
            if read_at(piece.start, size).strip(b"\0"):
                return pieces[: index + 1]
    return []


def _joined(pieces: Sequence[LogRange]) -> list[LogRange]:
    """Return *pieces*, adjacent ones joined."""
    found: list[LogRange] = []
    for piece in pieces:
        is_next = found and (found[-1].base, found[-1].end) == (piece.base, piece.start)
        found.append(replace(piece, start=found.pop().start) if is_next else piece)
    return found


def _range_of(store: Store, piece: LogRange) -> tuple[int, int] | None:
    """Return the range of the records of *piece*; None without a certain record."""
    with reading(store.url, piece.path) as read_at:
        begin = _record_at(read_at, piece, piece.start, piece.end)
        end = _record_at(read_at, piece, piece.end, piece.file_size)
    if begin < 0:
        return None
    return piece.base + begin, piece.base + (piece.file_size if end < 0 else end)


def _record_at(read_at: ReadAt, where: LogRange, start: int, end: int) -> int:
    """Return the position of the first certain record in [start, end), or -1.

    A range that starts a file begins at position 0, even without a record.
    """
    return find_record(read_at, where, start=start, end=end) if start else 0


def _reaches(store: Store, end: int) -> int:
    """Return a lower bound of the log's end from a range that ends at *end*."""
    file = store.log_file_at(end)
    if file is None:
        return 0
    with reading(store.url, file.path) as read_at:
        is_record = is_certain(read_at, file.whole, end - file.base)
    return end + 1 if is_record else 0
