"""Timers of a host whose clock is set back."""

from __future__ import annotations

import asyncio
import time

import pytest

from reference.core.remoting.server import RemotingServer
from reference.core.remoting.timers import Timers
from reference.shell.clock import now_ms
from reference.shell.remoting_host import RemotingHost

HOUR_NS = 3_600 * 10**9
PERIOD_MS = 5
LIMIT_S = 10.0


class SystemClock:
    """The system's clock, which can be set."""

    def __init__(self) -> None:
        self._read_ns = time.time_ns
        self.ahead_ns = 0

    def time_ns(self) -> int:
        """Return the time in nanoseconds since 1970."""
        return self._read_ns() + self.ahead_ns


@pytest.mark.parametrize("ahead_ns", [-HOUR_NS, HOUR_NS])
def test_timers_expire_after_the_clock_was_set(
    monkeypatch: pytest.MonkeyPatch, ahead_ns: int
) -> None:
    clock = SystemClock()
    monkeypatch.setattr(time, "time_ns", clock.time_ns)

    async def run() -> None:
        server = RemotingServer()
        host = RemotingHost(server)
        calls: list[int] = []
        is_done = asyncio.Event()

        def on_timer(at_ms: int) -> None:
            calls.append(at_ms)
            clock.ahead_ns = ahead_ns
            if len(calls) == 3:
                is_done.set()

        server.timers.call_every(PERIOD_MS, on_timer, first_ms=now_ms())
        host.perform(server.take_effects())
        await asyncio.wait_for(is_done.wait(), LIMIT_S)
        await host.stop()

    asyncio.run(run())


def test_a_one_time_timer_moves_with_the_periodic_ones() -> None:
    errors: list[str] = []
    timers = Timers(errors.append)
    calls: list[str] = []
    timers.call_every(10, lambda _: calls.append("often"), first_ms=1_010)
    timers.call_at(1_020, lambda _: calls.append("once"))
    timers.move(-1_000)
    assert timers.next_at_ms == 10
    for now in (9, 10, 20):
        timers.run_due(now)
    assert calls == ["often", "often", "once"]
    assert errors == []
