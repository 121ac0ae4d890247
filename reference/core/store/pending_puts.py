"""
Puts that wait: the messages are in the log, and somebody else must have them too
before their producers are answered.

With SYNC_FLUSH that is the disk, with SYNC_MASTER a slave. Both take the log in
order, so one offset says how far they are, and whoever waits for less is answered:
one flush for many messages (Java: GroupCommitRequest).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

Told = Callable[[bool], None]
"""What a put does when it is told whether it got what it waited for."""


class PendingPut(NamedTuple):
    """One put that waits."""

    end: int
    """Offset of the log behind the last record of the put."""
    deadline_ms: int
    tell: Told


class PendingPuts:
    """All puts that wait for the same thing, in the order of the log."""

    def __init__(self) -> None:
        self._row: deque[PendingPut] = deque()

    def __len__(self) -> int:
        return len(self._row)

    @property
    def deadline_ms(self) -> int | None:
        """When the patience of the first one ends; None if nobody waits."""
        return self._row[0].deadline_ms if self._row else None

    def wait(self, end: int, *, deadline_ms: int, tell: Told) -> None:
        """Tell *tell* True when everything before *end* is there, or False too late."""
        self._row.append(PendingPut(end, deadline_ms, tell))

    def reached(self, offset: int) -> None:
        """Tell those who wait for *offset* or less that it is there."""
        row = self._row
        while row and row[0].end <= offset:
            row.popleft().tell(True)

    def give_up(self, now_ms: int) -> None:
        """Tell those whose patience has ended that it is not."""
        row = self._row
        while row and row[0].deadline_ms <= now_ms:
            row.popleft().tell(False)
