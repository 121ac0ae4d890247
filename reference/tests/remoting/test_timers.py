"""Timers: due callbacks run once, in order of their time."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

from reference.core.remoting.timers import Timers
from reference.core.store.mapped.files import FilesError


def test_due_callbacks_run_in_order_of_their_time() -> None:
    timers, called = Timers(print), list[str]()
    timers.call_at(20, lambda _: called.append("later"))
    timers.call_at(10, lambda _: called.append("sooner"))
    timers.call_at(30, lambda _: called.append("not yet"))
    timers.run_due(20)
    assert called == ["sooner", "later"]
    assert timers.next_at_ms == 30


def test_a_periodic_callback_runs_again() -> None:
    timers, times = Timers(print), list[int]()
    timers.call_every(10, times.append, first_ms=5)
    for now_ms in (4, 5, 14, 15, 40):
        timers.run_due(now_ms)
    assert times == [5, 15, 40]
    assert timers.next_at_ms == 50


def test_a_timer_set_by_a_callback_waits_for_the_next_run() -> None:
    timers, called = Timers(print), list[int]()
    timers.call_at(1, lambda now_ms: timers.call_at(now_ms, called.append))
    timers.run_due(1)
    assert called == []
    timers.run_due(1)
    assert called == [1]


def test_a_callback_that_raises_stops_no_other_and_is_retried() -> None:
    lines, times = list[str](), list[int]()
    timers = Timers(lines.append)

    def fails_for_a_minute(now_ms: int) -> None:
        if now_ms < 60_000:
            raise FilesError("no space left")
        times.append(now_ms)

    timers.call_every(10_000, fails_for_a_minute, first_ms=10_000)
    timers.call_every(10_000, times.append, first_ms=10_000)
    while len(times) < 7:
        assert timers.next_at_ms is not None
        timers.run_due(timers.next_at_ms)
    other = [10_000, 20_000, 30_000, 40_000, 50_000, 60_000]
    assert times[:6] == other
    failed, again = lines
    assert failed.endswith("fails_for_a_minute failed: FilesError: no space left")
    assert again.endswith("fails_for_a_minute works again after 53 failures")


def test_the_pause_of_a_callback_that_raises_grows_to_a_second() -> None:
    times = list[int]()
    timers = Timers(lambda _: None)

    def fails(now_ms: int) -> None:
        times.append(now_ms)
        raise ValueError("always")

    timers.call_every(10_000, fails, first_ms=0)
    for _ in range(6):
        assert timers.next_at_ms is not None
        timers.run_due(timers.next_at_ms)
    pauses = [end - begin for begin, end in pairwise(times)]
    assert pauses == [125, 250, 500, 1000, 1000]


def test_a_single_callback_that_raises_is_logged_each_time() -> None:
    lines = list[str]()
    timers = Timers(lines.append)
    for at_ms in (1, 2):
        timers.call_at(at_ms, partial(_raise, "poison"))
    timers.run_due(2)
    assert lines == ["_raise failed: ValueError: poison"] * 2
    assert timers.next_at_ms is None


def _raise(text: str, _: int) -> None:
    raise ValueError(text)
