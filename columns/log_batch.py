"""
Commit log in batches: the result of ``spec.store.commit_log.scan`` as columns.

Sizes are followed from record to record. Other fields are gathered for thousands of
records, and byte fields stay in place. At an invalid record spec's reader is called, so
that the reason of a scan's end is stated in one place.
"""

from __future__ import annotations

import struct
from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from columns.accelerated import Accelerated
from columns.gather import Bools, FieldColumns, Ints, Places, gather
from spec.derive.batch_plan import batch_plans
from spec.store.commit_log import Scan, scan
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
"""Records of a batch: enough for numpy, few enough for a processor's cache."""

record_plans = batch_plans(record_layout)
_size = struct.Struct(">I")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogBatch:
    """Records of a piece of a commit log, as columns."""

    data: bytes
    """Whole piece, in which the places in *fields* count."""
    base_offset: int
    """Commit-log offset of the piece's first byte."""
    starts: Ints
    """Start of each record in *data*."""
    fields: FieldColumns

    @property
    def offsets(self) -> Ints:
        """Commit-log offset of each record, by its place."""
        return self.starts + self.base_offset

    @property
    def end(self) -> int:
        """Position in *data* behind the last record."""
        return int(self.fields.ends[-1])

    def first(self, count: int) -> LogBatch:
        """Return the first *count* records."""
        return replace(
            self, starts=self.starts[:count], fields=self.fields.first(count)
        )


def read_batches(
    data: bytes,
    base_offset: int = 0,
    *,
    check_crc: bool = True,
    at_once: int = RECORDS_AT_ONCE,
) -> Generator[LogBatch, None, Scan]:
    """Yield the records of *data* in batches, and return their end as spec's reader."""
    end = 0
    while batch := sound_batch(
        data, end, base_offset=base_offset, check_crc=check_crc, most=at_once
    ):
        yield batch
        end = batch.end
    rest = scan(memoryview(data)[end:], base_offset + end, check_crc=check_crc)
    assert not rest.records, f"only the reader of single records reads what is at {end}"
    return rest


def sound_batch(
    data: bytes,
    position: int,
    *,
    base_offset: int = 0,
    check_crc: bool = True,
    most: int = RECORDS_AT_ONCE,
) -> LogBatch | None:
    """Return up to *most* sound records from *position* of *data* on, or None."""
    starts, end = follow_sizes(data, position, most=most)
    count, fields = _sound(data, np.append(starts, end), check_crc=check_crc)
    if not count:
        return None
    return LogBatch(
        data=data, base_offset=base_offset, starts=starts[:count], fields=fields
    )


@Accelerated
def follow_sizes(data: bytes, position: int, *, most: int) -> tuple[Ints, int]:
    """Return the starts of up to *most* records by their sizes, and the end.

    Each record is complete; its content is not checked.
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


def gather_records(data: bytes, edges: Ints) -> tuple[int, FieldColumns]:
    """Return the fields of the records between *edges*, and the number of valid ones.

    Those are the records before the first with another magic or contradictory fields.
    """
    limits = edges[1:]
    fields = gather(data, edges[:-1], limits, record_plans)
    magics = fields.numbers["magic"]
    is_record = (magics == MAGIC_V1) | (magics == MAGIC_V2)
    return _leading(is_record & (fields.ends == limits)), fields


def _sound(data: bytes, edges: Ints, *, check_crc: bool) -> tuple[int, FieldColumns]:
    """Return the number of valid records between *edges*, and their fields."""
    count, fields = gather_records(data, edges)
    fields = fields.first(count)
    if check_crc:
        computed = body_crcs(data, fields.places["body"])
        count = _leading(fields.numbers["body_crc"] == computed)
        fields = fields.first(count)
    return count, fields


@Accelerated
def body_crcs(data: bytes, bodies: Places) -> Ints:
    """Return the computed checksum of each of the *bodies*."""
    view = memoryview(data)
    begins, sizes = bodies
    pairs = zip(begins.tolist(), (begins + sizes).tolist(), strict=True)
    found = [crc32(view[begin:end]) for begin, end in pairs]
    return np.array(found, dtype=np.int64) & 0x7FFFFFFF


def _leading(sound: Bools) -> int:
    """Return the number of valid records before the first invalid one."""
    return len(sound) if sound.all() else int(np.argmin(sound))
