"""
Flush policy: a flush takes only files with enough dirty pages, except a full flush.

The commit log, the consume queues and the transient store pool have a policy each, with
settings of their own (Java: CommitLog$FlushRealTimeService, FlushConsumeQueueService).
"""

from __future__ import annotations

PAGE_SIZE = 4096
"""Java: MappedFile.OS_PAGE_SIZE."""


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
