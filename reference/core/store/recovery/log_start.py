"""
The first and last files of a recovery, and the offset at which dispatch resumes.

After a clean stop only the end of the log can be wrong. After a crash everything since
the times in the checkpoint can be. Releases choose the first file by its index, by the
consume queues, or by the store time of its first record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from reference.core.store.commitlog.record_reader import stored_at_of
from reference.core.store.layouts import blank_codec
from reference.core.store.recovery.rules import Dispatch, RecoveryRules
from reference.core.store.types import StoreOptions
from spec.store.checkpoint import Checkpoint

FILES_AFTER_A_STOP = 3


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
    """
    if is_clean:
        return first_file_after_stop(start_offsets, queue_end, rules)
    with_index = options.index_enabled and options.index_safe
    return first_file_after_crash(
        len(start_offsets),
        lambda number: first_record_of(open_file(start_offsets[number]), rules),
        checkpoint.safe_with_index_ms if with_index else checkpoint.safe_ms,
        rules,
    )


def first_file_after_stop(
    start_offsets: Sequence[int], queue_end: int, rules: RecoveryRules
) -> int:
    """Return the index of the file at which recovery begins after a clean stop."""
    if not rules.begins_by_queues:
        return max(len(start_offsets) - FILES_AFTER_A_STOP, 0)  # [REC-FIRSTFILE-001]
    older = [number for number, start in enumerate(start_offsets) if start <= queue_end]
    return max(older, default=0)  # [REC-FIRSTFILE-004]


class FirstRecord(NamedTuple):
    """The fields of a commit-log file's first record that choose the first file."""

    magic: int
    stored_at_ms: int


def first_record_of(data: memoryview, rules: RecoveryRules) -> FirstRecord:
    """Return the first record of a commit-log file, whose bytes may be invalid."""
    head = bytes(data[: blank_codec.size]).ljust(blank_codec.size, b"\0")
    _, magic = blank_codec.unpack(head)
    stored_at_ms = stored_at_of(data, supports_ipv6=rules.supports_ipv6)
    return FirstRecord(magic, stored_at_ms)


def first_file_after_crash(
    count: int,
    first_record: Callable[[int], FirstRecord],
    trusted_ms: int,
    rules: RecoveryRules,
) -> int:
    """Return the index of the last of *count* files that begins before *trusted_ms*.

    4.6.0 org.apache.rocketmq.store.CommitLog#isMappedFileMatchedRecover.
    """
    for number in reversed(range(count)):
        magic, stored_at_ms = first_record(number)
        # [REC-FIRSTFILE-002] [REC-FIRSTFILE-003]
        if magic in rules.magics and 0 != stored_at_ms <= trusted_ms:
            return number
    return 0


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
