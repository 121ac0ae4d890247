"""
Range of a commit-log file, and its *certain* records.

Such a record has a magic, and a physical offset equal to its place. These 12 bytes do
not agree by chance, so a record is found in a damaged file too.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Self

from spec.derive.numpy_dtype import leading_fields
from spec.store.file_names import COMMIT_LOG, file_name
from spec.store.message_record import (
    MAGIC_V1,
    MAGIC_V2,
    SMALLEST_SIZE,
    SystemFlag,
    record_layout,
)

WINDOW_SIZE = 8 * 1024 * 1024
"""Bytes of one read."""
BEYOND_SIZE = 64 * 1024
"""Bytes to read behind the end of a range, for its last record."""

ReadAt = Callable[[int, int], bytes]
"""Returns the bytes at a position: the requested number, or fewer at the end."""

_placed = {f.name: f for f in leading_fields(record_layout, system_flags=0)}
"""Fields before the first of variable size; behind the flags, with IPv4 hosts."""
_physical_offset = struct.Struct(">q")
_PHYSICAL_OFFSET_AT = _placed["physical_offset"].offset
_STORED_AT_END = _placed["stored_at_ms"].offset + 8
_FLAGS_END = _placed["system_flags"].offset + 4
MAGIC_AT = _placed["magic"].offset
_HEAD_END = _PHYSICAL_OFFSET_AT + 8
MAGICS = tuple(magic.to_bytes(4, "big") for magic in (MAGIC_V1, MAGIC_V2))


@dataclass(frozen=True, kw_only=True)
class LogRange:
    """Range of one commit-log file; a reader reads the records that begin in it."""

    base: int
    """Commit-log offset of the file's first byte."""
    file_size: int
    start: int
    end: int
    written: int | None = None
    """End of the bytes on the disk, behind which all are zero; None if unknown."""
    cut_at: int | None = None
    """Position at which the log ends, although bytes follow; None for none."""

    @property
    def path(self) -> str:
        """Path of the file, relative to the store."""
        return f"{COMMIT_LOG}/{file_name(self.base)}"

    @property
    def written_end(self) -> int:
        """Position behind which all bytes are zero, as far as is known."""
        return self.file_size if self.written is None else self.written

    @property
    def byte_count(self) -> int:
        """Number of bytes to read."""
        return self.end - self.start

    def cut(self, size: int) -> Iterator[Self]:
        """Yield ranges of at most *size* bytes."""
        for start in range(self.start, self.end, size):
            yield replace(self, start=start, end=min(start + size, self.end))


def find_record(read_at: ReadAt, where: LogRange, *, start: int, end: int) -> int:
    """Return the position of the first certain record in [start, end), or -1."""
    size = BEYOND_SIZE  # an intact file has one nearby
    end = min(end, where.written_end)
    if where.cut_at is not None:
        # An older record may begin in the last bytes before the cut.
        end = min(end, where.cut_at - SMALLEST_SIZE + 1)
    while start < end:
        data = read_at(start, min(size, where.file_size - start))
        if len(data) < _HEAD_END:
            return -1
        size = WINDOW_SIZE
        found = _first_certain(data, base=where.base + start)
        if found >= 0:
            return start + found if start + found < end else -1
        start += len(data) - _HEAD_END + 1
    return -1


def is_certain(read_at: ReadAt, where: LogRange, position: int) -> bool:
    """Return whether the record at *position* is certain, by its physical offset."""
    data = read_at(position, _HEAD_END)
    return (
        len(data) == _HEAD_END and _first_certain(data, base=where.base + position) == 0
    )


def store_time_at(read_at: ReadAt, where: LogRange, position: int) -> int | None:
    """Return the store time of the record at *position*; None without a certain one."""
    data = read_at(position, _STORED_AT_END)
    if len(data) < _STORED_AT_END or data[_FLAGS_END - 1] & SystemFlag.BORN_HOST_V6:
        return None
    if _first_certain(data, base=where.base + position) != 0:
        return None
    return int(_physical_offset.unpack_from(data, _STORED_AT_END - 8)[0])


def _first_certain(data: bytes, *, base: int) -> int:
    """Return the first place in *data* with a magic and the right offset, or -1."""
    found = [_first_of(magic, data, base=base) for magic in MAGICS]
    return min((at for at in found if at >= 0), default=-1)


def _first_of(magic: bytes, data: bytes, *, base: int) -> int:
    at = data.find(magic, MAGIC_AT)
    while at >= 0:
        start = at - MAGIC_AT
        if start + _HEAD_END > len(data):
            return -1
        stated = _physical_offset.unpack_from(data, start + _PHYSICAL_OFFSET_AT)[0]
        if stated == base + start:
            return start
        at = data.find(magic, at + 1)
    return -1
