"""Timers: due callbacks run once, in order of their time."""

from __future__ import annotations

from reference.core.remoting.timers import Timers


def test_due_callbacks_run_in_order_of_their_time() -> None:
    timers, called = Timers(), list[str]()
    timers.call_at(20, lambda _: called.append("later"))
    timers.call_at(10, lambda _: called.append("sooner"))
    timers.call_at(30, lambda _: called.append("not yet"))
    timers.run_due(20)
    assert called == ["sooner", "later"]
    assert timers.next_at_ms == 30


def test_a_periodic_callback_runs_again() -> None:
    timers, times = Timers(), list[int]()
    timers.call_every(10, times.append, first_ms=5)
    for now_ms in (4, 5, 14, 15, 40):
        timers.run_due(now_ms)
    assert times == [5, 15, 40]
    assert timers.next_at_ms == 50


def test_a_timer_set_by_a_callback_waits_for_the_next_run() -> None:
    timers, called = Timers(), list[int]()
    timers.call_at(1, lambda now_ms: timers.call_at(now_ms, called.append))
    timers.run_due(1)
    assert called == []
    timers.run_due(1)
    assert called == [1]
