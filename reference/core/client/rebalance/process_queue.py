"""
Pulled messages of one queue that are not consumed yet (Java: ProcessQueue).

They are consumed in any order. The committed offset is that of the first message not
consumed: the queue's next owner receives some messages twice, but misses none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from reference.core.client.pull.message_ext import MessageExt
from spec.client.subscription import (
    BACKLOG_COUNT_MAX,
    BACKLOG_MIB_MAX,
    BACKLOG_SPAN_MAX,
)


class PullThresholds(Struct, frozen=True, kw_only=True):
    """Flow control: limits of pulling ahead of the application, 4.6.0's by default.

    A threshold for the topic, divided among its queues, replaces that for a queue.
    """

    count: int = BACKLOG_COUNT_MAX
    """Messages (Java: pullThresholdForQueue)."""
    mib: int = BACKLOG_MIB_MAX
    """MiB of bodies, rounded down (Java: pullThresholdSizeForQueue)."""
    span: int | None = BACKLOG_SPAN_MAX
    """Distance of first and last offset (Java: consumeConcurrentlyMaxSpan)."""
    topic_count: int | None = None
    """Messages of all queues (Java: pullThresholdForTopic)."""
    topic_mib: int | None = None
    """MiB of all queues (Java: pullThresholdSizeForTopic)."""

    def of_queue(self, queue_count: int) -> PullThresholds:
        """Return the thresholds of one of *queue_count* queues."""
        count, mib = self.count, self.mib
        if self.topic_count is not None:  # [CLIENT-PULL-010]
            count = max(1, self.topic_count // queue_count)
        if self.topic_mib is not None:
            mib = max(1, self.topic_mib // queue_count)
        return replace(self, count=count, mib=mib)


class ProcessQueue:
    """Cached messages and the consumed offset."""

    def __init__(self) -> None:
        self.offset: int | None = None
        """The offset below which everything is consumed; None at first."""
        self.size = 0
        """Bytes of the cached bodies."""
        self._sizes: dict[int, int] = {}
        self._end = 0

    @property
    def count(self) -> int:
        """Number of cached messages."""
        return len(self._sizes)

    @property
    def first(self) -> int | None:
        """The first cached offset, if any."""
        return min(self._sizes, default=None)

    @property
    def last(self) -> int | None:
        """The last cached offset, if any."""
        return max(self._sizes, default=None)

    def exceeds(self, thresholds: PullThresholds) -> bool:
        """Return whether pulling has to pause until more is consumed."""
        if not self._sizes:
            return False
        if len(self._sizes) > thresholds.count or self.size >> 20 > thresholds.mib:
            return True  # [CLIENT-PULL-008]
        if thresholds.span is None:
            return False
        return max(self._sizes) - min(self._sizes) > thresholds.span

    def add(self, messages: Sequence[MessageExt]) -> None:
        """Add pulled messages; those already cached are ignored."""
        for message in messages:
            offset, size = message.record.queue_offset, len(message.body)
            if offset not in self._sizes:
                self._sizes[offset] = size
                self.size += size
            self._end = max(self._end, offset + 1)

    def remove(self, messages: Iterable[MessageExt]) -> None:
        """Remove consumed messages and advance the offset.

        Nothing is cached if the queue was assigned anew since their delivery. The
        offset then stays (4.6.0 ProcessQueue#removeMessage).
        """
        if not self._sizes:
            return
        for message in messages:
            self.size -= self._sizes.pop(message.record.queue_offset, 0)
        self.offset = min(self._sizes, default=self._end)  # [CLIENT-COMMIT-002]

    def skip_to(self, offset: int) -> None:
        """Advance an empty process queue to *offset*: the filter matched nothing."""
        if not self._sizes:
            self.offset = self._end = offset
