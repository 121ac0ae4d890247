"""
Where recovery begins to read the commit log, and which of its files go afterwards.

After a stop only the end can be wrong; after a crash everything since the times in
the checkpoint. A release goes by the files' number, by the consume queues, or by the
store time of the first record of each file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from reference.core.store.recovery_rules import Dispatch, RecoveryRules

FILES_AFTER_A_STOP = 3


def first_after_a_stop(
    bases: Sequence[int], queue_end: int, rules: RecoveryRules
) -> int:
    """Return the number of the file at which recovery begins after a clean stop.

    *queue_end* is the furthest place in the log that a consume queue knows of.
    """
    if not rules.begins_by_queues:
        return max(len(bases) - FILES_AFTER_A_STOP, 0)  # [REC-BEGIN-001]
    older = [number for number, base in enumerate(bases) if base <= queue_end]
    return max(older, default=0)  # [REC-BEGIN-007]


class FirstRecord(NamedTuple):
    """What stands at the beginning of a commit-log file."""

    magic: int
    stored_at_ms: int


def first_after_a_crash(
    count: int,
    first_record: Callable[[int], FirstRecord],
    trusted_ms: int,
    rules: RecoveryRules,
) -> int:
    """Return the number of the last file that begins before the checkpoint's time.

    4.6.0 org.apache.rocketmq.store.CommitLog#isMappedFileMatchedRecover.
    """
    for number in reversed(range(count)):
        magic, stored_at_ms = first_record(number)
        # [REC-BEGIN-002] [REC-BEGIN-003]
        if magic in rules.magics and 0 != stored_at_ms <= trusted_ms:
            return number
    return 0


def files_behind(bases: Sequence[int], file_size: int, end: int) -> list[int]:
    """Return the files, by base, that are deleted when the log ends at *end*."""
    # [REC-END-002]
    return [base for base in bases if base + file_size > end and base > end]


def dispatch_begin(
    queue_ends: Sequence[int], log_start: int, log_end: int, rules: RecoveryRules
) -> int:
    """Return where dispatch goes on once recovery is through.

    4.6.0 org.apache.rocketmq.store.DefaultMessageStore#start.
    """
    if rules.dispatch is not Dispatch.FROM_QUEUES:
        return log_end
    begin = max(log_start, 0, *queue_ends)  # [REC-DISPATCH-001]
    return begin if rules.dispatches_behind_the_end else min(begin, log_end)
