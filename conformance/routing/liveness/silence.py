"""
Two minutes of silence, watched from a thread of its own while other tests run.

Name servers and brokers give up peers that are silent for 120 seconds. The silence
begins with the run, and the tests that examine its consequences come last. On a target
with the clock capability, a target of the suite's own does the same in a tenth of the
time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass

import pytest

from conformance.harness.client.client import require_success
from conformance.harness.client.peer import Peer, PeerError, PeerMisbehavedError
from conformance.harness.pytest_plugin.fixtures import unique_name, watched_target
from conformance.routing.fake_broker import FakeBroker, FakeCluster
from spec.routing.topic_config import TopicConfig
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode

WATCHED_S = 135.0
TICK_S = 0.25
TALK_PERIOD_S = 10.0
LAST_TALK_S = 105.0
RENEWAL_PERIOD_S = 30.0
HASTE = 10.0
"""How much faster the clock of a target of our own runs."""


@dataclass(slots=True)
class Seen:
    """When what happened, in seconds of the target's clock since the silence began.

    None where it did not happen.
    """

    removed_s: float | None = None
    """A broker registered once, sent other requests, and had no route any more."""
    dropped_s: float | None = None
    """Its connection was closed."""
    missed_s: float | None = None
    """A broker was missing that registered every 30 seconds."""

    def note(self, name: str, happened: Callable[[], bool], now_s: float) -> None:
        """Note the first time at which something has *happened*."""
        if getattr(self, name) is None and happened():
            setattr(self, name, now_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Idle:
    """When connections without traffic were closed; None where they were not."""

    name_server_s: float | None
    broker_s: float | None


def watch(config: pytest.Config, ending: threading.Event) -> Seen:
    """Fall silent, and return what became of it."""
    with ExitStack() as stack:
        target, rate = stack.enter_context(watched_target(config, HASTE))
        assert target.namesrv is not None
        fake_cluster = stack.enter_context(
            FakeCluster(target.namesrv, unique_name, target.release)
        )
        return _look(fake_cluster, _ticks(ending, rate))


def watch_idle(config: pytest.Config, ending: threading.Event) -> Idle:
    """Connect, send nothing, and return when the connections were closed.

    This is apart from `watch`: it needs no response, which may be late or refused, and
    the time begins with the connections.
    """
    with ExitStack() as stack:
        target, rate = stack.enter_context(watched_target(config, HASTE))
        assert target.namesrv is not None
        assert target.broker is not None
        peers = [
            stack.enter_context(Peer(one)) for one in (target.namesrv, target.broker)
        ]
        closed: dict[Peer, float] = {}
        for now_s in _ticks(ending, rate):
            for peer in peers:
                if peer not in closed and _is_closed(peer):
                    closed[peer] = now_s
            if len(closed) == len(peers):
                break
        name_server_s, broker_s = map(closed.get, peers)
        return Idle(name_server_s=name_server_s, broker_s=broker_s)


def _look(fake_cluster: FakeCluster, ticks: Iterable[float]) -> Seen:
    """Note what happens at which of *ticks*."""
    seen = Seen()
    talker, renewing = _registered(fake_cluster), _registered(fake_cluster)
    chores = (
        _Chore(TALK_PERIOD_S, lambda: _talk(talker), until_s=LAST_TALK_S),
        _Chore(RENEWAL_PERIOD_S, renewing.register_again),
    )
    for now_s in ticks:
        for chore in chores:
            chore.do(now_s)
        seen.note("removed_s", lambda: fake_cluster.route(talker.name) is None, now_s)
        seen.note("missed_s", lambda: fake_cluster.route(renewing.name) is None, now_s)
        seen.note("dropped_s", lambda: _is_closed(talker.peer), now_s)
    return seen


def _ticks(ending: threading.Event, rate: float) -> Iterator[float]:
    """Yield now and then for how long the silence lasts, by the target's clock."""
    began, now_s = time.monotonic(), 0.0
    while now_s < WATCHED_S:
        if ending.wait(TICK_S / rate):
            raise TimeoutError("the run ended before the silence did")
        now_s = (time.monotonic() - began) * rate
        yield now_s


@dataclass(slots=True)
class _Chore:
    """Something that is done again and again."""

    period_s: float
    action: Callable[[], object]
    until_s: float = WATCHED_S
    _done_s: float = 0.0

    def do(self, now_s: float) -> None:
        if self._done_s + self.period_s <= now_s < self.until_s:
            self._done_s = now_s
            self.action()


def _registered(fake_cluster: FakeCluster) -> FakeBroker:
    broker = fake_cluster.broker()
    require_success(broker.register(TopicConfig(topic=fake_cluster.unique("topic"))))
    return broker


def _talk(broker: FakeBroker) -> None:
    """Send the name server a request that is no sign of life of a broker."""
    question = Command(
        code=RequestCode.GET_ROUTEINTO_BY_TOPIC, fields={"topic": broker.name}
    )
    with suppress(PeerError, PeerMisbehavedError):  # whether it is closed is noted
        broker.peer.request(question)


def _is_closed(peer: Peer) -> bool:
    return peer.received_close(0.001)
