"""
Readable records of one commit-log file, those behind damage too.

A broker's recovery ends the log at the first invalid record. This reader searches for
the next magic code instead. It accepts a record whose sizes agree, whose checksums are
right and whose physical offset is its place. A record inside a body is not accepted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from reference.core.store.commitlog.record_reader import crc32, places_before_magics
from reference.core.store.layouts import blank_codec
from spec.integers import body_crc
from spec.layout import LayoutError
from spec.store.commit_log import Stop, stop_at
from spec.store.message_record import (
    MAGIC_V1,
    MAGIC_V2,
    Record,
    record_fields,
    record_of,
)
from spec.store.record_checksum import agrees

EVERY_MAGIC = (MAGIC_V1, MAGIC_V2)


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
    data: bytes,
    start_offset: int,
    *,
    is_last: bool,
    magics: Collection[int] = EVERY_MAGIC,
) -> Iterator[FoundRecord | DamagedRange]:
    """Yield the records and damaged ranges of the file at *start_offset* of the log.

    The zeros behind the last record of the last file are no damage, nor is a blank. A
    record with another magic than *magics* counts as damaged.
    """
    view = memoryview(data)
    position = 0
    while position < len(view):
        found = record_at(view, position, start_offset, magics)
        if found is not None:
            yield found
            position += found.size
            continue
        stop = stop_at(view[position:])
        if stop is Stop.BLANK and _is_whole_blank(view, position):
            return
        candidates = places_before_magics(view, position + 1)
        following = next(
            (at for at in candidates if record_at(view, at, start_offset, magics)),
            None,
        )
        if following is None and stop is Stop.ZEROS and is_last:
            return
        end = len(view) if following is None else following
        yield DamagedRange(start_offset + position, start_offset + end)
        position = end


def record_at(
    view: memoryview,
    position: int,
    start_offset: int,
    magics: Collection[int],
) -> FoundRecord | None:
    """Return the valid record at *position* with one of *magics*, or None."""
    try:
        fields, end = record_fields(view, position)
    except LayoutError:
        return None
    is_sound = (
        fields.magic in magics
        and fields.size == end - position
        # as at a start
        and (not fields.body or body_crc(fields.body, crc32) == fields.body_crc)
        and agrees(view[position:end]) is not False
        and fields.physical_offset == start_offset + position
    )
    if not is_sound:
        return None
    return FoundRecord(fields.physical_offset, fields.size, record_of(fields))


def _is_whole_blank(view: memoryview, position: int) -> bool:
    """Return whether the blank at *position* states the size of the file's rest."""
    stated, _ = blank_codec.unpack_from(view, position)
    return bool(stated == len(view) - position)
