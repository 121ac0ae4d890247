"""
Cleaning: deletes the oldest files of the commit log, its consume queues and its index.

The files of the commit log expire by age at the hours of deleteWhen, or when the disk
fills. The last file never expires. Consume queues and index have no retention of their
own: they lose the files that point only at deleted files of the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from reference.core.store.commitlog.commit_log import CommitLog
from reference.core.store.consumequeue.consume_queue import ConsumeQueue
from reference.core.store.consumequeue.table import ConsumeQueueTable
from reference.core.store.index.index_service import IndexService
from reference.core.store.mapped.files import Files, FilesError
from spec.store.file_names import file_name
from spec.wire.message.topic_names import SCHEDULE_TOPIC

DELETE_FILES_MAX = 10
"""Files that one round deletes (4.6.0 MappedFileQueue#DELETE_FILES_BATCH_MAX)."""
FIRST_ROUND_MS = 60_000
"""Time from the broker's start to its first round."""
HOUR_MS = 3_600_000


class Retention(Struct, frozen=True, kw_only=True):
    """The settings of the cleaning; each names the key of broker.conf that sets it."""

    reserved_ms: int = 72 * HOUR_MS
    """fileReservedTime, there in hours."""
    hours: frozenset[int] = frozenset({4})
    """deleteWhen: hours of the day, in local time."""
    used_ratio_max: float = 0.75
    """diskMaxUsedSpaceRatio, there in per cent: above it, expired files go any hour."""
    forcing_ratio: float = 0.85
    """rocketmq.broker.diskSpaceCleanForciblyRatio: above it, age does not count."""
    warning_ratio: float = 0.90
    """rocketmq.broker.diskSpaceWarningLevelRatio: above it, messages are refused."""
    may_force: bool = True
    """cleanFileForciblyEnable."""
    pause_ms: int = 100
    """deleteCommitLogFilesInterval: between two files of the log."""
    queue_pause_ms: int = 100
    """deleteConsumeQueueFilesInterval: after a queue that has lost files."""
    retry_ms: int = 120_000
    """redeleteHangedFileInterval: between attempts to delete a file."""
    zone_offset_ms: int = 0
    """Local time minus UTC."""


class DiskUsage(Struct, frozen=True, kw_only=True):
    """The consequences of a used ratio of the disk."""

    is_full: bool
    """Messages are refused."""
    needs_space: bool
    """Files expire by age at any hour."""
    is_urgent: bool
    """Files expire at any age."""


def rate_disk_usage(
    used_ratio: float, retention: Retention, *, was_full: bool
) -> DiskUsage:
    """Return the consequences of a used ratio from 0 to 1; below 0 it is unknown.

    4.6.0 DefaultMessageStore$CleanCommitLogService#isSpaceToDelete. Between the two
    upper ratios a disk that was full stays full.
    """
    is_warning = used_ratio > retention.warning_ratio
    is_urgent = is_warning or used_ratio > retention.forcing_ratio
    return DiskUsage(
        # [SEND-STATE-003] [SEND-STATE-016]
        is_full=is_warning or (is_urgent and was_full),
        # [STORE-CLEAN-003]
        needs_space=used_ratio < 0 or used_ratio > retention.used_ratio_max,
        is_urgent=is_urgent,
    )


def is_time_to_delete(now_ms: int, retention: Retention) -> bool:
    """Return whether *now_ms* is in an hour of deleteWhen."""
    return (now_ms + retention.zone_offset_ms) // HOUR_MS % 24 in retention.hours


def expired_count(
    modified_at_ms: Sequence[int],
    *,
    now_ms: int,
    usage: DiskUsage,
    retention: Retention,
) -> int:
    """Return the number of files to delete, given each file's time of its last write.

    They are the oldest ones. The first file that has not expired keeps all behind it.
    """
    if not (usage.needs_space or is_time_to_delete(now_ms, retention)):
        return 0
    is_forced = usage.is_urgent and retention.may_force
    count = 0
    for changed_at_ms in modified_at_ms[:-1][:DELETE_FILES_MAX]:  # [STORE-CLEAN-001]
        # [STORE-CLEAN-002]
        if not is_forced and now_ms < changed_at_ms + retention.reserved_ms:
            break
        count += 1
    return count


def parse_hours(text: str) -> frozenset[int]:
    """Return the hours of a deleteWhen such as ``04;16``.

    A part that is not a number ends the list. Java then does not clean.
    """
    hours = set()
    for part in text.split(";"):
        try:
            hours.add(int(part))
        except ValueError:
            break
    return frozenset(hours)


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

        Deleting a large file keeps a disk busy. Yields the pauses in between, in
        milliseconds; 0 only lets other tasks run. Raises FilesError for a file of a
        queue or of the index that is not deleted, after all others.
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
        failure = None
        for queue in self._queues:
            count = 0
            try:
                count = queue.delete_before(log_start)  # [STORE-CLEAN-005]
            except FilesError as error:
                failure = error
            yield retention.queue_pause_ms if count else 0
        self._index.delete_before(log_start)  # [STORE-CLEAN-006]
        if failure is not None:
            raise failure

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
