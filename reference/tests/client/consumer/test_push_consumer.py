"""A consumer's requests to name server and brokers, with scripted responses."""

from __future__ import annotations

import pytest

from reference.core.client.message import MessageQueue
from reference.tests.client.peers import COMMIT, LEAVE, record
from reference.tests.client.push_peers import PushPeers
from spec.client.allocation import REBALANCE_PERIOD_MS
from spec.wire.bodies.heartbeat import HeartbeatData
from spec.wire.bodies.json_body import decode_body
from spec.wire.remoting.command import Command, CommandFlag

IDS_CHANGED, UNLOCK = 40, 42


def test_a_consumer_joins_shares_and_pulls() -> None:
    peers = PushPeers(count=2)
    peers.start()
    heartbeat = decode_body(HeartbeatData, peers.others[0].command.body)
    assert [one.topic for one in heartbeat.consumers[0].subscriptions] == [
        "T",
        "%RETRY%g",
    ]
    queues = [MessageQueue("T", "a", 0), MessageQueue("T", "a", 1)]
    assert sorted(peers.consumer.pull_loop.assigned) == queues
    assert len(peers.pulls) == 2


def test_it_takes_its_share_only() -> None:
    peers = PushPeers(count=3)
    peers.members = ["aaa", "me"]
    peers.start()
    assert sorted(peers.consumer.pull_loop.assigned) == [MessageQueue("T", "a", 2)]


def test_who_is_not_named_as_a_member_takes_nothing() -> None:
    peers = PushPeers()
    peers.members = ["other"]
    peers.start()
    assert sorted(peers.consumer.pull_loop.assigned) == []


def test_offsets_are_committed_every_five_seconds_and_at_the_end() -> None:
    peers = PushPeers(from_first=True)
    peers.start()
    peers.respond_to_pull(peers.pull(), 19, 3)
    peers.go_on()
    peers.wait(5000)
    peers.respond_to_pull(peers.pull(), 19, 4)
    peers.go_on()
    peers.consumer.stop()
    peers.go_on()
    commits = peers.sent(COMMIT)
    assert [one.fields["commitOffset"] for one in commits] == ["3", "4"]
    assert all(one.is_oneway for one in commits)
    assert peers.others[-1].command.code == LEAVE
    assert peers.world.rpc.is_idle


def test_a_word_of_the_broker_makes_it_share_anew() -> None:
    peers = PushPeers(count=2)
    peers.start()
    peers.members = ["me", "you"]
    fields = {"consumerGroup": "g"}
    notification = Command(code=IDS_CHANGED, flag=CommandFlag.ONEWAY, fields=fields)
    peers.world.receive("a:10911", notification)
    peers.go_on()
    assert sorted(peers.consumer.pull_loop.assigned) == [MessageQueue("T", "a", 0)]


@pytest.mark.parametrize("is_orderly", [False, True])
@pytest.mark.parametrize("returns", [False, True])
def test_messages_of_a_lost_queue_that_still_wait_are_not_consumed(
    is_orderly: bool, returns: bool
) -> None:
    peers = PushPeers(is_orderly=is_orderly, from_first=True)
    peers.start()
    peers.find(peers.pull(), record(0))
    (delivery,) = peers.delivered()
    peers.members = ["aaa", "me"]
    peers.wait(REBALANCE_PERIOD_MS)
    if returns:
        peers.members = ["me"]
        peers.wait(REBALANCE_PERIOD_MS)
    assert not peers.consumer.begin_consume(delivery)
    peers.go_on()
    assert len(peers.sent(UNLOCK)) == is_orderly
    peers.members = ["me"]
    peers.wait(REBALANCE_PERIOD_MS)
    peers.find(peers.pulls[-1], record(0))
    (again,) = peers.delivered()
    assert peers.consumer.begin_consume(again)


def test_in_broadcasting_every_queue_is_ours_and_no_broker_keeps_offsets() -> None:
    peers = PushPeers(count=2, broadcasts=True, from_first=True)
    peers.members = []
    peers.start()
    assert len(peers.pulls) == 2
    peers.respond_to_pull(peers.pull(), 19, 3)
    peers.go_on()
    peers.wait(5000)
    assert peers.sent(COMMIT) == []


def test_in_order_only_locked_queues_are_read() -> None:
    peers = PushPeers(count=2, is_orderly=True, from_first=True)
    peers.held = {0}
    peers.start()
    assert sorted(peers.consumer.pull_loop.assigned) == [MessageQueue("T", "a", 1)]
    assert len(peers.pulls) == 1
    peers.held = set()
    peers.wait(20_000)
    assert len(peers.pulls) == 2


def test_in_order_a_queue_is_unlocked_at_the_end_after_its_offset() -> None:
    peers = PushPeers(is_orderly=True, from_first=True)
    peers.start()
    peers.find(peers.pull(), record(0))
    (delivery,) = peers.delivered()
    peers.consumed(delivery.queue, delivery.messages)
    peers.go_on()
    peers.consumer.stop()
    peers.go_on()
    last = [one.command.code for one in peers.others][-3:-1]
    assert last == [COMMIT, UNLOCK]
