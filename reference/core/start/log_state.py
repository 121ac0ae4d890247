"""
The commit log during a start: its files, and how far it goes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

from reference.core.store.recovery_log import FirstRecord
from reference.core.store.recovery_rules import RecoveryRules
from reference.core.store.recovery_scan import Sighted, read_record
from spec.store.blank import BLANK_SIZE_MIN
from spec.store.message_record import FIXED_SIZE_V4, MAGIC_V1, MAGIC_V2

_PIECE = 1 << 20
_SMALLEST = FIXED_SIZE_V4 + 1
"""A record without a body, of a topic with one letter."""
_MAGICS = [magic.to_bytes(4, "big") for magic in (MAGIC_V1, MAGIC_V2)]


class LogState:
    """The log between its files on disk and what they are after the start."""

    def __init__(
        self,
        names: list[str],
        file_size: int,
        open_file: Callable[[str], memoryview],
        rules: RecoveryRules,
    ) -> None:
        self._names = {int(name): name for name in names}
        self.bases = [int(name) for name in names]
        self.file_size = file_size
        self.end = self.bases[-1] + file_size if self.bases else 0
        """The next message is written here."""
        self._open_name = open_file
        self._rules = rules

    @property
    def start(self) -> int:
        """The first byte that there is; -1 without files."""
        return self.bases[0] if self.bases else -1

    def open(self, base: int) -> memoryview:
        """Return the whole file that begins at *base*."""
        return self._open_name(self._names[base])

    def name(self, base: int) -> str:
        """Return the name of the file that begins at *base*."""
        return self._names[base]

    def file_of(self, place: int) -> int | None:
        """Return where the file begins that has *place*, None without one."""
        for base in reversed(self.bases):
            if base <= place < base + self.file_size:
                return base
        return None

    def first_record(self, number: int) -> FirstRecord:
        """Return what stands at the beginning of the file *number*."""
        data = self.open(self.bases[number])
        flags = int.from_bytes(data[36:40], "big")
        at = 48 + (20 if self._rules.knows_v6 and flags & 16 else 8)
        return FirstRecord(
            int.from_bytes(data[4:8], "big"),
            int.from_bytes(data[at : at + 8], "big", signed=True),
        )

    def holes(self) -> list[tuple[int, int]]:
        """Return from where to where files are missing between those that are there."""
        return [
            (before + self.file_size, after)
            for before, after in pairwise(self.bases)
            if before + self.file_size < after
        ]

    @property
    def next_place(self) -> int:
        """Where the next record is written: where a blank is due, in the next file."""
        left = -self.end % self.file_size
        return self.end + left if 0 < left < _SMALLEST + BLANK_SIZE_MIN else self.end

    def record_at(self, place: int) -> Sighted | None:
        """Return the record that begins at *place*, None where there is none."""
        base = self.file_of(place)
        if base is None:
            return None
        seen = read_record(self.open(base), place - base, self._rules, check_crc=False)
        return seen if isinstance(seen, Sighted) else None

    def records(self, begin: int, end: int) -> Iterator[tuple[int, Sighted]]:
        """Return all records from *begin* to *end* with their places.

        Behind garbage it goes on at the next thing that is a record, and says that it
        lies where it lies.
        """
        for base in self.bases:
            if base + self.file_size > begin and base < end:
                data = self.open(base)[: min(end - base, self.file_size)]
                yield from self._records_in(data, base, max(begin - base, 0))

    def written_end(self, looked_at: Callable[[int], None]) -> int:
        """Return where the last byte that is not zero ends."""
        for base in reversed(self.bases):
            data = self.open(base)
            end = len(data)
            while end:
                piece = bytes(data[max(end - _PIECE, 0) : end]).rstrip(b"\0")
                looked_at(_PIECE)
                end = max(end - _PIECE, 0)
                if piece:
                    return base + end + len(piece)
        return max(self.start, 0)

    def _records_in(
        self, data: memoryview, base: int, at: int
    ) -> Iterator[tuple[int, Sighted]]:
        is_sure = True
        while at < len(data):
            seen = read_record(data, at, self._rules, check_crc=False)
            if isinstance(seen, Sighted) and (
                is_sure or seen.physical_offset == base + at
            ):
                is_sure = True
                yield base + at, seen
                at += seen.size
                continue
            is_sure = False
            at = _next_magic(data, at + 5) - 4


def _next_magic(data: memoryview, at: int) -> int:
    """Return where the next magic of a record stands, the end of *data* if none."""
    while at < len(data):
        piece = bytes(data[at : at + _PIECE + 3])
        found = [place for magic in _MAGICS if (place := piece.find(magic)) >= 0]
        if found:
            return at + min(found)
        at += _PIECE
    return len(data) + 4
