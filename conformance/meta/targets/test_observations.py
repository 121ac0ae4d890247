"""Observations in the background outlive late responses, and block what they deny."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable
from functools import partial
from typing import Any
from unittest import mock

import pytest

from conformance.harness.client.lying_server import LyingServer, honest
from conformance.harness.client.peer_errors import NoResponseError
from conformance.harness.client.transcript import Transcript
from conformance.harness.pytest_plugin.fixtures import unique_name
from conformance.messaging.pop import pop_group as pops
from conformance.messaging.pop import revival
from conformance.messaging.pop.pop_group import PopGroup, Revival
from conformance.routing.fake_broker import FakeCluster
from conformance.routing.liveness.silence import (
    RENEWAL_PERIOD_S,
    Moment,
    Watch,
    observe_brokers,
)
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

LATE = NoResponseError("none came in time", Transcript("127.0.0.1:1"))


def watch_of(happened: Iterable[bool | NoResponseError]) -> Watch:
    """Return a watch that checked what *happened*, from one second to the next."""
    watch = Watch(mock.Mock(side_effect=happened))
    numbers = itertools.count()
    for _ in range(len(list(happened))):
        watch.check(lambda: float(next(numbers)))
    return watch


def test_a_late_response_widens_the_moment() -> None:
    # Checks begin at 0, 1, 2 and 3; the one that finds it ends at 4.
    assert watch_of([False, LATE, LATE, True]).result() == Moment(after_s=0.0, by_s=4.0)


def test_an_event_that_the_last_check_does_not_find_did_not_happen() -> None:
    assert watch_of([LATE, False]).result() is None


def test_a_peer_that_responds_no_more_gives_no_result() -> None:
    with pytest.raises(NoResponseError):
        watch_of([False, LATE]).result()


@pytest.mark.parametrize(
    ("closes", "lacking"),
    [(False, {"ROUTE-LIVENESS-015", "ROUTE-LIVENESS-016"}), (True, set())],
)
def test_a_name_server_without_a_renewal_is_observed_nevertheless(
    *, closes: bool, lacking: set[str]
) -> None:
    renewals = RequestCode.QUERY_DATA_VERSION, RequestCode.BROKER_HEARTBEAT

    def response(request: Command) -> bytes:
        if request.code == RequestCode.GET_ROUTEINFO_BY_TOPIC:
            return honest(request, code=ResponseCode.TOPIC_NOT_EXIST)
        if request.code not in renewals:
            return honest(request)
        code = ResponseCode.REQUEST_CODE_NOT_SUPPORTED
        return b"" if closes else honest(request, code=code)

    ticks = [partial(float, number * RENEWAL_PERIOD_S) for number in (1, 2, 3)]
    with (
        LyingServer(response) as server,
        FakeCluster(server.address, unique_name) as fake_cluster,
    ):
        seen = observe_brokers(fake_cluster, ticks)
    assert seen.lacking == lacking
    assert None not in seen.missed.values()


ONE: Any = "one popped message"


SEEN_DEAD = Revival(is_dead=lambda: True, result=lambda: False)


def pop_group(popped: Iterable[object], revival: Revival) -> mock.Mock:
    """Return a group whose pops return *popped*."""
    pop = mock.Mock(side_effect=popped)
    group = mock.Mock(spec=PopGroup, pop=pop, revival=revival)
    group.require_revival = lambda: PopGroup.require_revival(group)
    return group


def test_a_broker_without_revival_blocks_a_test_immediately() -> None:
    group = pop_group(itertools.repeat([]), SEEN_DEAD)
    with pytest.raises(pytest.skip.Exception, match="blocked: blocked by POP-REVIVE"):
        PopGroup.pop_revived(group, 1)


def test_a_test_without_a_message_waits_for_the_observation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pops, "AGAIN_S", 0.05)
    group = pop_group(itertools.repeat([]), Revival(result=lambda: False))
    with pytest.raises(pytest.skip.Exception, match="blocked: blocked by POP-REVIVE"):
        PopGroup.pop_revived(group, 1)
    group = pop_group(itertools.repeat([]), Revival(result=lambda: True))
    assert PopGroup.pop_revived(group, 1) == []


def test_messages_that_come_again_are_returned_whatever_was_observed() -> None:
    group = pop_group(
        [[], [ONE]],
        Revival(is_dead=mock.Mock(side_effect=[False, True]), result=lambda: False),
    )
    assert PopGroup.pop_revived(group, 1) == [ONE]


def test_messages_are_missing_where_others_come_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pops, "AGAIN_S", 0.05)
    group = pop_group(itertools.chain([[ONE]], itertools.repeat([])), SEEN_DEAD)
    assert PopGroup.pop_revived(group, 2) == [ONE]


@pytest.mark.parametrize("lost", [1, len(revival.TRIES_S) - 1])
def test_the_observation_begins_again_after_a_lost_response(
    monkeypatch: pytest.MonkeyPatch, lost: int
) -> None:
    observe = mock.Mock(side_effect=[*[LATE] * lost, False])
    monkeypatch.setattr(revival, "comes_again", observe)
    assert revival.watch(mock.MagicMock(), threading.Event()) is False
    assert observe.call_count == lost + 1


def test_the_observation_of_a_broker_that_responds_no_more_has_no_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(revival, "comes_again", mock.Mock(side_effect=LATE))
    with pytest.raises(NoResponseError):
        revival.watch(mock.MagicMock(), threading.Event())
