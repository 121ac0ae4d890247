"""
Timers: callbacks with the time at which each is due (Java: ScheduledExecutorService).

The heap reads no clock. Its owner passes the time in, runs the callbacks that are due,
and reads from `next_at_ms` when to come back.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count

Callback = Callable[[int], None]
"""A callback of a timer; its argument is the time in milliseconds."""


class Timers:
    """Callbacks, ordered by the time at which they are due."""

    def __init__(self) -> None:
        self._due: list[tuple[int, int, int | None, Callback]] = []
        self._order = count()
        self.next_at_ms: int | None = None
        """The time of the earliest callback, or None without any."""

    def call_at(self, at_ms: int, callback: Callback) -> None:
        """Call *callback* once, at *at_ms*."""
        heappush(self._due, (at_ms, next(self._order), None, callback))
        self.next_at_ms = self._due[0][0]

    def call_every(self, period_ms: int, callback: Callback, *, first_ms: int) -> None:
        """Call *callback* at *first_ms*, then *period_ms* after each call."""
        heappush(self._due, (first_ms, next(self._order), period_ms, callback))
        self.next_at_ms = self._due[0][0]

    def run_due(self, now_ms: int) -> None:
        """Call the callbacks due at *now_ms*; timers they set wait for the next run."""
        ready = []
        while self._due and self._due[0][0] <= now_ms:
            ready.append(heappop(self._due))
        for _, order, period_ms, callback in ready:
            if period_ms is not None:
                heappush(self._due, (now_ms + period_ms, order, period_ms, callback))
        self.next_at_ms = self._due[0][0] if self._due else None
        for *_, callback in ready:
            callback(now_ms)
