"""
Timers: callbacks with the time at which each is due (Java: ScheduledExecutorService).

The heap reads no clock. Its owner passes the time in, runs the callbacks that are due,
and reads from `next_at_ms` when to come back. A callback that raises stops no other:
the error is logged, and a periodic callback is retried.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from heapq import heappop, heappush
from itertools import count

RETRY_MS = 1_000
"""Time after which a periodic callback that raised is called again, at the latest."""

Callback = Callable[[int], None]
"""A callback of a timer; its argument is the time in milliseconds."""


class Timers:
    """Callbacks, ordered by the time at which they are due."""

    def __init__(self, log_error: Callable[[str], None]) -> None:
        self._log_error = log_error
        self._failures: dict[int, str] = {}
        """By periodic callback, the error of its last call, which is logged once."""
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
        for one in ready:
            self._call(*one[1:], now_ms)
        self.next_at_ms = self._due[0][0] if self._due else None

    def _call(
        self, order: int, period_ms: int | None, callback: Callback, now_ms: int
    ) -> None:
        """Call *callback*, and set the time of its next call if it is periodic."""
        error = ""
        try:
            callback(now_ms)
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised}"
            if error != self._failures.get(order):
                self._log_error(f"{_name(callback)} failed: {error}")
        if period_ms is None:
            return
        pause_ms = period_ms
        if error:
            self._failures[order] = error
            pause_ms = min(period_ms, RETRY_MS)
        elif self._failures:
            self._failures.pop(order, None)
        heappush(self._due, (now_ms + pause_ms, order, period_ms, callback))


def _name(callback: Callback) -> str:
    function = callback.func if isinstance(callback, partial) else callback
    return getattr(function, "__qualname__", repr(function))
