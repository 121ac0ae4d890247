"""
Messages that a broker stores in a second, and the wait of a producer for each.

The producers are those of Apache's own benchmark, with the real Java client. Batches
and oneway messages, which the benchmark of 4.6.0 does not send, come from a
loop of ours around the same client. One client a server stays up for all rounds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field

from bench.processes.servers import Server, ServerBenchError, both
from bench.processes.timed_client import TimedClient, loop, producer
from bench.report.result import (
    THEIRS,
    Goal,
    Report,
    Turn,
    Turns,
    goal_result,
    machine_facts,
    row,
)
from conformance.harness.client.peer_errors import NoResponseError
from conformance.harness.pytest_plugin.fixtures import unique_name

WARM_UP_S = 4.0
ARRIVAL_DEADLINE_S = 120.0
LOSS_AFTER_S = 10.0
"""Messages that are not stored this long after the last one are lost."""
LOOK_S = 0.005
SYNC, BATCH, ONEWAY = "sync", "batch", "oneway"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Number and kind of producers."""

    threads: int
    kind: str = SYNC
    batch: int = 1
    """Messages of a send."""

    @property
    def text(self) -> str:
        """The shape in a word or two."""
        many = f" of {self.batch}" if self.kind == BATCH else ""
        return f"{self.kind}{many} x{self.threads}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Extent of a measurement."""

    flush: str = "ASYNC"
    body_size: int = 1024
    rounds: int = 5
    seconds: float = 3.0
    """Length of a turn."""
    shapes: tuple[Shape, ...] = field(
        default_factory=lambda: (Shape(threads=1), Shape(threads=16))
    )


class SendReport(Report, frozen=True, kw_only=True):
    """Report with the sizes of the measurement."""

    body_size: int
    flush: str
    turn_s: float


def measure(release: str, size: Size, *, progress: Callable[[str], None]) -> Report:
    """Send to the reference and to Apache's *release* in turns; return the report."""
    machine = machine_facts(release)
    settings = {"flushDiskType": f"{size.flush}_FLUSH"}
    rows, goals = [], []
    for shape in size.shapes:
        progress(f"starting both brokers for {shape.text}")
        with both(release, settings) as servers:
            turns = _turns(servers, shape, size, progress=progress)
        what = f"{shape.text} {size.flush}_FLUSH"
        rows.append(row(what, turns, unit="messages/s", of="per_s"))
        wanted = goals_of(shape, flush=size.flush)
        goals += [goal_result(f"{what} {goal.figure}", turns, goal) for goal in wanted]
    return SendReport(
        bench="send",
        body_size=size.body_size,
        flush=size.flush,
        turn_s=size.seconds,
        machine=machine,
        rounds=size.rounds,
        rows=rows,
        goals=goals,
    )


def goals_of(shape: Shape, *, flush: str) -> list[Goal]:
    """Return the goals of *shape*; a goal without a target is for information."""
    is_main = shape.kind == SYNC and flush == "ASYNC"
    is_goal = is_main or shape.kind != SYNC or shape.threads == 16
    rate = (1.5 if is_main else 1.0) if is_goal else None
    found = [Goal(figure="per_s", at_least=rate)]
    if shape.kind != ONEWAY:
        swift = 1.0 if is_main else None
        found.append(Goal(figure="p99_ms", at_least=swift, less_is_better=True))
    return [*found, Goal(figure="cpu_us", at_least=None, less_is_better=True)]


def _turns(
    servers: tuple[Server, Server],
    shape: Shape,
    size: Size,
    *,
    progress: Callable[[str], None],
) -> Turns:
    turns: dict[str, list[Turn]] = {server.who: [] for server in servers}
    topic = unique_name("bench")
    with ExitStack() as stack:
        clients: Mapping[str, TimedClient] = {
            server.who: stack.enter_context(_client(server, topic, shape, size))
            for server in servers
        }
        for server in servers:
            progress(f"warming up: {server.who}, {shape.text}")
            _turn(server, clients[server.who], topic, shape, seconds=WARM_UP_S)
        for number in range(1, size.rounds + 1):
            # The first server of one round is the last in the next.
            for server in servers if number % 2 else reversed(servers):
                progress(f"round {number} of {size.rounds}: {server.who}, {shape.text}")
                client = clients[server.who]
                figures = _turn(server, client, topic, shape, seconds=size.seconds)
                turns[server.who].append(figures)
    return turns


def _client(server: Server, topic: str, shape: Shape, size: Size) -> TimedClient:
    server.create_topic(topic)
    if shape.kind == SYNC:
        return producer(server, topic, threads=shape.threads, size=size.body_size)
    batch = shape.batch if shape.kind == BATCH else 0
    return loop(server, topic, threads=shape.threads, size=size.body_size, batch=batch)


def _turn(
    server: Server, client: TimedClient, topic: str, shape: Shape, *, seconds: float
) -> Turn:
    """Let a client send; return the figures, when all it sent can be read."""
    before, cpu_before, began = server.stored(topic), server.cpu_s(), time.monotonic()
    sends = client.send(seconds)
    messages = sends.count * shape.batch
    may_lose = shape.kind == ONEWAY and server.who == THEIRS
    lost, arrived_at = arrived(server, topic, before + messages, may_lose=may_lose)
    messages -= lost
    arrived_s = arrived_at - began
    duration_s = arrived_s if shape.kind == ONEWAY else sends.seconds
    memory = server.memory()
    return {
        "per_s": messages / duration_s,
        "p50_ms": sends.p50_ms,
        "p99_ms": sends.p99_ms,
        "max_ms": sends.max_ms,
        "cpu_us": (server.cpu_s() - cpu_before) / messages * 1e6,
        "own_mb": memory.own / 1e6,
        "mapped_mb": memory.files / 1e6,
        "lost": lost,
    }


def arrived(
    server: Server, topic: str, count: int, *, may_lose: bool
) -> tuple[int, float]:
    """Return the number of lost messages out of *count*, and the time of the last read.

    Apache's broker refuses a message that has waited for 200 ms. A oneway producer
    gets no response. With *may_lose* such losses are counted and are not in the rate.
    Without it they are a failure.
    """
    stored, grew_at = 0, time.monotonic()
    patience_s = LOSS_AFTER_S if may_lose else ARRIVAL_DEADLINE_S
    while stored < count and time.monotonic() < grew_at + patience_s:
        before = stored
        # A server that is busy with what it was sent may not answer for a while.
        with suppress(NoResponseError):
            stored = server.stored(topic)
        if stored > before:
            grew_at = time.monotonic()
        else:
            time.sleep(LOOK_S)
    if stored > count:
        raise ServerBenchError(f"{server.who} stored {stored - count} too many")
    if stored < count and not may_lose:
        raise ServerBenchError(f"{server.who} lost {count - stored} messages")
    return count - stored, grew_at
