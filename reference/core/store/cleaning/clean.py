"""
Cleaning: the round in which a store gives up its oldest files.

A round takes its time, so that the disk is not busy with nothing else: it pauses
between files. Here it is an iterator over these pauses; who runs it waits between
them.
"""

from __future__ import annotations

from collections.abc import Iterator

from reference.core.store.cleaning.retention import (
    Retention,
    evaluate_disk_usage,
    expired_count,
)
from reference.core.store.commitlog.commit_log import CommitLog
from reference.core.store.consumequeue.table import ConsumeQueueTable
from reference.core.store.index.index_service import IndexService
from reference.core.store.mapped.files import Files, FilesError
from spec.store.file_names import file_name
from spec.wire.message.topic_names import SCHEDULE_TOPIC


class Cleaner:
    """What of a store is to be given up, and how far that is."""

    def __init__(
        self,
        files: Files,
        log: CommitLog,
        queues: ConsumeQueueTable,
        index: IndexService,
    ) -> None:
        self.is_disk_full = False
        """Whether messages are refused because the disk was too full last time."""
        self._files = files
        self._log = log
        self._queues = queues
        self._index = index
        self._queues_begin_at = 0
        """Offset of the log at which queues and index last began."""
        self._hanging: list[str] = []
        """Files that would not go."""
        self._retried_at_ms = 0

    def round(self, retention: Retention, now_ms: int) -> Iterator[int]:
        """Give up what is to go now: of the log, then of queues and index.

        Yields how long to pause, in milliseconds, before it is to go on; 0 only lets
        others have their turn.
        4.6.0 org.apache.rocketmq.store.DefaultMessageStore#cleanFilesPeriodically.
        """
        count = self._expired_count(retention, now_ms)
        for number in range(count):
            self._delete_oldest()
            if number + 1 < count:
                yield retention.pause_ms
        self._retry(retention, now_ms)
        log_start = self._log.queue.start
        if log_start <= self._queues_begin_at:
            return
        self._queues_begin_at = log_start
        for queue in self._queues:
            count = queue.delete_before(log_start)  # [STORE-CLEAN-005]
            yield retention.queue_pause_ms if count else 0
        self._index.delete_before(log_start)  # [STORE-CLEAN-006]

    def delete_expired_queues(self) -> None:
        """Delete the queues without a message that the log still has.

        4.6.0 DefaultMessageStore#cleanExpiredConsumerQueue, which does so when a tool
        asks, and lets such a queue begin anew at 0.
        """
        for queue in self._queues:
            last_end = queue.last_physical_end
            if queue.topic != SCHEDULE_TOPIC and 0 <= last_end < self._log.queue.start:
                # [STORE-CLEAN-009]
                self._log.next_queue_offsets.pop((queue.topic, queue.queue_id), None)
                self._queues.delete(queue)

    def used_ratio(self) -> float:
        """Return how full the disk is, from 0 to 1; -1 without a disk."""
        total, free = self._files.disk_space()
        return (total - free) / total if total > 0 else -1.0

    def _expired_count(self, retention: Retention, now_ms: int) -> int:
        """Look at the disk; return how many files of the log go."""
        verdict = evaluate_disk_usage(
            self.used_ratio(), retention, was_full=self.is_disk_full
        )
        self.is_disk_full = verdict.is_full
        log = self._log.queue
        return expired_count(
            [log.modified_at_ms(number) for number in range(len(log))],
            now_ms=now_ms,
            verdict=verdict,
            retention=retention,
        )

    def _delete_oldest(self) -> None:
        log = self._log.queue
        base = log.start
        try:
            log.delete_first()
        except FilesError:
            self._hanging.append(f"{log.directory}/{file_name(base)}")

    def _retry(self, retention: Retention, now_ms: int) -> None:
        """Try again to delete what the system would not.

        4.6.0 DefaultMessageStore$CleanCommitLogService#redeleteHangedFile. There it is
        readers that keep a file; here its name is gone at once, and its bytes with the
        last reader.
        """
        if now_ms - self._retried_at_ms <= retention.retry_ms:
            return
        self._retried_at_ms = now_ms
        hanging, self._hanging = self._hanging, []
        for path in hanging:
            try:
                self._files.delete(path)
            except FilesError:
                self._hanging.append(path)
