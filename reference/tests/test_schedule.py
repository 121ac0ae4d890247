"""Schedules: what is due is done, once, in order."""

from __future__ import annotations

from reference.core.schedule import Schedule


def test_what_is_due_is_done_in_the_order_of_its_time() -> None:
    schedule, done = Schedule(), list[str]()
    schedule.at(20, lambda _: done.append("later"))
    schedule.at(10, lambda _: done.append("sooner"))
    schedule.at(30, lambda _: done.append("not yet"))
    schedule.run(20)
    assert done == ["sooner", "later"]
    assert schedule.next_ms == 30


def test_what_is_regular_comes_back() -> None:
    schedule, times = Schedule(), list[int]()
    schedule.every(10, times.append, first_ms=5)
    for now_ms in (4, 5, 14, 15, 40):
        schedule.run(now_ms)
    assert times == [5, 15, 40]
    assert schedule.next_ms == 50


def test_what_an_action_adds_waits_for_the_next_time() -> None:
    schedule, done = Schedule(), list[int]()
    schedule.at(1, lambda now_ms: schedule.at(now_ms, done.append))
    schedule.run(1)
    assert done == []
    schedule.run(1)
    assert done == [1]
