"""The pull loop of a lite pull consumer, with scripted peers."""

from __future__ import annotations

import pytest

from reference.core.client.message import MessageQueue
from reference.core.client.remoting.errors import Reason
from reference.tests.client.lite_peers import LitePeers
from reference.tests.client.peers import OTHER, QUEUE, offset_of
from spec.wire.remoting.language import Version
from spec.wire.remoting.response_code import ResponseCode

COMMIT = 15


def test_it_pulls_ahead_and_waits_when_too_much_waits() -> None:
    peers = LitePeers(ahead_max=10).assigned()
    peers.find_offsets(peers.pull(), 5)
    peers.find_offsets(peers.pull(), 6)
    peers.wait(49)
    assert not peers.pulls
    assert peers.poll() == [5]
    peers.wait(1)
    assert offset_of(peers.pull()) == 7


@pytest.mark.parametrize("code", [19, 21])
def test_a_pull_without_messages_goes_on_where_the_broker_says(code: int) -> None:
    peers = LitePeers().assigned()
    peers.respond_to_pull(peers.pull(), code, 42)
    assert offset_of(peers.pull()) == 42


def test_a_pull_that_fails_is_tried_again_after_a_second() -> None:
    peers = LitePeers().assigned()
    peers.respond_to_pull(peers.pull(), 1, 0)
    peers.wait(999)
    assert not peers.pulls
    peers.wait(1)
    assert offset_of(peers.pull()) == 5


def test_a_group_that_is_nowhere_waits_until_it_is_told() -> None:
    peers = LitePeers()
    peers.committed.clear()
    peers.assigned()
    peers.wait(1000)
    assert not peers.pulls
    peers.committed["T", 0] = 9
    peers.wait(1000)
    assert offset_of(peers.pull()) == 9


def test_a_seek_drops_what_waits_and_pulls_from_there_at_once() -> None:
    peers = LitePeers(auto_commits=False).assigned()
    peers.find_offsets(peers.pull(), 5)
    held = peers.pull()
    call = peers.world.begin(peers.consumer.seek(QUEUE, 50))
    peers.go_on()
    assert peers.world.finished[call] is None
    peers.find_offsets(held, 6)
    assert peers.poll() is None
    sought = peers.pull()
    assert (offset_of(sought), peers.pulls) == (50, [])
    peers.world.begin(peers.consumer.commit_polled())
    assert peers.commits() == [(0, "50", False)]


@pytest.mark.parametrize(
    ("queue", "offset", "reason"),
    [
        (QUEUE, 0, Reason.NO_OFFSET),
        (QUEUE, 101, Reason.NO_OFFSET),
        (OTHER, 50, Reason.NOT_ASSIGNED),
    ],
)
def test_a_seek_elsewhere_is_an_error(
    queue: MessageQueue, offset: int, reason: Reason
) -> None:
    peers = LitePeers().assigned()
    call = peers.world.begin(peers.consumer.seek(queue, offset))
    peers.go_on()
    assert peers.world.error(call).failure.reason is reason
    assert [offset_of(one) for one in peers.pulls] == [5]


def test_a_paused_queue_is_polled_but_not_pulled() -> None:
    peers = LitePeers().assigned(QUEUE, OTHER)
    first, _second = peers.pulls
    peers.pulls.clear()
    peers.consumer.pause([QUEUE])
    peers.find_offsets(first, 5)
    assert peers.poll() == [5]
    peers.wait(1000)
    assert not peers.pulls
    peers.consumer.resume([QUEUE])
    peers.wait(1000)
    assert offset_of(peers.pull()) == 6


def test_who_filters_by_sql_pulls_from_brokers_that_are_known_to_filter_so() -> None:
    peers = LitePeers()
    now_ms = peers.world.now_ms
    peers.consumer.subscribe("T", "a > 1", expression_type="SQL92")
    peers.wait(1000)  # brokers have answered the first heartbeats
    first, _second = peers.pulls
    peers.pulls.clear()
    sent = first.command.fields
    assert (sent["expressionType"], sent["subVersion"]) == ("SQL92", str(now_ms))
    versions = peers.world.routes.versions
    versions["a:10911"] = Version.V4_1_0_SNAPSHOT - 1
    peers.respond_to_pull(first, ResponseCode.PULL_NOT_FOUND, 5)
    peers.wait(1000)
    assert not peers.pulls
    versions["a:10911"] = Version.V4_1_0_SNAPSHOT
    peers.wait(1000)
    assert offset_of(peers.pull()) == 5
