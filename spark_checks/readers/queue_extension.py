"""
Spark data source ``rocketmq.consumequeue_ext``: one row per extension unit.

A unit contains its own size and the size of its bit map. After damage the scan resumes
at the next place where both sizes agree, the store time is plausible, and a valid unit
follows. A whole file is read: units vary in size and do not contain their position
(Java: ConsumeQueueExt).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np

from columns.scan.record_scan import OLDER
from spark_checks.readers.whole_files import Row, RowSource
from spark_checks.store_files import StoreFile, queue_in
from spec.derive.numpy_dtype import leading_fields
from spec.derive.struct_codec import compile_codec
from spec.store.queue_extension import EXTENSION, SMALLEST_SIZE, extension_unit_layout

STORED_AT_MS_MAX = 1 << 43
"""Store times beyond the year 2248 are invalid."""
_CODES = {">i2": "h", ">i8": "q"}
_fields = leading_fields(extension_unit_layout)
_head = struct.Struct(">" + "".join(_CODES[placed.format] for placed in _fields))
assert _head.size == SMALLEST_SIZE
_codec = compile_codec(extension_unit_layout)
_SIZES_AT = _fields[0].offset, _fields[-1].offset
"""Places of a unit's size and of its bit map's."""
_PLACES_AT_FIRST, _PLACES_AT_ONCE = 1 << 10, 1 << 20
"""Places at which units are searched together: few at first, because the next unit is
mostly near."""


class QueueExtensionSource(RowSource):
    """Reads the consume queues' extensions. Options: ``url``, ``files`` (JSON)."""

    source_name = "rocketmq.consumequeue_ext"

    @staticmethod
    def rows_of(data: bytes, file: StoreFile) -> Iterator[Row]:
        """Yield the rows of one *file*."""
        topic, queue_id = queue_in(file, EXTENSION)
        where = {"file_base": file.base, "file_size": file.size, "topic": topic}
        where["queue_id"] = queue_id
        position = 0
        while position < len(data):
            row = _unit(data, position) or _region(data, position)
            place = {"position": position, "offset": file.base + position}
            yield {**where, **place, **row}
            position += row["size"]
        if len(data) < file.size:
            rest = {"position": position, "offset": file.base + position}
            reason = "beyond the read limit of one file"
            size = file.size - position
            yield {**where, **rest, "kind": "damaged", "size": size, "reason": reason}


def _unit(data: bytes, position: int) -> Row | None:
    """Return the unit at *position*; None without one."""
    if not is_plausible(data, position):
        return None
    names = ("size", "tags_code", "stored_at_ms", "filter_bits")
    values = _codec.decode(data, position)
    return {"kind": "unit", **dict(zip(names, values, strict=True))}


def is_plausible(data: bytes, position: int) -> bool:
    """Return whether *data* has a complete, plausible unit at *position*."""
    if len(data) - position < SMALLEST_SIZE:
        return False
    size, _, stored_at_ms, bits_size = _head.unpack_from(data, position)
    fits = SMALLEST_SIZE <= size <= len(data) - position
    return bool(fits and bits_size == size - SMALLEST_SIZE and stored_at_ms >= 0)


def _region(data: bytes, position: int) -> Row:
    """Return the end mark, unwritten tail or damaged region at *position*."""
    mark = data[position : position + 2]
    left = len(data) - position
    if mark == b"\xff\xff":
        return {"kind": "end", "size": left}
    following = _following(data, position + 1)
    if not mark.strip(b"\0") and following is None:
        has_older = np.frombuffer(data, np.uint8)[position:].max() > 0
        return {"kind": "tail", "size": left, "reason": OLDER if has_older else None}
    size = int.from_bytes(mark, "big", signed=True)
    reason = f"no unit of {size} bytes fits here, with {left} bytes left"
    end = len(data) if following is None else following
    return {"kind": "damaged", "size": end - position, "reason": reason}


def _following(data: bytes, position: int) -> int | None:
    """Return the position of the next certain unit; None without one."""
    octets = np.frombuffer(data, np.uint8)
    end = len(data) - SMALLEST_SIZE + 1
    count = _PLACES_AT_FIRST
    while position < end:
        count = min(count, end - position)
        # Mostly zeros: a file of 48 MiB may have one unit.
        if octets[position : position + count + 1].max():
            for at in _agreeing(data, position, count):
                if is_plausible(data, at) and _is_certain(data, at):
                    return at
        position += count
        count = min(2 * count, _PLACES_AT_ONCE)
    return None


def _agreeing(data: bytes, position: int, count: int) -> list[int]:
    """Return those of *count* places from *position* at which both sizes agree."""
    size, bits_size = (
        np.ndarray((count,), ">i2", data, position + at, (1,)).astype(np.int32)
        for at in _SIZES_AT
    )
    found: list[int] = np.flatnonzero(size - bits_size == SMALLEST_SIZE).tolist()
    return [position + at for at in found]


def _is_certain(data: bytes, position: int) -> bool:
    """Return whether store time and successor of a plausible unit are valid too."""
    size, _, stored_at_ms, _ = _head.unpack_from(data, position)
    after = position + size
    mark = data[after : after + 2]
    follows = mark in {b"", b"\0\0", b"\xff\xff"} or is_plausible(data, after)
    return bool(0 < stored_at_ms < STORED_AT_MS_MAX and follows)
