"""
The first and last files of a recovery, and the offset at which dispatch resumes.

After a clean stop only the end of the log can be wrong. After a crash everything since
the times in the checkpoint can be. Releases choose the first file by its index, by the
consume queues, or by the store time or the offset of its first record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from reference.core.store.commitlog.record_reader import (
    ScannedRecord,
    read_record,
    stored_at_of,
)
from reference.core.store.layouts import blank_codec
from reference.core.store.recovery.rules import Dispatch, RecoveryRules
from reference.core.store.types import StoreOptions
from spec.store.checkpoint import Checkpoint

FILES_AFTER_A_STOP = 3


class FirstRecord(NamedTuple):
    """The fields of a commit-log file's first record that choose the first file."""

    is_valid: bool
    stored_at_ms: int
    physical_offset: int = 0
    """As the record states it."""


def first_file(
    start_offsets: Sequence[int],
    open_file: Callable[[int], memoryview],
    checkpoint: Checkpoint,
    options: StoreOptions,
    rules: RecoveryRules,
    *,
    queue_end: int,
    is_clean: bool,
) -> int:
    """Return the index of the commit-log file at which recovery begins.

    *open_file* returns the file with a start offset. *queue_end* is the highest
    commit-log offset in any consume queue.
    4.6.0 org.apache.rocketmq.store.CommitLog#isMappedFileMatchedRecover.
    """
    count = len(start_offsets)
    if is_clean and not rules.begins_by_queues:
        return max(count - FILES_AFTER_A_STOP, 0)  # [REC-FIRSTFILE-001]
    if is_clean and not rules.checks_first_record:
        older = [n for n, start in enumerate(start_offsets) if start <= queue_end]
        return max(older, default=0)  # [REC-FIRSTFILE-004]
    is_trusted = trust_in(checkpoint, options, rules)
    earliest = max(count - (rules.files_at_most or count), 0)  # [REC-FIRSTFILE-008]
    for number in reversed(range(earliest, count)):
        data = open_file(start_offsets[number])
        record = first_record_of(data, rules, check_crc=options.check_crc_on_recover)
        is_old_enough = (
            record.physical_offset <= queue_end if is_clean else is_trusted(record)
        )
        # [REC-FIRSTFILE-002]
        if record.is_valid and record.stored_at_ms and is_old_enough:
            return number
    return earliest


def trust_in(
    checkpoint: Checkpoint, options: StoreOptions, rules: RecoveryRules
) -> Callable[[FirstRecord], bool]:
    """Return whether a file that begins with a record was on disk before a crash."""
    with_index = options.index_enabled and options.index_safe
    if not rules.begins_by_offset:
        trusted_ms = checkpoint.safe_with_index_ms if with_index else checkpoint.safe_ms
        # [REC-FIRSTFILE-003]
        return lambda record: record.stored_at_ms <= trusted_ms

    def is_old_enough(record: FirstRecord) -> bool:
        if with_index and record.stored_at_ms > checkpoint.index_ms:
            return False
        if checkpoint.queues_offset > 0:
            return record.physical_offset <= checkpoint.queues_offset
        return record.stored_at_ms <= checkpoint.logics_ms

    return is_old_enough


def first_record_of(
    data: memoryview, rules: RecoveryRules, *, check_crc: bool
) -> FirstRecord:
    """Return the first record of a commit-log file, whose bytes may be invalid."""
    if rules.checks_first_record:
        match read_record(data, 0, rules, check_crc=check_crc):
            case ScannedRecord(stored_at_ms=stored, physical_offset=offset):
                return FirstRecord(True, stored, offset)
        return FirstRecord(False, 0)
    head = bytes(data[: blank_codec.size]).ljust(blank_codec.size, b"\0")
    _, magic = blank_codec.unpack(head)
    stored_at_ms = stored_at_of(data, supports_ipv6=rules.supports_ipv6)
    return FirstRecord(magic in rules.magics, stored_at_ms)


def files_behind_end(start_offsets: Sequence[int], end: int) -> list[int]:
    """Return the start offsets of files to delete when the log ends at *end*."""
    return [start for start in start_offsets if start > end]  # [REC-TRUNCATE-002]


def dispatch_start(
    queue_ends: Sequence[int], log_start: int, log_end: int, rules: RecoveryRules
) -> int:
    """Return the commit-log offset at which dispatch resumes after recovery.

    4.6.0 org.apache.rocketmq.store.DefaultMessageStore#start.
    """
    if rules.dispatch is not Dispatch.FROM_QUEUES:
        return log_end
    begin = max(log_start, 0, *queue_ends)  # [REC-DISPATCH-001]
    return begin if rules.dispatches_behind_the_end else min(begin, log_end)
