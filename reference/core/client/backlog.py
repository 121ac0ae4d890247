"""
The messages of one queue that were pulled and are not handled (Java: ProcessQueue).

They may be handled in any order. What is committed is the first that is not: whoever
takes the queue over begins there, and gets some again rather than one never.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from reference.core.client.pulling import Received
from spec.client.subscribing import (
    BACKLOG_COUNT_MAX,
    BACKLOG_MIB_MAX,
    BACKLOG_SPAN_MAX,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How far a consumer pulls a queue ahead of its application, as 4.6.0 by default.

    Where something is set for the topic, it takes the place of what is set for a queue.
    """

    count: int = BACKLOG_COUNT_MAX
    """Messages (Java: pullThresholdForQueue)."""
    mib: int = BACKLOG_MIB_MAX
    """Whole MiB of bodies (Java: pullThresholdSizeForQueue)."""
    span: int | None = BACKLOG_SPAN_MAX
    """From the first to the last offset (Java: consumeConcurrentlyMaxSpan)."""
    topic_count: int | None = None
    """Messages of all queues (Java: pullThresholdForTopic)."""
    topic_mib: int | None = None
    """MiB of all queues (Java: pullThresholdSizeForTopic)."""

    def of_queue(self, queue_count: int) -> Limits:
        """Return the limits of each of *queue_count* queues."""
        count, mib = self.count, self.mib
        if self.topic_count is not None:  # [CLIENT-PULL-010]
            count = max(1, self.topic_count // queue_count)
        if self.topic_mib is not None:
            mib = max(1, self.topic_mib // queue_count)
        return replace(self, count=count, mib=mib)


USUAL_LIMITS = Limits()


class Backlog:
    """What waits for the application, and how far it has come."""

    def __init__(self) -> None:
        self.offset: int | None = None
        """Up to where everything was handled; None before anything was."""
        self._sizes: dict[int, int] = {}
        self._size = 0
        self._end = 0

    @property
    def is_empty(self) -> bool:
        """Whether everything that came was handled."""
        return not self._sizes

    @property
    def count(self) -> int:
        """How many messages wait."""
        return len(self._sizes)

    @property
    def size(self) -> int:
        """Bytes of their bodies."""
        return self._size

    @property
    def first(self) -> int | None:
        """The offset of the first that waits, if any."""
        return min(self._sizes, default=None)

    @property
    def last(self) -> int | None:
        """The offset of the last that waits, if any."""
        return max(self._sizes, default=None)

    def exceeds(self, limits: Limits) -> bool:
        """Return whether the application is to catch up before more is pulled."""
        if self.is_empty:
            return False
        if len(self._sizes) > limits.count or self._size >> 20 > limits.mib:
            return True  # [CLIENT-PULL-008]
        if limits.span is None:
            return False
        return max(self._sizes) - min(self._sizes) > limits.span

    def add(self, messages: Sequence[Received]) -> None:
        """Take *messages*; one that is there already stays as it is."""
        for message in messages:
            offset, size = message.record.queue_offset, len(message.body)
            if offset not in self._sizes:
                self._sizes[offset] = size
                self._size += size
            self._end = max(self._end, offset + 1)

    def remove(self, messages: Iterable[Received]) -> None:
        """Note that *messages* are handled."""
        for message in messages:
            self._size -= self._sizes.pop(message.record.queue_offset, 0)
        self.offset = min(self._sizes, default=self._end)  # [CLIENT-COMMIT-002]

    def skip_to(self, offset: int) -> None:
        """Note that there is nothing before *offset* that is wanted."""
        if not self._sizes:
            self.offset = self._end = offset
