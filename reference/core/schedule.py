"""
A schedule is what a service has to do later, and when.

It reads no clock. The service tells it the time; it runs what is due and says when
it wants to be told again.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count

Action = Callable[[int], None]
"""Something to do; it is given the time in milliseconds."""


class Schedule:
    """Actions with the times at which they are due."""

    def __init__(self) -> None:
        self._due: list[tuple[int, int, int | None, Action]] = []
        self._order = count()

    def at(self, at_ms: int, action: Action) -> None:
        """Do *action* once, at *at_ms*."""
        heappush(self._due, (at_ms, next(self._order), None, action))

    def every(self, period_ms: int, action: Action, *, first_ms: int) -> None:
        """Do *action* at *first_ms* and *period_ms* after each time it was done."""
        heappush(self._due, (first_ms, next(self._order), period_ms, action))

    @property
    def next_ms(self) -> int | None:
        """When the earliest action is due, or None when there is nothing to do."""
        return self._due[0][0] if self._due else None

    def run(self, now_ms: int) -> None:
        """Do what is due at *now_ms*; what that schedules anew waits for next time."""
        ready = []
        while self._due and self._due[0][0] <= now_ms:
            ready.append(heappop(self._due))
        for _, order, period_ms, action in ready:
            if period_ms is not None:
                heappush(self._due, (now_ms + period_ms, order, period_ms, action))
            action(now_ms)
