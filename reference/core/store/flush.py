"""
Flush: the files that it takes, the puts that wait for it, and the checkpoint.

The commit log, the consume queues and the transient store pool have a `FlushPolicy`
each (Java: CommitLog$FlushRealTimeService, FlushConsumeQueueService). A flush takes
only files with enough dirty pages, except a full flush.

Disk (SYNC_FLUSH) and slave (SYNC_MASTER) both take the log in order. One offset
completes every put before it, so one flush answers many producers. An abnormal start
begins its recovery at the `CheckpointFile`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from reference.core.store.mapped.files import Files, MappedFile
from spec.store.checkpoint import FILE_SIZE, decode_checkpoint, encode_checkpoint
from spec.store.file_names import CHECKPOINT

PAGE_SIZE = 4096
"""Java: MappedFile.OS_PAGE_SIZE."""
OnCommit = Callable[[bool], None]
"""Receives True when the put is committed, False at its deadline."""


class FlushPolicy:
    """The time of the last full flush of one kind of files."""

    def __init__(self) -> None:
        self._last_full_flush_ms = 0

    def least_pages(
        self, now_ms: int, *, configured: int, full_flush_interval_ms: int
    ) -> int:
        """Return the dirty pages that a flush requires now; 0 for a full flush.

        The first flush is a full one, and so is the first one after each interval.
        """
        if now_ms >= self._last_full_flush_ms + full_flush_interval_ms:
            self._last_full_flush_ms = now_ms
            return 0
        return configured


def has_enough_dirty_pages(
    flushed: int, written: int, *, least_pages: int, file_size: int
) -> bool:
    """Return whether the bytes between two offsets deserve a flush.

    A full file always does (4.6.0 MappedFile#isAbleToFlush).
    """
    if least_pages == 0 or flushed >= written:
        return flushed < written
    start = flushed - flushed % file_size
    if written - start >= file_size:
        return True
    dirty = (written - start) // PAGE_SIZE - (flushed - start) // PAGE_SIZE
    return dirty >= least_pages


class GroupCommitRequest(NamedTuple):
    """One waiting put (Java: CommitLog$GroupCommitRequest)."""

    end: int
    """Commit-log offset behind the last record of the put."""
    deadline_ms: int
    on_commit: OnCommit


class GroupCommitQueue:
    """The puts that wait for one disk or one set of slaves, in log order.

    Java: CommitLog$GroupCommitService and HAService$GroupTransferService.
    """

    def __init__(self) -> None:
        self._requests: deque[GroupCommitRequest] = deque()

    def __len__(self) -> int:
        return len(self._requests)

    @property
    def deadline_ms(self) -> int | None:
        """Deadline of the first request; None without one."""
        return self._requests[0].deadline_ms if self._requests else None

    def put(self, end: int, *, deadline_ms: int, on_commit: OnCommit) -> None:
        """Add a request that is complete once everything before *end* is committed."""
        self._requests.append(GroupCommitRequest(end, deadline_ms, on_commit))

    def commit(self, offset: int) -> None:
        """Complete the requests that end at *offset* or before."""
        requests = self._requests
        while requests and requests[0].end <= offset:
            requests.popleft().on_commit(True)

    def expire(self, now_ms: int) -> None:
        """Fail the requests whose deadline has passed."""
        requests = self._requests
        while requests and requests[0].deadline_ms <= now_ms:
            requests.popleft().on_commit(False)


class CheckpointFile:
    """Store times up to which log, queues and index are on disk (StoreCheckpoint)."""

    def __init__(self, files: Files) -> None:
        self._file = files.open(CHECKPOINT, FILE_SIZE)
        self.loaded = decode_checkpoint(self._file.view)
        """The times at the start, which recovery trusts."""
        self.logics_ms = self._logics_on_disk_ms = self.loaded.logics_ms
        """Store time of the last dispatched message."""
        self.physic_ms = self.loaded.physic_ms
        self.index_ms = self.loaded.index_ms

    def write(self, *, logics_ms: int | None = None) -> MappedFile:
        """Write the times and return the file.

        The time of the queues advances only to *logics_ms*, which a flush of the queues
        passes. 4.6.0 writes the time of the last unit, also when an index file is full
        and no queue was flushed. A power cut then loses units for good.
        """
        if logics_ms is not None:
            self._logics_on_disk_ms = logics_ms
        # [STORE-CHECKPOINT-001] [STORE-CHECKPOINT-002]
        times = replace(
            self.loaded,
            physic_ms=self.physic_ms,
            logics_ms=self._logics_on_disk_ms,
            index_ms=self.index_ms,
        )
        self._file.write(encode_checkpoint(times), 0)
        return self._file

    def flush(self, *, logics_ms: int | None = None) -> None:
        """Write the times and wait until they are on disk."""
        self.write(logics_ms=logics_ms).flush()

    def close(self) -> None:
        """Unmap the file."""
        self._file.close()


class SlaveCheckpointFile(CheckpointFile):
    """The checkpoint of a slave, whose log receives bytes without a store time.

    The time of its log is therefore that of the last dispatched message
    (4.6.0 ConsumeQueue#putMessagePositionInfoWrapper).
    """

    @property
    def logics_ms(self) -> int:
        """Store time of the last dispatched message."""
        return self._dispatched_ms

    @logics_ms.setter
    def logics_ms(self, stored_at_ms: int) -> None:
        self._dispatched_ms = self.physic_ms = stored_at_ms
