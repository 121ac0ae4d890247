"""
Recovery: which bytes of the log a store believes when it starts.

Only the tail can be wrong. After a clean stop the last three files are read, after
a crash everything since the checkpoint; where the first record cannot be read, the
log ends. Queues are cut to what the log has, and filled again by dispatch. What is a
record, a unit, a beginning, is said by the functions in ``recovery_*``, by which
``reference.core.start`` foretells the starts of other releases, too.
"""

from __future__ import annotations

from reference.core.store.api import StoreOptions
from reference.core.store.checkpoint import CheckpointFile
from reference.core.store.commit_log import CommitLog, stored_at_of
from reference.core.store.dispatch import Dispatcher
from reference.core.store.queue_table import QueueTable
from reference.core.store.records import Found
from reference.core.store.recovery_log import (
    FirstRecord,
    dispatch_begin,
    first_after_a_crash,
    first_after_a_stop,
)
from reference.core.store.recovery_rules import REFERENCE
from reference.core.store.recovery_runs import ReadingAhead
from reference.core.store.recovery_scan import ScanEnd, Sighted, scan_log
from reference.core.store.recovery_units import FILES_LOOKED_AT


def recover(
    log: CommitLog,
    queues: QueueTable,
    options: StoreOptions,
    *,
    first: int,
    dispatcher: Dispatcher | None,
) -> None:
    """Read the log from its file number *first* on, and cut what is wrong.

    4.6.0 CommitLog#recoverNormally and #recoverAbnormally, which differ in *first*
    and in that only the latter hands what it finds to the *dispatcher*.
    """
    queue_end = -1
    for queue in queues:
        queue.recover()
        queue_end = max(queue_end, queue.max_physical_offset)
    if not len(log.queue):
        for queue in queues:
            queues.delete(queue)
        return
    end = _believable_end(log, first, dispatcher, options).end
    log.queue.truncate(end)
    log.queue.flushed = end
    if queue_end >= end:
        for queue in queues:
            queue.truncate(end)
    if dispatcher is not None:
        _flush_again(log, queues, first)


def _flush_again(log: CommitLog, queues: QueueTable, first: int) -> None:
    """Let the next flush bring all to disk that the checkpoint does not vouch for.

    Where only the process was killed, nobody knows what the system has written since;
    4.6.0 takes it for flushed, and its checkpoint soon vouches for it.
    """
    log.queue.flushed = min(log.queue.bases[first:] or [log.queue.end])
    for queue in queues:
        bases = queue.queue.bases[-FILES_LOOKED_AT:]
        queue.queue.flushed = min([*bases, queue.queue.flushed])


def first_file_after_clean_stop(log: CommitLog) -> int:
    """Return the number of the file at which recovery begins."""
    return first_after_a_stop(log.queue.bases, -1, REFERENCE)


def first_file_after_crash(
    log: CommitLog, checkpoint: CheckpointFile, options: StoreOptions
) -> int:
    """Return the number of the last file that begins before the checkpoint."""
    bases = log.queue.bases

    def first_record(number: int) -> FirstRecord:
        data = _whole_file(log, bases[number])
        return FirstRecord(int.from_bytes(data[4:8], "big"), stored_at_of(data))

    with_index = options.index_enabled and options.index_safe
    trusted_ms = checkpoint.trusted_ms(with_index=with_index)
    return first_after_a_crash(len(bases), first_record, trusted_ms, REFERENCE)


def dispatch_position(log: CommitLog, queues: QueueTable) -> int:
    """Return where dispatch goes on: behind what any queue knows of."""
    ends = [queue.max_physical_offset for queue in queues]
    return dispatch_begin(ends, log.queue.start, log.queue.end, REFERENCE)


def _believable_end(
    log: CommitLog, first: int, dispatcher: Dispatcher | None, options: StoreOptions
) -> ScanEnd:
    """Return where the log ends: at the first thing that is no record."""
    dispatch = None if dispatcher is None else dispatcher.take

    def take(place: int, _: Sighted) -> None:
        if dispatch is not None:
            found = log.find(place, check_crc=False)
            if isinstance(found, Found):
                dispatch(found)

    return scan_log(
        log.queue.bases,
        first,
        lambda base: _whole_file(log, base),
        REFERENCE,
        check_crc=log.check_crc_on_recover,
        take=take,
        ahead=ReadingAhead(log, options, dispatcher),
    )


def _whole_file(log: CommitLog, base: int) -> memoryview:
    """Return the file that begins at *base*; before recovery all of it counts."""
    data = log.queue.view_from(base)
    assert data is not None
    return data
