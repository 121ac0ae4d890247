"""
Recovery: which bytes of the log a store believes when it starts.

Only the tail can be wrong. After a clean stop the last three files are read, after
a crash everything since the checkpoint; where the first record cannot be read, the
log ends. Queues are cut to what the log has, and filled again by dispatch.
"""

from __future__ import annotations

from collections.abc import Callable

from reference.core.store.api import StoreOptions
from reference.core.store.checkpoint import CheckpointFile
from reference.core.store.commit_log import CommitLog, stored_at_of
from reference.core.store.queue_table import QueueTable
from reference.core.store.records import Found
from spec.store.message_record import MAGIC_V1

FILES_AFTER_CLEAN_STOP = 3


def recover(
    log: CommitLog,
    queues: QueueTable,
    *,
    first: int,
    dispatch: Callable[[Found], object] | None,
) -> None:
    """Read the log from its file number *first* on, and cut what is wrong.

    4.6.0 CommitLog#recoverNormally and #recoverAbnormally, which differ in *first*
    and in that only the latter hands what it finds to *dispatch*.
    """
    queue_end = -1
    for queue in queues:
        queue.recover()
        queue_end = max(queue_end, queue.max_physical_offset)
    if not len(log.queue):
        for queue in queues:
            queues.delete(queue)
        return
    end = _believable_end(log, first, dispatch)
    log.queue.truncate(end)
    log.queue.flushed = end
    if queue_end >= end:
        for queue in queues:
            queue.truncate(end)


def first_file_after_clean_stop(log: CommitLog) -> int:
    """Return the number of the file at which recovery begins."""
    return max(len(log.queue) - FILES_AFTER_CLEAN_STOP, 0)


def first_file_after_crash(
    log: CommitLog, checkpoint: CheckpointFile, options: StoreOptions
) -> int:
    """Return the number of the last file that begins before the checkpoint.

    4.6.0 org.apache.rocketmq.store.CommitLog#isMappedFileMatchedRecover.
    """
    with_index = options.index_enabled and options.index_safe
    trusted_ms = checkpoint.trusted_ms(with_index=with_index)
    for number in reversed(range(len(log.queue))):
        record = log.queue.view_from(log.queue.bases[number])
        if record is None or int.from_bytes(record[4:8], "big") != MAGIC_V1:
            continue
        if 0 != stored_at_of(record) <= trusted_ms:
            return number
    return 0


def _believable_end(
    log: CommitLog, first: int, dispatch: Callable[[Found], object] | None
) -> int:
    """Return where the log ends: at the first thing that is no record.

    A blank ends a file, not the log; but behind the last file's blank nothing can
    follow, so the log then ends before it.
    """
    end = 0
    for base in log.queue.bases[first:]:
        end, has_blank = _end_in_file(log, base, dispatch)
        if not has_blank:
            break
    return end


def _end_in_file(
    log: CommitLog, base: int, dispatch: Callable[[Found], object] | None
) -> tuple[int, bool]:
    """Return where the records of one file end, and whether a blank follows."""
    end = base
    while end < base + log.queue.file_size:
        found = log.find(end, check_crc=log.check_crc_on_recover)
        if not isinstance(found, Found):
            return end, found.size == 0
        if dispatch is not None:
            dispatch(found)
        end += found.size
    return end, False
