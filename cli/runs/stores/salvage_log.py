"""
The new commit log of a salvage, one file at a time.

A file needs the queue offsets of the records before it. They are known if the files are
written in order. Otherwise the runs of each file are counted before.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from cli.runs.stores.commit_log_files import mapped
from reference.core.salvage.log_plan import (
    NewBytes,
    bridge,
    encode_changed,
    is_bridge,
    plan_file,
)
from reference.core.salvage.queue_offsets import QueueOffsets, with_half_offsets
from reference.core.salvage.queue_runs import QueueRuns
from reference.core.salvage.readable_records import (
    DamagedRange,
    FoundRecord,
    readable_records,
)
from spec.store.file_names import file_name
from spec.store.message_record import Record
from spec.wire.message.topic_names import LMQ_PREFIX

PROGRESS_SIZE = 16 << 20
"""Bytes between two reports of progress."""
Changed = Callable[[Record], Record | None]
"""Function of a record; returns it with other offsets, or None to leave it out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginalFile:
    """A file of the original log."""

    start_offset: int
    path: Path | None
    """None for a missing file."""
    size: int
    """Bytes of a whole file."""
    is_last: bool
    magics: Collection[int]
    """Magics of the records to keep."""
    cut_at: int = 0
    """Bytes before the place at which a failover has cut the log; 0 without one."""
    right_offsets: Mapping[int, int] = field(default_factory=dict)
    """Queue offsets of records that have a wrong one, by commit-log offset."""

    @property
    def name(self) -> str:
        """Name of the file in both logs."""
        return file_name(self.start_offset)

    def opened(self) -> AbstractContextManager[bytes]:
        """Return the bytes of the file that are of the log, as a context."""
        if self.path is None:
            return nullcontext(b"")
        return mapped(self.path, self.cut_at or self.size)

    @property
    def end(self) -> int:
        """Offset behind its last byte that is of the log."""
        return self.start_offset + (self.cut_at or self.size)


@dataclass(slots=True, kw_only=True)
class NewFile:
    """Records of a new file, and damage of the original."""

    record_count: int = 0
    bridge_count: int = 0
    """Records in the place of damage, which no consumer receives."""
    damaged: list[DamagedRange] = field(default_factory=list)
    has_lmq_messages: bool = False
    corrected_count: int = 0
    """Records with the queue offset of their unit in place of a wrong one."""


def runs_of_file(file: OriginalFile) -> QueueRuns:
    """Return the queue offsets of *file*, all of whose op messages are kept."""
    found = QueueRuns()
    with file.opened() as data:
        for _ in _new_parts(file, data, found, found.note_halves, NewFile()):
            pass
    return found


def count_file(file: OriginalFile, offsets: QueueOffsets) -> None:
    """Add the queue offsets of *file* to *offsets*, those of the log before it."""
    changed = partial(with_half_offsets, offsets=offsets)
    with file.opened() as data:
        for _ in _new_parts(file, data, offsets, changed, NewFile()):
            pass


def write_file(
    log: Path,
    file: OriginalFile,
    offsets: QueueOffsets,
    progress: Callable[[int], None] = lambda _size: None,
) -> NewFile:
    """Write the new file into the directory *log*.

    *offsets* are those of the log before, and get those of this file. *progress*
    receives the bytes read, in steps.
    """
    result = NewFile()
    changed = partial(with_half_offsets, offsets=offsets)
    with file.opened() as data, (log / file.name).open("wb") as new:
        new.truncate(file.size)
        reported = 0
        for part in _new_parts(file, data, offsets, changed, result):
            position = part.offset - file.start_offset
            os.pwrite(new.fileno(), part.data, position)
            if position - reported >= PROGRESS_SIZE:
                progress(position - reported)
                reported = position
        os.fsync(new.fileno())
        progress(file.size - reported)
    return result


def wrong_fields(offsets: QueueOffsets, corrected_count: int) -> Iterator[str]:
    """Yield a line for each kind of wrong field, which no checksum covers."""
    if corrected_count:
        yield (
            "wrong queue offsets of first messages, now those of the consume queue:"
            f" {corrected_count:,}"
        )
    if offsets.disordered_count:
        yield (
            "queue offsets out of order, now each behind that of the message"
            f" before: {offsets.disordered_count:,}"
        )
    if offsets.nameless_count:
        yield (
            "messages in no queue, because their topic or queue id is not valid:"
            f" {offsets.nameless_count:,}"
        )


def _new_parts(
    file: OriginalFile,
    data: bytes,
    offsets: QueueOffsets,
    changed: Changed,
    result: NewFile,
) -> Iterator[NewBytes]:
    """Yield the bytes of the new file; counts and damage are added to *result*."""

    def readable() -> Iterator[FoundRecord]:
        """Yield the records of the file; add its damage to the result."""
        for found in readable_records(
            data, file.start_offset, is_last=file.is_last, magics=file.magics
        ):
            if isinstance(found, DamagedRange):
                result.damaged.append(found)
            else:
                yield found

    for part in plan_file(
        readable(), file.start_offset, file.size, is_last=file.is_last
    ):
        if isinstance(part, NewBytes):
            result.bridge_count += part.is_bridge
            yield part
            continue
        end = part.offset + part.size
        read = part.record
        if part.offset in file.right_offsets:
            read = replace(read, queue_offset=file.right_offsets[part.offset])
            result.corrected_count += 1
        record = changed(read)
        if record is None:
            for piece in bridge(part.offset, end, part.record.stored_at_ms):
                result.bridge_count += 1
                yield piece
            continue
        result.has_lmq_messages |= LMQ_PREFIX in record.properties
        is_old_bridge = is_bridge(record)
        result.record_count += not is_old_bridge
        result.bridge_count += is_old_bridge
        record = replace(record, queue_offset=offsets.add(record))
        original = data[part.offset - file.start_offset : end - file.start_offset]
        is_same = record == part.record
        new = original if is_same else encode_changed(record, original)
        yield NewBytes(part.offset, new)
    if len(data) < file.size and not file.is_last:
        begin = file.start_offset
        result.damaged.append(DamagedRange(begin + len(data), begin + file.size))
