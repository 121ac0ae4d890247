"""
Readable records of one commit-log file, those behind damage too.

A broker's recovery ends the log at the first invalid record. This reader searches for
the next magic code instead. It accepts a record whose sizes agree, whose checksums are
right and whose physical offset is its place. A record inside a body is not accepted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from spec.layout import LayoutError
from spec.store.commit_log import Stop, stop_at
from spec.store.message_record import (
    MAGIC_V1,
    MAGIC_V2,
    Record,
    decode_record,
    size_of_record,
)
from spec.store.record_checksum import agrees

MAGICS = tuple(magic.to_bytes(4, "big") for magic in (MAGIC_V1, MAGIC_V2))
SIZE_FIELD = 4
"""Bytes of a record before its magic code."""


class FoundRecord(NamedTuple):
    """A record that can be read."""

    offset: int
    """Offset of its first byte in the commit log."""
    size: int
    record: Record


class DamagedRange(NamedTuple):
    """Bytes of the commit log that hold no readable record."""

    begin: int
    end: int


def readable_records(
    data: bytes, base: int, *, is_last: bool
) -> Iterator[FoundRecord | DamagedRange]:
    """Yield the records and damaged ranges of a file that begins at offset *base*.

    The zeros behind the last record of the last file are no damage, nor is a blank.
    """
    view = memoryview(data)
    position = 0
    while position < len(view):
        stop = stop_at(view[position:])
        if stop is Stop.BLANK and _is_whole_blank(view, position):
            return
        found = None if stop else record_at(view, position, base)
        if found is not None:
            yield found
            position += found.size
            continue
        following = _next_record(data, view, position + 1, base)
        if following is None and stop is Stop.ZEROS and is_last:
            return
        end = len(view) if following is None else following
        yield DamagedRange(base + position, base + end)
        position = end


def record_at(view: memoryview, position: int, base: int) -> FoundRecord | None:
    """Return the valid record at *position*, or None."""
    rest = view[position:]
    try:
        record = decode_record(rest)
    except LayoutError:
        return None
    size = size_of_record(rest)
    if record.physical_offset != base + position or agrees(rest[:size]) is False:
        return None
    return FoundRecord(base + position, size, record)


def _next_record(data: bytes, view: memoryview, begin: int, base: int) -> int | None:
    """Return the position of the first valid record at *begin* or behind it."""
    ahead = {magic: data.find(magic, begin + SIZE_FIELD) for magic in MAGICS}
    while places := [place for place in ahead.values() if place >= 0]:
        place = min(places)
        if record_at(view, place - SIZE_FIELD, base) is not None:
            return place - SIZE_FIELD
        for magic in MAGICS:
            if ahead[magic] == place:
                ahead[magic] = data.find(magic, place + 1)
    return None


def _is_whole_blank(view: memoryview, position: int) -> bool:
    """Return whether the blank at *position* states the size of the file's rest."""
    stated = int.from_bytes(view[position : position + SIZE_FIELD], "big")
    return stated == len(view) - position
