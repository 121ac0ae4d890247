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
from typing import NamedTuple

from reference.core.unexpected import error_text

FIRST_PAUSE_MS, LONGEST_PAUSE_MS = 125, 1_000
"""A periodic callback that raises is called again after a pause that doubles."""

WATCH_MAX_MS = 5_000
"""Milliseconds that the timer may lie ahead."""

Callback = Callable[[int], None]
"""A callback of a timer; its argument is the time in milliseconds."""


class Failures(NamedTuple):
    """The consecutive failures of one periodic callback."""

    error: str
    """The last error, which was logged once."""
    times: int
    pause_ms: int


class Timers:
    """Callbacks, ordered by the time at which they are due."""

    def __init__(self, log_error: Callable[[str], None]) -> None:
        self._log_error = log_error
        self._failures: dict[int, Failures] = {}
        """By the number of a periodic callback that has raised."""
        self._due: list[tuple[int, int, int | None, Callback]] = []
        self._order = count()
        self.next_at_ms: int | None = None
        """The time of the earliest callback, or None without any."""

    def __len__(self) -> int:
        return len(self._due)

    def call_at(self, at_ms: int, callback: Callback) -> None:
        """Call *callback* once, at *at_ms*."""
        heappush(self._due, (at_ms, next(self._order), None, callback))
        self.next_at_ms = self._due[0][0]

    def call_every(self, period_ms: int, callback: Callback, *, first_ms: int) -> None:
        """Call *callback* at *first_ms*, then *period_ms* after each call."""
        heappush(self._due, (first_ms, next(self._order), period_ms, callback))
        self.next_at_ms = self._due[0][0]

    def move(self, duration_ms: int) -> None:
        """Call every callback *duration_ms* later, or earlier if that is negative."""
        self._due = [
            (at_ms + duration_ms, order, period_ms, callback)
            for at_ms, order, period_ms, callback in self._due
        ]
        self.next_at_ms = self._due[0][0] if self._due else None

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
        before = self._failures.pop(order, None) if self._failures else None
        try:
            callback(now_ms)
        except Exception as raised:
            error = error_text(raised)
            if before is None or error != before.error:
                self._log_error(f"{_name(callback)} failed: {error}")
        if period_ms is None:
            return
        pause_ms = period_ms
        if error:
            failures = _one_more(before, error)
            self._failures[order] = failures
            pause_ms = min(period_ms, failures.pause_ms)
        elif before is not None:
            times = f"{before.times} failure{'s'[: before.times > 1]}"
            self._log_error(f"{_name(callback)} works again after {times}")
        heappush(self._due, (now_ms + pause_ms, order, period_ms, callback))


class DeadlineTimer:
    """The timer of the earliest deadline.

    Peers choose deadlines, and most requests end before theirs. So no timer is set far
    ahead, and none is set while an earlier one is.
    """

    def __init__(
        self, timers: Timers, earliest_ms: Callable[[], int | None], expire: Callback
    ) -> None:
        self._timers = timers
        self._earliest_ms = earliest_ms
        """Returns the earliest deadline, None where nothing waits."""
        self._expire = expire
        """Ends what is due at the time of its argument."""
        self._set_ms: int | None = None
        """Time of the earliest timer that is set."""

    def watch(self, deadline_ms: int, now_ms: int) -> None:
        """Have *deadline_ms* observed."""
        at_ms = min(deadline_ms, now_ms + WATCH_MAX_MS)
        if self._set_ms is None or at_ms < self._set_ms:
            self._set_ms = at_ms
            self._timers.call_at(at_ms, self._on_timer)

    def _on_timer(self, now_ms: int) -> None:
        if self._set_ms is not None and self._set_ms <= now_ms:
            self._set_ms = None
        try:
            self._expire(now_ms)
        finally:
            earliest_ms = self._earliest_ms()
            if earliest_ms is not None:
                self.watch(earliest_ms, now_ms)


def _one_more(before: Failures | None, error: str) -> Failures:
    if before is None:
        return Failures(error, 1, FIRST_PAUSE_MS)
    pause_ms = min(2 * before.pause_ms, LONGEST_PAUSE_MS)
    return Failures(error, before.times + 1, pause_ms)


def _name(callback: Callback) -> str:
    function = callback.func if isinstance(callback, partial) else callback
    return getattr(function, "__qualname__", repr(function))
