"""
Two minutes of silence, watched from a thread of its own while other tests run.

Name servers and brokers give peers up that say nothing for 120 seconds. Nobody waits
for that: what is to fall silent does so when the run begins, and the tests that look at
what became of it come last. Where the target's clock can be hastened, a target of our
own goes through the same in a tenth of the time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass

import pytest

from conformance.harness.fixtures import HOST, hastened, unique_name
from conformance.harness.peer import Peer, PeerError, PeerMisbehavedError
from conformance.harness.speaker import succeeded
from conformance.harness.target import Capability, Target
from conformance.routing.fake_broker import FakeBroker, Stage
from spec.routing.topic_config import TopicConfig
from spec.wire.command import Command
from spec.wire.request_code import RequestCode

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
    """A broker had no route any more that registered once and went on asking."""
    dropped_s: float | None = None
    """Its connection was closed."""
    missed_s: float | None = None
    """A broker was missing that registered every 30 seconds."""
    idle_closed_s: float | None = None
    """The name server closed a connection on which nobody said anything."""
    broker_idle_closed_s: float | None = None
    """The broker did."""

    def note(self, name: str, happened: Callable[[], bool], now_s: float) -> None:
        """Note the first time at which something has *happened*."""
        if getattr(self, name) is None and happened():
            setattr(self, name, now_s)


def watch(config: pytest.Config, ending: threading.Event) -> Seen:
    """Fall silent, and return what became of it."""
    target: Target = config.stash[HOST].target()
    rate = 1.0
    with ExitStack() as stack:
        if Capability.CLOCK in target.capabilities:
            target, rate = stack.enter_context(hastened(config, HASTE)), HASTE
        assert target.namesrv is not None
        assert target.broker is not None
        stage = stack.enter_context(Stage(target.namesrv, unique_name))
        at_broker = stack.enter_context(Peer(target.broker))
        return _look(stage, at_broker, _ticks(ending, rate))


def _look(stage: Stage, at_broker: Peer, ticks: Iterable[float]) -> Seen:
    """Note what happens at which of *ticks*."""
    seen, idle = Seen(), stage.connect()
    talker, renewing = _registered(stage), _registered(stage)
    chores = (
        _Chore(TALK_PERIOD_S, lambda: _talk(talker), until_s=LAST_TALK_S),
        _Chore(RENEWAL_PERIOD_S, renewing.register_again),
    )
    for now_s in ticks:
        for chore in chores:
            chore.do(now_s)
        seen.note("removed_s", lambda: stage.route(talker.name) is None, now_s)
        seen.note("missed_s", lambda: stage.route(renewing.name) is None, now_s)
        seen.note("dropped_s", lambda: _is_closed(talker.peer), now_s)
        seen.note("idle_closed_s", lambda: _is_closed(idle), now_s)
        seen.note("broker_idle_closed_s", lambda: _is_closed(at_broker), now_s)
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


def _registered(stage: Stage) -> FakeBroker:
    broker = stage.broker()
    succeeded(broker.register(TopicConfig(topic=stage.unique("topic"))))
    return broker


def _talk(broker: FakeBroker) -> None:
    """Ask the name server for something, which is no sign of life of a broker."""
    question = Command(
        code=RequestCode.GET_ROUTEINTO_BY_TOPIC, fields={"topic": broker.name}
    )
    with suppress(PeerError, PeerMisbehavedError):  # whether it is closed is noted
        broker.peer.request(question)


def _is_closed(peer: Peer) -> bool:
    return peer.received_close(0.001)
