"""
Recovery: finds the physical end of the log at a start and truncates the log there.

Only the tail can be wrong. After a clean stop the last three files are read, after a
crash every file since the checkpoint. Consume queues are truncated to the log's end and
filled again by dispatch. The other modules of this package hold the rules, by which
``reference.core.recovery_forecast`` also predicts the starts of other releases.
"""

from __future__ import annotations

from typing import Protocol

from reference.core.store.commitlog.commit_log import CommitLog
from reference.core.store.commitlog.dispatch_request import dispatch_request_of
from reference.core.store.commitlog.record_reader import ScannedRecord
from reference.core.store.consumequeue.consume_queue import ConsumeQueue
from reference.core.store.consumequeue.table import ConsumeQueueTable
from reference.core.store.dispatcher import Dispatcher
from reference.core.store.flush import CheckpointFile
from reference.core.store.index.index_service import IndexService
from reference.core.store.recovery.queue_end import (
    FILES_TO_RECOVER,
    find_queue_end,
    truncate_queue,
)
from reference.core.store.recovery.rules import REFERENCE
from reference.core.store.recovery.scan import BulkScanner, dispatch_start, scan_log
from reference.core.store.types import StoreOptions


class StoreParts(Protocol):
    """The parts of a message store that recovery reads and writes."""

    log: CommitLog
    queues: ConsumeQueueTable
    index: IndexService
    checkpoint: CheckpointFile
    dispatcher: Dispatcher
    options: StoreOptions


class BulkScan(Protocol):
    """Vectorised scan of a recovery, with the result of core's."""

    def __call__(self, parts: StoreParts, *, dispatches: bool) -> BulkScanner | None:
        """Return the scanner of a recovery, which puts records if it *dispatches*.

        None leaves all records to core.
        """
        ...


def recover(
    parts: StoreParts, *, is_clean: bool, bulk_scan: BulkScan | None = None
) -> None:
    """Truncate log and queues to the records that can be read.

    4.6.0 CommitLog#recoverNormally and #recoverAbnormally. Only the latter dispatches
    the records that it reads.
    """
    log, queues = parts.log, parts.queues
    for queue in queues:
        _recover_queue(queue)
    queue_end = queues.max_physical_offset
    if not len(log.files):
        for queue in queues:
            queues.delete(queue)
        return
    dispatches = not is_clean

    def on_record(_: int, record: ScannedRecord) -> None:
        if dispatches:
            parts.dispatcher.put((dispatch_request_of(record, log.levels),), [])

    scan = scan_log(
        log.files.start_offsets,
        log.files.file_data,
        parts.checkpoint.loaded,
        parts.options,
        parts.options.rules,
        queue_end=queue_end,
        is_clean=is_clean,
        on_record=on_record,
        bulk_scanner=bulk_scan(parts, dispatches=dispatches) if bulk_scan else None,
    )
    end = scan.physical_end
    log.files.truncate(end)
    log.files.flushed = end
    if queue_end >= end:
        for queue in queues:
            _truncate_queue(queue, end)
    if not is_clean:
        _flush_again(log, queues, scan.first_file)


def resume_dispatch(parts: StoreParts) -> None:
    """Dispatch the records behind the queues' last ones; set the offsets of queues."""
    log, queues, dispatcher = parts.log, parts.queues, parts.dispatcher
    ends = [queue.max_physical_offset for queue in queues]
    start, end = log.files.start, log.files.end
    dispatcher.position = dispatch_start(ends, start, end, REFERENCE)
    dispatcher.dispatch((), [])
    for queue in queues:
        log.next_queue_offsets[queue.topic, queue.queue_id] = queue.max_offset
        queue.correct_min_offset(start)


def _recover_queue(queue: ConsumeQueue) -> None:
    """End *queue* before the first invalid unit of its last three files."""
    start_offsets = queue.files.start_offsets[-FILES_TO_RECOVER:]
    if start_offsets:
        files = [queue.unit_file(start) for start in start_offsets]
        queue.truncate(find_queue_end(files, queue.files.file_size, REFERENCE))
        queue.recover_extension(start_offsets)


def _truncate_queue(queue: ConsumeQueue, log_end: int) -> None:
    """Remove the units at or behind *log_end* of the log from *queue*.

    The extension keeps its units of them.
    """
    newest_first = map(queue.unit_file, queue.files.start_offsets[::-1])
    truncated = truncate_queue(newest_first, log_end, REFERENCE)
    for _ in range(truncated.deleted):
        queue.files.delete_last()
    queue.truncate(truncated.end)


def _flush_again(log: CommitLog, queues: ConsumeQueueTable, first: int) -> None:
    """Mark everything that the checkpoint does not confirm for the next flush.

    After a killed process it is unknown which pages the system has written since.
    4.6.0 counts them as flushed, and its checkpoint soon confirms them.
    """
    log.files.flushed = min(log.files.start_offsets[first:] or [log.files.end])
    for queue in queues:
        start_offsets = queue.files.start_offsets[-FILES_TO_RECOVER:]
        queue.files.flushed = min([*start_offsets, queue.files.flushed])
