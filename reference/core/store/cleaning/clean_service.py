"""
Cleaning: deletes the oldest files of the commit log, its consume queues and its index.

Deleting a large file keeps a disk busy, so there are pauses between files.
`CleanService.delete_expired_files` is an iterator over these pauses, which its caller
waits for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reference.core.store.cleaning.retention import (
    Retention,
    expired_count,
    rate_disk_usage,
)
from reference.core.store.commitlog.commit_log import CommitLog
from reference.core.store.consumequeue.consume_queue import ConsumeQueue
from reference.core.store.consumequeue.table import ConsumeQueueTable
from reference.core.store.index.index_service import IndexService
from reference.core.store.mapped.files import Files, FilesError
from spec.store.file_names import file_name
from spec.wire.message.topic_names import SCHEDULE_TOPIC


class CleanService:
    """Deletes the files of one store.

    Java: CleanCommitLogService, CleanConsumeQueueService.
    """

    def __init__(
        self,
        files: Files,
        log: CommitLog,
        queues: ConsumeQueueTable,
        index: IndexService,
    ) -> None:
        self.is_disk_full = False
        """Whether the last round found the disk too full to accept messages."""
        self._files = files
        self._log = log
        self._queues = queues
        self._index = index
        self._cleaned_until = 0
        """Commit-log offset before which queues and index have no file."""
        self._undeleted: list[str] = []
        """Paths of files that the system did not delete (Java: hanged files)."""
        self._retried_at_ms = 0

    def delete_expired_files(self, retention: Retention, now_ms: int) -> Iterator[int]:
        """Delete the expired files of the log, then those of its queues and its index.

        Yields pauses in milliseconds; 0 only lets other tasks run.
        4.6.0 org.apache.rocketmq.store.DefaultMessageStore#cleanFilesPeriodically.
        """
        count = self._expired_count(retention, now_ms)
        for number in range(count):
            self._delete_oldest()
            if number + 1 < count:
                yield retention.pause_ms
        self._delete_again(retention, now_ms)
        log_start = self._log.files.start
        if log_start <= self._cleaned_until:
            return
        self._cleaned_until = log_start
        for queue in self._queues:
            count = queue.delete_before(log_start)  # [STORE-CLEAN-005]
            yield retention.queue_pause_ms if count else 0
        self._index.delete_before(log_start)  # [STORE-CLEAN-006]

    def delete_expired_queues(self) -> None:
        """Delete the queues without a message that the log still has.

        4.6.0 DefaultMessageStore#cleanExpiredConsumerQueue, for a request of a tool.
        The next message of a deleted queue has offset 0.
        """
        for queue in self._queues:
            last_end = queue.last_physical_end
            if queue.topic != SCHEDULE_TOPIC and 0 <= last_end < self._log.files.start:
                self._delete_queue(queue)  # [STORE-CLEAN-009]

    def delete_unused_topics(self, topics: Iterable[str]) -> None:
        """Delete the queues of every topic but *topics*.

        4.6.0 DefaultMessageStore#cleanUnusedTopic spares only the schedule topic.
        """
        kept = {*topics, SCHEDULE_TOPIC}
        for queue in self._queues:
            if queue.topic not in kept:
                self._delete_queue(queue)

    def _delete_queue(self, queue: ConsumeQueue) -> None:
        self._log.next_queue_offsets.pop((queue.topic, queue.queue_id), None)
        self._queues.delete(queue)

    def _expired_count(self, retention: Retention, now_ms: int) -> int:
        """Return the number of commit-log files to delete; update `is_disk_full`."""
        total, free = self._files.disk_space()
        used_ratio = (total - free) / total if total > 0 else -1.0
        usage = rate_disk_usage(used_ratio, retention, was_full=self.is_disk_full)
        self.is_disk_full = usage.is_full
        log = self._log.files
        times = [log.modified_at_ms(number) for number in range(len(log))]
        return expired_count(times, now_ms=now_ms, usage=usage, retention=retention)

    def _delete_oldest(self) -> None:
        log = self._log.files
        path = f"{log.directory}/{file_name(log.start)}"
        try:
            log.delete_first()
        except FilesError:
            self._undeleted.append(path)

    def _delete_again(self, retention: Retention, now_ms: int) -> None:
        """Delete files that an earlier attempt did not delete.

        4.6.0 DefaultMessageStore$CleanCommitLogService#redeleteHangedFile. In Java
        readers keep a file. Here its name is deleted first, and its bytes with the
        last reader.
        """
        if now_ms - self._retried_at_ms <= retention.retry_ms:
            return
        self._retried_at_ms = now_ms
        paths, self._undeleted = self._undeleted, []
        for path in paths:
            try:
                self._files.delete(path)
            except FilesError:
                self._undeleted.append(path)
