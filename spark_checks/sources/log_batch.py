"""
A commit log in batches: what ``spec.store.commit_log.scan`` says, as columns.

Sizes are followed from record to record; everything else is gathered for thousands of
records at once, and topics, properties and bodies stay where they are in the file.
Where a record is not sound the plain reader is asked, so that there is one author of
the reasons why a scan stops.
"""

from __future__ import annotations

import struct
from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spark_checks.sources.gather import Gathered, Ints, Places, gather
from spark_checks.sources.twofold import Twofold
from spec.derive.batch_plan import batch_plans
from spec.layout import LayoutError
from spec.store.blank import Blank
from spec.store.commit_log import Stop, scan
from spec.store.message_record import (
    MAGIC_V1,
    MAGIC_V2,
    SMALLEST_SIZE,
    record_layout,
)

try:
    from isal.isal_zlib import crc32
except ModuleNotFoundError:  # a cluster's workers rarely have it; this one is slower
    from zlib import crc32

RECORDS_AT_ONCE = 8192
"""Records of a batch: enough for numpy, and few enough for a processor's cache."""

record_plans = batch_plans(record_layout)
_size = struct.Struct(">I")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogBatch:
    """Some records of a piece of a commit log, as columns."""

    data: bytes
    """The whole piece, which the places in *fields* count in."""
    base_offset: int
    """Of the piece's first byte in the commit log."""
    starts: Ints
    """Where in *data* each record begins."""
    fields: Gathered


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEnd:
    """Where a scan ended, and why; as in spec's Scan."""

    end_offset: int
    stop: Stop
    blank: Blank | None
    error: LayoutError | None


def read_log(
    data: bytes,
    base_offset: int = 0,
    *,
    check_crc: bool = True,
    at_once: int = RECORDS_AT_ONCE,
) -> tuple[list[LogBatch], LogEnd]:
    """Return the records of *data*, whose first byte is at *base_offset* of the log."""
    batches = []
    reader = read_batches(data, base_offset, check_crc=check_crc, at_once=at_once)
    while True:
        try:
            batches.append(next(reader))
        except StopIteration as end:
            return batches, end.value


def read_batches(
    data: bytes,
    base_offset: int = 0,
    *,
    check_crc: bool = True,
    at_once: int = RECORDS_AT_ONCE,
) -> Generator[LogBatch, None, LogEnd]:
    """Yield the records of *data* batch by batch, and return why they end."""
    end, more = 0, True
    while more:
        starts, followed_to = follow_sizes(data, end, most=at_once)
        edges = np.append(starts, followed_to)
        count, fields = _sound(data, edges, check_crc=check_crc)
        more = 0 < count == len(starts)
        end = int(edges[count])
        if count:
            yield LogBatch(
                data=data,
                base_offset=base_offset,
                starts=edges[:count],
                fields=fields,
            )
    rest = scan(memoryview(data)[end:], base_offset + end, check_crc=check_crc)
    assert not rest.records, f"only the plain reader reads what is at {end}"
    return LogEnd(
        end_offset=rest.end_offset, stop=rest.stop, blank=rest.blank, error=rest.error
    )


@Twofold
def follow_sizes(data: bytes, position: int, *, most: int) -> tuple[Ints, int]:
    """Return where up to *most* records begin if sizes are right, and where they end.

    Each is all there; nothing else of it has been looked at.
    """
    starts: list[int] = []
    note, number = starts.append, _size.unpack_from
    last = len(data) - _size.size
    for _ in range(most):
        if position > last:
            break
        (size,) = number(data, position)
        if size < SMALLEST_SIZE:
            break
        note(position)
        position += size
    if position > len(data):
        position = starts.pop()
    return np.array(starts, dtype=np.int64), position


def _sound(data: bytes, edges: Ints, *, check_crc: bool) -> tuple[int, Gathered]:
    """Return how many records between *edges* are sound, and the fields of those."""
    limits = edges[1:]
    fields = gather(data, edges[:-1], limits, record_plans)
    magics = fields.numbers["magic"]
    count = _leading(
        ((magics == MAGIC_V1) | (magics == MAGIC_V2)) & (fields.ends == limits)
    )
    fields = fields.first(count)
    if check_crc:
        computed = body_crcs(data, fields.places["body"])
        count = _leading(fields.numbers["body_crc"] == computed)
        fields = fields.first(count)
    return count, fields


@Twofold
def body_crcs(data: bytes, bodies: Places) -> Ints:
    """Return the checksum that each of the *bodies* should have been stored with."""
    view = memoryview(data)
    begins, sizes = bodies
    pairs = zip(begins.tolist(), (begins + sizes).tolist(), strict=True)
    found = [crc32(view[begin:end]) for begin, end in pairs]
    return np.array(found, dtype=np.int64) & 0x7FFFFFFF


def _leading(sound: npt.NDArray[np.bool_]) -> int:
    """Return how many are sound before the first that is not."""
    return len(sound) if sound.all() else int(np.argmin(sound))
