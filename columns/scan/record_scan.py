"""
Scan for the records of a commit-log file, also of a damaged one.

A broker follows record sizes and stops at the first invalid record. The scan resumes at
the next *certain* record: a magic, and a physical offset equal to its place. These 12
bytes do not agree by chance. Several readers share one file. Each begins
at the first certain record of its range and ends at that of the next range. No
length is followed before it is checked against the end of the file.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from columns.gather import NOWHERE, FieldColumns, Ints
from columns.log_batch import LogBatch, follow_sizes, gather_records
from spec.derive.numpy_dtype import leading_fields
from spec.store.blank import BLANK_MAGIC
from spec.store.failover import Stretch, cut_place
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
RECORD_SIZE_MAX = 64 * 1024 * 1024
"""Larger records are invalid; a broker's limit is 4 MiB by default."""
PAGE_SIZE = 4096
"""Bytes that `writeWithoutMmap` of 5.5.0 rounds its writes up to, on most machines."""
OLDER = "older bytes follow the written part"
"""Reason of an end that is not all zeros."""

ReadAt = Callable[[int, int], bytes]
"""Returns the bytes at a position: the requested number, or fewer at the end."""

_placed = {f.name: f for f in leading_fields(record_layout, system_flags=0)}
"""Fields before the first of variable size; behind the flags, with IPv4 hosts."""
_head = struct.Struct(">iI")
_HEAD_SIZE = 8
"""Bytes of a record's size and magic."""
_physical_offset = struct.Struct(">q")
_PHYSICAL_OFFSET_AT = _placed["physical_offset"].offset
_STORED_AT_END = _placed["stored_at_ms"].offset + 8
_FLAGS_END = _placed["system_flags"].offset + 4
_MAGIC_AT = _placed["magic"].offset
_HEAD_END = _PHYSICAL_OFFSET_AT + 8
_MAGICS = tuple(magic.to_bytes(4, "big") for magic in (MAGIC_V1, MAGIC_V2))


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
    def byte_count(self) -> int:
        """Number of bytes to read."""
        return self.end - self.start

    def cut(self, size: int) -> Iterator[Self]:
        """Yield ranges of at most *size* bytes."""
        for start in range(self.start, self.end, size):
            yield replace(self, start=start, end=min(start + size, self.end))


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """Bytes of a file without a record."""

    position: int
    size: int
    kind: str
    """``blank`` ends a file, ``tail`` is unwritten, ``damaged`` is anything else."""
    reason: str | None = None


def find_record(read_at: ReadAt, where: LogRange, *, start: int, end: int) -> int:
    """Return the position of the first certain record in [start, end), or -1."""
    size = BEYOND_SIZE  # an intact file has one nearby
    end = min(end, _written(where))
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


def _written(where: LogRange) -> int:
    return where.file_size if where.written is None else where.written


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
    found = [_first_of(magic, data, base=base) for magic in _MAGICS]
    return min((at for at in found if at >= 0), default=-1)


def _first_of(magic: bytes, data: bytes, *, base: int) -> int:
    at = data.find(magic, _MAGIC_AT)
    while at >= 0:
        start = at - _MAGIC_AT
        if start + _HEAD_END > len(data):
            return -1
        stated = _physical_offset.unpack_from(data, start + _PHYSICAL_OFFSET_AT)[0]
        if stated == base + start:
            return start
        at = data.find(magic, at + 1)
    return -1


def record_error(data: bytes, left: int) -> str | None:
    """Return the reason why *data* does not begin with a record; None if it does.

    *left* is the number of bytes to the file's end.
    """
    if left < SMALLEST_SIZE or len(data) < _HEAD_SIZE:
        return f"{left} bytes are left, a record has at least {SMALLEST_SIZE}"
    size, magic = _head.unpack_from(data)
    if magic not in (MAGIC_V1, MAGIC_V2):
        return f"{magic:#010x} is not the magic of a record"
    if not SMALLEST_SIZE <= size <= left:
        return f"size {size} is not between {SMALLEST_SIZE} and the {left} bytes left"
    if size > RECORD_SIZE_MAX:
        return f"size {size} is above the limit of {RECORD_SIZE_MAX} bytes"
    return None


def blank_at(data: bytes) -> int | None:
    """Return the size in a blank at the start of *data*; None without one."""
    if len(data) < _HEAD_SIZE:
        return None
    size, magic = _head.unpack_from(data)
    return int(size) if magic == BLANK_MAGIC else None


def only_zeros(read_at: ReadAt, *, start: int, end: int) -> bool:
    """Return whether all bytes in [start, end) are zero."""
    while start < end:
        data = read_at(start, min(WINDOW_SIZE, end - start))
        if data.strip(b"\0"):
            return False
        if not data:
            return True
        start += len(data)
    return True


def scan_range(read_at: ReadAt, where: LogRange) -> Iterator[LogBatch | Region]:
    """Yield batches of valid records, and regions without, in order of position."""
    position = where.start
    if position:
        position = find_record(read_at, where, start=position, end=where.end)
    while 0 <= position < where.file_size:
        if position == where.cut_at:
            yield _tail(where, position, OLDER)
            return
        if position >= where.end and is_certain(read_at, where, position):
            return
        data = read_at(position, _window_size(read_at, where, position))
        starts, stop = follow_sizes(data, 0, most=len(data))
        if position + stop > where.end:
            starts, stop = _within(read_at, where, position, starts, stop)
        edges = np.append(starts, stop)
        count, fields = gather_records(data, edges)
        batch = LogBatch(
            data=data,
            base_offset=where.base + position,
            starts=starts[:count],
            fields=fields.first(count),
        )
        is_whole = 0 < count == len(starts)
        why = "" if is_whole else _contradiction(edges, count, fields)
        end = int(edges[count])
        head = data[end : end + _HEAD_SIZE]
        del data, fields
        if count:
            yield batch
        del batch  # the next window takes its memory
        position += end
        if not is_whole and position != where.cut_at:
            region = _region(read_at, where, position, head, why)
            yield region
            position += region.size


def _contradiction(edges: Ints, number: int, fields: FieldColumns) -> str:
    """Return why the *fields* of a record do not take its bytes, if there is one."""
    if number == len(fields.ends):
        return "unreadable"
    start, end = edges[number : number + 2].tolist()
    taken = int(fields.ends[number])
    if taken == NOWHERE:
        return f"a field reaches past the record's {end - start} bytes"
    return f"the size is {end - start} bytes, the fields take {taken - start}"


def _within(
    read_at: ReadAt, where: LogRange, position: int, starts: Ints, stop: int
) -> tuple[Ints, int]:
    """Return the starts before the next reader's first record, and its position."""
    first = int(np.searchsorted(starts, where.end - position))
    for index, start in enumerate(starts[first:].tolist(), first):
        if is_certain(read_at, where, position + start):
            return starts[:index], start
    return starts, stop


def _window_size(read_at: ReadAt, where: LogRange, position: int) -> int:
    """Return the bytes to read: a window, or a whole record if it is larger.

    Few bytes of the next reader's range are read.
    """
    left = where.file_size - position
    head = read_at(position, _HEAD_SIZE)
    size = min(WINDOW_SIZE, left, max(where.end - position, 0) + BEYOND_SIZE)
    if record_error(head, left) is None:
        return max(size, int(_head.unpack(head)[0]))
    return size


def _region(
    read_at: ReadAt, where: LogRange, position: int, head: bytes, contradiction: str
) -> Region:
    """Return the region at *position*, which begins with *head*.

    A damaged one ends at the next certain record. *contradiction* is its reason if
    magic and size are plausible.
    """
    left = where.file_size - position
    blank_size = blank_at(head)
    if blank_size == left:
        return Region(position=position, size=left, kind="blank")
    following = find_record(read_at, where, start=position + 1, end=where.file_size)
    if following < 0 and not head.strip(b"\0"):
        clean = only_zeros(read_at, start=position, end=_written(where))
        return _tail(where, position, None if clean else OLDER)
    if following < 0 and _is_rest_of_page(read_at, where, position, head):
        return _tail(where, position, OLDER)
    if blank_size is not None:
        reason = f"a blank of {blank_size} bytes is {left} bytes before the end"
    else:
        reason = record_error(head, left) or contradiction
    end = where.file_size if following < 0 else following
    return Region(position=position, size=end - position, kind="damaged", reason=reason)


def _is_rest_of_page(
    read_at: ReadAt, where: LogRange, position: int, head: bytes
) -> bool:
    """Return whether older bytes end with the page in which the written part ends.

    With `writeWithoutMmap`, 5.5.0 writes whole pages from a buffer that older records
    were in (5.5.0 store.logfile.DefaultMappedFile#appendMessagesInner). A head with a
    magic, or with the size of these bytes, is that of a damaged record or blank.
    """
    if len(head) < _HEAD_SIZE:
        return False
    size, magic = _head.unpack(head)
    end = -(-position // PAGE_SIZE) * PAGE_SIZE
    older = read_at(position, end - position).rstrip(b"\0")
    is_damaged = magic in (MAGIC_V1, MAGIC_V2, BLANK_MAGIC) or _is_torn(older)
    is_damaged |= size in (where.file_size - position, len(older))
    return not is_damaged and only_zeros(read_at, start=end, end=_written(where))


def _is_torn(data: bytes) -> bool:
    """Return whether *data* ends within the magic of a record."""
    begun = data[_MAGIC_AT:]
    return bool(begun) and any(magic.startswith(begun) for magic in _MAGICS)


def _tail(where: LogRange, position: int, reason: str | None) -> Region:
    """Return the unwritten end of a file, from *position* on."""
    size = where.file_size - position
    return Region(position=position, size=size, kind="tail", reason=reason)


def cut_position(read_at: ReadAt, where: LogRange) -> int | None:
    """Return the position at which a failover has cut a whole file, or None."""
    return cut_place(
        found.position if isinstance(found, Region) else _stretch_of(found)
        for found in scan_range(read_at, where)
    )


def _stretch_of(batch: LogBatch) -> Stretch:
    times = batch.fields.numbers["stored_at_ms"]
    return Stretch(last_ms=int(times[-1]), latest_ms=int(times.max()))
