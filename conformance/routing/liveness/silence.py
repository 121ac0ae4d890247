"""
Two minutes of silence, watched from threads of their own while other tests run.

Name servers and brokers give up peers that are silent for 120 seconds. The silence
begins with the run, and the tests that examine its consequences come last. On a target
with the clock capability, a target of the suite's own does the same in a tenth of the
time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import pytest

from conformance.harness.blocked.known_refusals import refused_in
from conformance.harness.client.client import require_success
from conformance.harness.client.peer import Peer
from conformance.harness.client.peer_errors import (
    NoResponseError,
    PeerError,
    PeerMisbehavedError,
)
from conformance.harness.pytest_plugin.fixtures import unique_name, watched_target
from conformance.harness.targets.probing.sent_again import KNOWN_CODES
from conformance.routing.fake_broker import FakeBroker, FakeCluster, version_query
from spec.routing.topic_config import TopicConfig
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode

WATCHED_S = 135.0
TICK_S = 0.25
TALK_PERIOD_S = 10.0
LAST_TALK_S = 105.0
RENEWAL_PERIOD_S = 30.0
CLOCK_RATE = 10.0
"""Clock rate of a target of our own."""


Clock: TypeAlias = Callable[[], float]
"""Returns the seconds of silence until now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """Time of an event, in seconds of silence by the target's clock.

    It is after the last check without it, and by the end of the first check with it.
    They lie far apart where the target was too busy to respond in between.
    """

    after_s: float
    by_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Times of events; None for one that did not happen."""

    removed: Moment | None
    """A peer registered once, sent other requests, and was in no table any more."""
    dropped: Moment | None
    """Its connection was closed."""
    missed: Mapping[str, Moment | None]
    """A peer was missing that was renewed every 30 seconds, by clause."""
    lacking: frozenset[str] = frozenset()
    """Clauses about a renewal that the target does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Idle:
    """Times at which connections without traffic were closed; None for an open one."""

    closed_s: Mapping[str, float | None]
    """By name and address of the peer."""


def watch(config: pytest.Config, ending: threading.Event) -> Seen:
    """Fall silent, and return what became of it."""
    with ExitStack() as stack:
        target, rate = stack.enter_context(watched_target(config, CLOCK_RATE))
        assert target.namesrv is not None
        fake_cluster = stack.enter_context(
            FakeCluster(target.namesrv, unique_name, target.release)
        )
        return observe_brokers(fake_cluster, ticks(ending, rate))


def watch_idle(config: pytest.Config, ending: threading.Event) -> Idle:
    """Connect, send nothing, and return when the connections were closed.

    This is apart from `watch`: it needs no response, which may be late or refused, and
    the time begins with the connections.
    """
    with ExitStack() as stack:
        target, rate = stack.enter_context(watched_target(config, CLOCK_RATE))
        assert target.namesrv is not None
        assert target.broker is not None
        addresses = {"name server": target.namesrv, "broker": target.broker}
        peers = [stack.enter_context(Peer(one)) for one in addresses.values()]
        closed: dict[Peer, float] = {}
        for clock in ticks(ending, rate):
            now_s = clock()
            for peer in peers:
                if peer not in closed and is_closed(peer):
                    closed[peer] = now_s
            if len(closed) == len(peers):
                break
        names = [f"{name} {address}" for name, address in addresses.items()]
        return Idle(closed_s=dict(zip(names, map(closed.get, peers), strict=True)))


def observe_brokers(fake_cluster: FakeCluster, ticks: Iterable[Clock]) -> Seen:
    """Check at each of *ticks* what has happened."""
    talker = _registered(fake_cluster)
    question = Command(
        code=RequestCode.GET_ROUTEINTO_BY_TOPIC, fields={"topic": talker.name}
    )
    chores = [talking(talker.peer, question)]
    brokers = {clause_id: _registered(fake_cluster) for clause_id in RENEWALS}
    for clause_id, broker in brokers.items():
        chores.append(Chore(RENEWAL_PERIOD_S, partial(RENEWALS[clause_id], broker)))
    seen = observe(
        ticks,
        chores,
        removed=Watch(partial(_is_missing, fake_cluster, talker)),
        dropped=Watch(partial(is_closed, talker.peer)),
        missed={
            clause_id: Watch(partial(_is_missing, fake_cluster, broker))
            for clause_id, broker in brokers.items()
        },
    )
    lacking = (
        clause_id
        for clause_id, broker in brokers.items()
        if refused_in([broker.peer.transcript], KNOWN_CODES)
    )
    return replace(seen, lacking=frozenset(lacking))


def observe(
    ticks: Iterable[Clock],
    chores: Iterable[Chore],
    *,
    removed: Watch,
    dropped: Watch,
    missed: Mapping[str, Watch],
) -> Seen:
    """Do the chores and check every watch at each of *ticks*."""
    for clock in ticks:
        for chore in chores:
            chore.do(clock())
        for one in (removed, dropped, *missed.values()):
            one.check(clock)
    return Seen(
        removed=removed.result(),
        dropped=dropped.result(),
        missed={clause_id: one.result() for clause_id, one in missed.items()},
    )


class Watch:
    """Checks whether one event has *happened*, until it has."""

    def __init__(self, happened: Callable[[], bool]) -> None:
        self._happened = happened
        self._absent_s = 0.0
        self._moment: Moment | None = None
        self._unanswered: NoResponseError | None = None

    def check(self, clock: Clock) -> None:
        """Check once; after a late response, the next check finds out instead."""
        if self._moment is not None:
            return
        began_s, self._unanswered = clock(), None
        try:
            if self._happened():
                self._moment = Moment(after_s=self._absent_s, by_s=clock())
            else:
                self._absent_s = began_s
        except NoResponseError as error:
            self._unanswered = error

    def result(self) -> Moment | None:
        """Return when it happened; raise the error of a last check without response."""
        if self._unanswered is not None:
            raise self._unanswered
        return self._moment


def ticks(ending: threading.Event, rate: float) -> Iterator[Clock]:
    """Yield a clock of the silence now and then, in seconds of the target's clock."""
    began = time.monotonic()

    def clock() -> float:
        return (time.monotonic() - began) * rate

    while clock() < WATCHED_S:
        if ending.wait(TICK_S / rate):
            raise TimeoutError("the run ended before the silence did")
        yield clock


@dataclass(slots=True)
class Chore:
    """Something that is done again and again."""

    period_s: float
    action: Callable[[], object]
    until_s: float = WATCHED_S
    _done_s: float = 0.0

    def do(self, now_s: float) -> None:
        """Do it if it is due at *now_s*."""
        if self._done_s + self.period_s <= now_s < self.until_s:
            self._done_s = now_s
            # A busy target may do it nevertheless, and a close has its own watch.
            with suppress(PeerError, PeerMisbehavedError):
                self.action()


def _registered(fake_cluster: FakeCluster) -> FakeBroker:
    broker = fake_cluster.broker()
    require_success(broker.register(TopicConfig(topic=fake_cluster.unique("topic"))))
    return broker


def talking(peer: Peer, question: Command) -> Chore:
    """Return the chore of sending a request that renews nothing."""
    return Chore(TALK_PERIOD_S, partial(peer.request, question), until_s=LAST_TALK_S)


def _query_version(broker: FakeBroker) -> None:
    """Query whether the broker's registered version has changed."""
    broker.peer.request(version_query(broker.identity, broker.version, broker.release))


def _heartbeat(broker: FakeBroker) -> None:
    """Send a heartbeat; before 5.0 it gets no response, later one is read next time."""
    broker.peer.receive_waiting()
    fields = broker.identity.fields()
    broker.peer.send(Command(code=RequestCode.BROKER_HEARTBEAT, fields=fields))


RENEWALS: Mapping[str, Callable[[FakeBroker], object]] = {
    "ROUTE-LIVENESS-013": FakeBroker.register_again,
    "ROUTE-LIVENESS-015": _query_version,
    "ROUTE-LIVENESS-016": _heartbeat,
}
"""Requests that postpone the removal of a broker, by clause."""


def _is_missing(fake_cluster: FakeCluster, broker: FakeBroker) -> bool:
    return fake_cluster.route(broker.name) is None


def is_closed(peer: Peer) -> bool:
    """Return whether the other side has closed the connection."""
    return peer.received_close(0.001)
