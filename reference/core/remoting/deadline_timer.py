"""One timer for the deadlines of many waiting requests."""

from __future__ import annotations

from collections.abc import Callable

from reference.core.remoting.timers import Callback, Timers

WATCH_MAX_MS = 5_000
"""Milliseconds that the timer may lie ahead."""


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
