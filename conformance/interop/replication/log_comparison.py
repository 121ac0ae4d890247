"""
Comparison of two logs of one origin, record by record, with the specification's
decoders.

This is the simplest form of `rmqc audit --against`. Both logs are read whole, and a
message is identified by the fields that a broker never changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from conformance.harness.targets.store_files import StoreFiles
from spec.integers import body_crc
from spec.store.commit_log import PlacedRecord
from spec.store.message_record import Record

Queue = tuple[str, int]
Identity = tuple[str, int, int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """A whole log that begins at offset 0."""

    data: bytes
    records: tuple[PlacedRecord, ...]

    @property
    def end(self) -> int:
        """The offset behind the last record."""
        return self.records[-1].offset + self.records[-1].size

    def behind(self, offset: int) -> Counter[Queue]:
        """Return the number of records of each queue at *offset* or later."""
        later = (one.record for one in self.records if one.offset >= offset)
        return Counter((record.topic, record.queue_id) for record in later)


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """Offset at which two logs diverge, and the later records of each."""

    first_byte: int
    here: int
    """Records that stand here, and not there at this place."""
    there: int
    changed: int
    """Places at which both have the same message, stored otherwise."""
    only_here: Counter[Queue]
    """Messages that the other side has nowhere, of each queue."""
    only_there: Counter[Queue]


def log_of(store: Path) -> Log:
    """Return the log of *store*."""
    files = StoreFiles(store).log_files()
    return Log(
        data=b"".join(file.data for file in files),
        records=tuple(one for file in files for one in file.scan.records),
    )


def divergence_of(here: Log, there: Log) -> Divergence:
    """Return the difference of two logs up to the end of the shorter one."""
    end = min(here.end, there.end)
    ours, theirs = (
        list(_differing(here, there, end)),
        list(_differing(there, here, end)),
    )
    same = {_place(one) for one in ours} & {_place(one) for one in theirs}
    return Divergence(
        first_byte=first_difference(here.data[:end], there.data[:end]),
        here=len(ours) - len(same),
        there=len(theirs) - len(same),
        changed=len(same),
        only_here=_lacking([one for one in ours if _place(one) not in same], there),
        only_there=_lacking([one for one in theirs if _place(one) not in same], here),
    )


def first_difference(data: bytes, other: bytes) -> int:
    """Return the index of the first byte that differs; -1 without one."""
    pairs = enumerate(zip(data, other, strict=True))
    return next((at for at, (one, two) in pairs if one != two), -1)


def _differing(log: Log, other: Log, end: int) -> Iterator[PlacedRecord]:
    """Yield the records of *log* that differ from what *other* has there."""
    for placed in log.records:
        last = min(placed.offset + placed.size, end)
        if log.data[placed.offset : last] != other.data[placed.offset : last]:
            yield placed


def _lacking(records: list[PlacedRecord], other: Log) -> Counter[Queue]:
    known = {identity_of(one.record) for one in other.records}
    lacking = (one.record for one in records if identity_of(one.record) not in known)
    return Counter((record.topic, record.queue_id) for record in lacking)


def _place(placed: PlacedRecord) -> tuple[int, int, Identity]:
    return placed.offset, placed.size, identity_of(placed.record)


def identity_of(record: Record) -> Identity:
    """Return the fields of a stored message that no broker changes."""
    return (
        record.topic,
        record.queue_id,
        record.queue_offset,
        record.born_at_ms,
        body_crc(record.body),
    )
