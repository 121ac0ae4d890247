"""
Readable records of one commit-log file, those behind damage too.

A broker's recovery ends the log at the first invalid record. This reader searches for
the next magic code instead. It accepts a record whose sizes agree, whose checksums are
right and whose physical offset is its place. A record inside a body is not accepted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from reference.core.store.commitlog.record_reader import crc32, places_before_magics
from reference.core.store.layouts import blank_codec
from spec.host import Host
from spec.integers import body_crc
from spec.layout import LayoutError
from spec.store.commit_log import Stop, stop_at
from spec.store.message_record import MAGIC_V1, MAGIC_V2, Record, record_codec
from spec.store.record_checksum import agrees


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
        candidates = places_before_magics(view, position + 1)
        following = next((at for at in candidates if record_at(view, at, base)), None)
        if following is None and stop is Stop.ZEROS and is_last:
            return
        end = len(view) if following is None else following
        yield DamagedRange(base + position, base + end)
        position = end


def record_at(view: memoryview, position: int, base: int) -> FoundRecord | None:
    """Return the valid record at *position*, or None."""
    try:
        values, end = record_codec.decode_from(view, position)
    except LayoutError:
        return None
    size, magic, crc, queue_id, flag, queue_offset, physical_offset = values[:7]
    system_flags, born_at_ms, born_ip, born_port, stored_at_ms = values[7:12]
    store_ip, store_port, reconsume_times, prepared_offset = values[12:16]
    body, topic, properties = values[16:]
    is_sound = (
        magic in (MAGIC_V1, MAGIC_V2)
        and size == end - position
        and (not body or body_crc(body, crc32) == crc)  # as at a start
        and agrees(view[position:end]) is not False
        and physical_offset == base + position
    )
    if not is_sound:
        return None
    record = Record(
        topic=str(topic, "utf-8", "surrogateescape"),
        queue_id=queue_id,
        queue_offset=queue_offset,
        physical_offset=physical_offset,
        body=bytes(body),
        properties=str(properties, "utf-8", "surrogateescape"),
        flag=flag,
        system_flags=system_flags,
        born_at_ms=born_at_ms,
        born_host=Host(born_ip, born_port),
        stored_at_ms=stored_at_ms,
        store_host=Host(store_ip, store_port),
        reconsume_times=reconsume_times,
        prepared_transaction_offset=prepared_offset,
        magic=magic,
    )
    return FoundRecord(physical_offset, size, record)


def _is_whole_blank(view: memoryview, position: int) -> bool:
    """Return whether the blank at *position* states the size of the file's rest."""
    stated, _ = blank_codec.unpack_from(view, position)
    return bool(stated == len(view) - position)
