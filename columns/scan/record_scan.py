"""
Scan for the records of a commit-log file, also of a damaged one.

A broker follows record sizes and stops at the first invalid record. The scan resumes at
the next certain record. Several readers share one file. Each begins at the first
certain record of its range and ends at that of the next range. No length is followed
before it is checked against the end of the file.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from columns.gather import NOWHERE, FieldColumns, Ints
from columns.log_batch import LogBatch, follow_sizes, gather_records
from columns.scan.log_file import (
    BEYOND_SIZE,
    MAGIC_AT,
    MAGICS,
    WINDOW_SIZE,
    LogRange,
    ReadAt,
    find_record,
    is_certain,
)
from spec.store.blank import BLANK_MAGIC
from spec.store.failover import Stretch, cut_place
from spec.store.message_record import MAGIC_V1, MAGIC_V2, SMALLEST_SIZE

RECORD_SIZE_MAX = 64 * 1024 * 1024
"""Larger records are invalid; a broker's limit is 4 MiB by default."""
PAGE_SIZE = 4096
"""Bytes that `writeWithoutMmap` of 5.5.0 rounds its writes up to, on most machines."""
OLDER = "older bytes follow the written part"
"""Reason of an end that is not all zeros."""

_head = struct.Struct(">iI")
_HEAD_SIZE = 8
"""Bytes of a record's size and magic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """Bytes of a file without a record."""

    position: int
    size: int
    kind: str
    """``blank`` ends a file, ``tail`` is unwritten, ``damaged`` is anything else."""
    reason: str | None = None


def _record_error(data: bytes, left: int) -> str | None:
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


def _blank_at(data: bytes) -> int | None:
    """Return the size in a blank at the start of *data*; None without one."""
    if len(data) < _HEAD_SIZE:
        return None
    size, magic = _head.unpack_from(data)
    return int(size) if magic == BLANK_MAGIC else None


def _only_zeros(read_at: ReadAt, *, start: int, end: int) -> bool:
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
    if _record_error(head, left) is None:
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
    blank_size = _blank_at(head)
    if blank_size == left:
        return Region(position=position, size=left, kind="blank")
    following = find_record(read_at, where, start=position + 1, end=where.file_size)
    if following < 0 and not head.strip(b"\0"):
        clean = _only_zeros(read_at, start=position, end=where.written_end)
        return _tail(where, position, None if clean else OLDER)
    if following < 0 and _is_rest_of_page(read_at, where, position, head):
        return _tail(where, position, OLDER)
    if blank_size is not None:
        reason = f"a blank of {blank_size} bytes is {left} bytes before the end"
    else:
        reason = _record_error(head, left) or contradiction
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
    return not is_damaged and _only_zeros(read_at, start=end, end=where.written_end)


def _is_torn(data: bytes) -> bool:
    """Return whether *data* ends within the magic of a record."""
    begun = data[MAGIC_AT:]
    return bool(begun) and any(magic.startswith(begun) for magic in MAGICS)


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
