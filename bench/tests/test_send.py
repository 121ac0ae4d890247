"""Two servers are compared by ratios within a round."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from bench.measurements import send
from bench.measurements.send import BATCH, ONEWAY, Shape, goals_of
from bench.measurements.suite import measure as measure_suite
from bench.processes.servers import Server, ServerBenchError, check_release
from bench.report.result import Figures, Goal, goal_result, limit, machine_facts, row

TURNS = {
    "reference": [{"per_s": 300.0, "p99_ms": 2.0}, {"per_s": 30.0, "p99_ms": 4.0}],
    "apache": [{"per_s": 200.0, "p99_ms": 1.0}, {"per_s": 10.0, "p99_ms": 8.0}],
}


def test_a_ratio_is_of_the_turns_of_one_round() -> None:
    found = goal_result("sync x16", TURNS, Goal(figure="per_s", at_least=2))
    assert found.ratio == 2.25
    assert found.spread == (1.5, 3.0)
    assert found.met is True


def test_a_ratio_above_one_says_that_the_reference_is_better() -> None:
    goal = Goal(figure="p99_ms", at_least=1.5, less_is_better=True)
    found = goal_result("sync x16", TURNS, goal)
    assert found.spread == (0.5, 2.0)
    assert found.met is False


def test_a_row_has_the_medians_and_every_round_of_what_is_drawn() -> None:
    found = row("sync x16", TURNS, unit="messages/s", of="per_s")
    figures = Figures(medians={"per_s": 165.0, "p99_ms": 3.0}, rounds=[300, 30])
    assert found.sides["reference"] == figures


def test_a_limit_is_a_goal_of_ours_alone() -> None:
    assert limit("start", 0.4, at_most=0.5, unit="s").met is True
    assert limit("start", 0.6, at_most=0.5, unit="s").met is False


def test_the_goals_are_those_that_were_promised() -> None:
    rates = {
        (shape, flush): goals_of(shape, flush=flush)[0].at_least
        for shape in (
            Shape(threads=1),
            Shape(threads=16),
            Shape(threads=4, kind=BATCH, batch=32),
            Shape(threads=4, kind=ONEWAY),
        )
        for flush in ("ASYNC", "SYNC")
    }
    assert list(rates.values()) == [1.5, None, 1.5, 1.0, 1.0, 1.0, 1.0, 1.0]
    p99 = goals_of(Shape(threads=1), flush="ASYNC")[1]
    assert (p99.figure, p99.at_least, p99.less_is_better) == ("p99_ms", 1.0, True)


def test_facts_of_the_machine_name_nobody() -> None:
    facts = machine_facts("4.6.0")
    assert facts.rocketmq == "4.6.0"
    assert str(Path.home()) not in str(facts)


def test_a_release_that_is_not_pinned_is_refused() -> None:
    with pytest.raises(ServerBenchError, match="the release is one of 4"):
        check_release("1.0")
    with pytest.raises(ServerBenchError):
        measure_suite("1.0", (), progress=lambda _: None)


class Losing:
    """A server that has all but some of what it was sent, and then no more."""

    who = "apache"

    def __init__(self, *counts: int) -> None:
        self._counts = list(counts)

    def stored(self, topic: str) -> int:  # noqa: ARG002
        """Return the next count, in the end always the last."""
        return self._counts.pop(0) if len(self._counts) > 1 else self._counts[0]


def test_what_is_lost_is_counted_where_it_may_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(send, "LOSS_AFTER_S", 0.01)
    monkeypatch.setattr(send, "ARRIVAL_DEADLINE_S", 0.01)
    server = cast(Server, Losing(3, 8))
    assert send.arrived(server, "T", 10, may_lose=True)[0] == 2
    with pytest.raises(ServerBenchError, match="apache lost 2 messages"):
        send.arrived(server, "T", 10, may_lose=False)
    assert send.arrived(cast(Server, Losing(3, 10)), "T", 10, may_lose=False)[0] == 0
    with pytest.raises(ServerBenchError, match="stored 1 too many"):
        send.arrived(cast(Server, Losing(11)), "T", 10, may_lose=False)
