"""
The scan of the commit log at a start: its first file, its physical end, and dispatch.

After a clean stop only the end of the log can be wrong. After a crash everything since
the times in the checkpoint can be. Releases choose the first file by its index, by the
consume queues, or by the store time or the offset of its first record.

A scan goes to the next file at a blank and ends before the first bytes that are
neither record nor blank. Sound records behind that place are truncated too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from reference.core.store.commitlog.record_reader import (
    ArrayTooLarge,
    Blank,
    InvalidRecord,
    ScannedRecord,
    read_record,
    stored_at_of,
)
from reference.core.store.layouts import blank_codec
from reference.core.store.recovery.rules import Dispatch, RecoveryRules
from reference.core.store.types import StoreOptions
from spec.store.checkpoint import Checkpoint

FILES_AFTER_A_STOP = 3
BulkScanner = Callable[[int, memoryview, int], int]
"""Reads many sound records in one step, and dispatches them if recovery does.

The arguments are the commit-log offset of a file, the file, and a position in it. The
result is the position behind the records; the same where `read_record` has to read.
"""
PIECE_SIZE = 1 << 20
"""Bytes of one read; a long file is not read whole."""


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


class ScanResult(NamedTuple):
    """The files of a scan, and the place and the reason of its end."""

    first_file: int
    """Index of the file in which the scan began."""
    physical_end: int
    """Commit-log offset of the next message."""
    last_file: int
    """Index of the file in which the scan ended."""
    stopped_by: InvalidRecord | ArrayTooLarge | None
    """None where the last file ends with its blank."""


def scan_log(
    start_offsets: Sequence[int],
    open_file: Callable[[int], memoryview],
    checkpoint: Checkpoint,
    options: StoreOptions,
    rules: RecoveryRules,
    *,
    queue_end: int,
    is_clean: bool,
    on_record: Callable[[int, ScannedRecord], None],
    bulk_scanner: BulkScanner | None = None,
) -> ScanResult:
    """Read the log from its `first_file` on; call *on_record* with offset and record.

    Records that *bulk_scanner* reads are not passed to *on_record*.
    4.6.0 org.apache.rocketmq.store.CommitLog#recoverNormally: files are read in the
    order of their names, also across missing files.
    """
    first = first_file(
        start_offsets,
        open_file,
        checkpoint,
        options,
        rules,
        queue_end=queue_end,
        is_clean=is_clean,
    )
    start_offset, check_crc = start_offsets[first], options.check_crc_on_recover
    for number in range(first, len(start_offsets)):
        start_offset, at = start_offsets[number], 0
        data = open_file(start_offset)
        while True:
            if bulk_scanner is not None:
                at = bulk_scanner(start_offset, data, at)
            found = read_record(data, at, rules, check_crc=check_crc)
            if not isinstance(found, ScannedRecord):
                break
            on_record(start_offset + at, found)
            at += found.size
        if not isinstance(found, Blank):
            return ScanResult(first, start_offset + at, number, found)
    # Behind the last file's blank nothing can follow, so the log ends before it.
    return ScanResult(first, start_offset + at, len(start_offsets) - 1, None)


def written_size(read: Callable[[int, int], bytes], begin: int, end: int) -> int:
    """Return the position after the last byte from *begin* to *end* that is not zero.

    It is 0 without one. *read* returns the bytes between two positions.
    """
    while end > begin:
        start = max(end - PIECE_SIZE, begin)
        if data := read(start, end).rstrip(b"\0"):
            return start + len(data)
        end = start
    return 0
