"""One timer for many deadlines: how many are set, how far ahead, and after errors."""

from __future__ import annotations

from reference.core.remoting.timers import WATCH_MAX_MS, DeadlineTimer, Timers


class Waiting:
    """Deadlines, those that have passed, and the timers of both."""

    def __init__(self) -> None:
        self.deadlines: list[int] = []
        self.passed: list[int] = []
        self.errors: list[str] = []
        self.timers = Timers(self.errors.append)
        self.timer = DeadlineTimer(
            self.timers, lambda: min(self.deadlines, default=None), self._expire
        )

    def add(self, deadline_ms: int, now_ms: int = 0) -> None:
        """Wait until *deadline_ms*."""
        self.deadlines.append(deadline_ms)
        self.timer.watch(deadline_ms, now_ms)

    def _expire(self, now_ms: int) -> None:
        due = [one for one in self.deadlines if one <= now_ms]
        self.deadlines = [one for one in self.deadlines if one > now_ms]
        self.passed += due
        if -1 in due:
            raise ValueError("a bad deadline")


def test_later_deadlines_share_the_timer_of_the_first() -> None:
    waiting = Waiting()
    for deadline_ms in range(100, 1_000):
        waiting.add(deadline_ms)
    assert len(waiting.timers) == 1
    waiting.timers.run_due(100)
    assert waiting.passed == [100]
    assert (len(waiting.timers), waiting.timers.next_at_ms) == (1, 101)


def test_an_earlier_deadline_gets_its_own_timer() -> None:
    waiting = Waiting()
    waiting.add(900)
    waiting.add(100)
    waiting.timers.run_due(100)
    waiting.timers.run_due(900)
    assert waiting.passed == [100, 900]
    assert len(waiting.timers) == 0


def test_no_timer_is_far_ahead() -> None:
    waiting = Waiting()
    waiting.add(10 * WATCH_MAX_MS)
    assert waiting.timers.next_at_ms == WATCH_MAX_MS
    for now_ms in range(WATCH_MAX_MS, 11 * WATCH_MAX_MS, WATCH_MAX_MS):
        assert waiting.passed == []
        waiting.timers.run_due(now_ms)
    assert waiting.passed == [10 * WATCH_MAX_MS]


def test_an_error_leaves_the_later_deadlines_observed() -> None:
    waiting = Waiting()
    waiting.deadlines = [-1, 50]
    waiting.timer.watch(-1, 0)
    waiting.timers.run_due(0)
    assert len(waiting.errors) == 1
    waiting.timers.run_due(50)
    assert waiting.passed == [-1, 50]
