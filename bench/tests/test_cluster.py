"""The cluster measurement: ratios of turns, and which of them has a target."""

from __future__ import annotations

from bench.measurements.cluster import _goals


def turn(audit_s: float, start_s: float) -> dict[str, float]:
    return {"audit_s": audit_s, "start_s": start_s, "whole_s": audit_s + start_s}


TURNS = {
    "cluster": [turn(2, 8), turn(4, 16)],
    "local": [turn(3, 2), turn(2, 8)],
}


def test_ratios_are_of_the_turns_of_a_round_with_the_start_and_without() -> None:
    alone, whole = _goals("audit", TURNS, has_target=True)

    assert (alone.ratio, alone.spread, alone.met) == (1.0, (0.5, 1.5), True)
    assert (whole.ratio, whole.spread, whole.met) == (0.5, (0.5, 0.5), False)
    assert {goal.other for goal in (alone, whole)} == {"local"}


def test_only_as_many_workers_as_local_processors_have_a_target() -> None:
    assert [goal.met for goal in _goals("audit", TURNS, has_target=False)] == [None] * 2
