"""
Stored messages that a push consumer gets in a second.

The messages are there before it starts, and the consumer is Apache's benchmark of
4.6.0. Each turn starts it anew, with a group that has consumed nothing. The clock runs
from the first consumed message to the last; the consumer's start does not count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bench.processes.servers import Server, both
from bench.processes.timed_client import consumer, loop
from bench.report.result import (
    Goal,
    Report,
    Turn,
    goal_result,
    machine_facts,
    row,
)
from conformance.harness.pytest_plugin.fixtures import unique_name

FILLING_THREADS = 4
FILLING_BATCH = 32
FILLING_S = 2.0
GOALS = (
    Goal(figure="per_s", at_least=1),
    Goal(figure="cpu_us", at_least=None, less_is_better=True),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Extent of a measurement."""

    messages: int = 200_000
    body_size: int = 1024
    rounds: int = 3


class PullReport(Report, frozen=True, kw_only=True):
    """Report with the sizes of the measurement."""

    messages: int
    body_size: int


def measure(release: str, size: Size, *, progress: Callable[[str], None]) -> Report:
    """Consume from the reference and from Apache's *release* in turns."""
    machine = machine_facts(release)
    turns: dict[str, list[Turn]] = {}
    with both(release) as servers:
        topic = unique_name("bench")
        for server in servers:
            progress(f"filling {server.who}")
            turns[server.who] = []
            fill(server, topic, count=size.messages, body_size=size.body_size)
        for number in range(1, size.rounds + 1):
            for server in servers if number % 2 else reversed(servers):
                progress(f"round {number} of {size.rounds}: {server.who}")
                turns[server.who].append(_turn(server, topic, size.messages))
    what = f"push consumption of {size.messages:,}"
    return PullReport(
        bench="pull",
        messages=size.messages,
        body_size=size.body_size,
        machine=machine,
        rounds=size.rounds,
        rows=[row(what, turns, unit="messages/s", of="per_s")],
        goals=[goal_result(f"{what} {goal.figure}", turns, goal) for goal in GOALS],
    )


def fill(server: Server, topic: str, *, count: int, body_size: int) -> None:
    """Store *count* messages or a few more, in batches."""
    server.create_topic(topic)
    filler = loop(
        server,
        topic,
        threads=FILLING_THREADS,
        size=body_size,
        batch=FILLING_BATCH,
    )
    with filler:
        while server.stored(topic) < count:
            filler.send(FILLING_S)


def _turn(server: Server, topic: str, count: int) -> Turn:
    before = server.cpu_s()
    with consumer(server, topic, unique_name("bench-group")) as client:
        consumed, seconds = client.consume(count)
        cpu_s = server.cpu_s() - before
    memory = server.memory()
    return {
        "per_s": consumed / seconds,
        "cpu_us": cpu_s / consumed * 1e6,
        "own_mb": memory.own / 1e6,
        "mapped_mb": memory.files / 1e6,
    }
