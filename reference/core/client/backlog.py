"""
The messages of one queue that were pulled and are not handled (Java: ProcessQueue).

They may be handled in any order. What is committed is the first that is not: whoever
takes the queue over begins there, and gets some again rather than one never.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reference.core.client.pulling import Received
from spec.client.subscribing import (
    BACKLOG_COUNT_MAX,
    BACKLOG_SIZE_MAX,
    BACKLOG_SPAN_MAX,
)


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

    @property
    def is_full(self) -> bool:
        """Whether the application is to catch up before more is pulled."""
        if not self._sizes:
            return False
        span = self._end - 1 - min(self._sizes)
        return (  # [CLIENT-PULL-008]
            len(self._sizes) > BACKLOG_COUNT_MAX
            or self._size > BACKLOG_SIZE_MAX
            or span > BACKLOG_SPAN_MAX
        )

    def add(self, messages: Sequence[Received]) -> None:
        """Take *messages*; one that is there already stays as it is."""
        for message in messages:
            offset, size = message.record.queue_offset, len(message.record.body)
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
