"""A lite pull consumer's groups, polls and commits, with scripted peers."""

from __future__ import annotations

import pytest

from reference.core.client.remoting.errors import ClientError
from reference.tests.client.lite_peers import LitePeers
from reference.tests.client.peers import OTHER, QUEUE, offset_of
from spec.wire.bodies.heartbeat import HeartbeatData
from spec.wire.bodies.json_body import decode_body
from spec.wire.remoting.command import Command

COMMIT, HEART_BEAT, LEAVE, IDS_CHANGED = 15, 34, 35, 40


def test_who_subscribes_reads_its_share_from_where_the_group_is() -> None:
    peers = LitePeers().subscribed("A || B")
    first, second = peers.pulls
    sent = first.command.fields
    wanted = {
        "queueId": "0",
        "queueOffset": "5",
        "maxMsgNums": "10",
        "sysFlag": "6",
        "suspendTimeoutMillis": "20000",
        "subscription": "A || B",
        "subVersion": "0",
        "commitOffset": "0",
    }
    assert wanted.items() <= sent.items()
    assert second.command.fields["queueId"] == "1"
    beat = peers.others[0].command
    assert beat.code == HEART_BEAT
    (member,) = decode_body(HeartbeatData, beat.body).consumers
    assert member.consume_type == "CONSUME_ACTIVELY"
    assert [one.expression for one in member.subscriptions] == ["A || B"]


def test_a_share_is_taken_anew_when_the_group_changes() -> None:
    peers = LitePeers().subscribed()
    first, second = peers.pulls
    peers.members.append("you")
    peers.find_offsets(second, 5)
    changed = Command(code=IDS_CHANGED, fields={"consumerGroup": "g"})
    peers.world.receive("a:10911", changed)
    peers.go_on()
    assert [*peers.consumer.pull_loop.assigned] == [QUEUE]
    call = peers.begin(1000)
    assert peers.polled(call) is None, "what a lost queue had is not handed out"
    peers.find_offsets(first, 6)
    assert peers.polled(call) == [6]


def test_polls_are_served_in_turn_and_end_in_time() -> None:
    peers = LitePeers().assigned()
    one, two = peers.begin(1000), peers.begin(1000)
    peers.find_offsets(peers.pull(), 5, 6)
    assert (peers.polled(one), peers.polled(two)) == ([5, 6], None)
    peers.wait(999)
    assert peers.polled(two) is None
    peers.wait(1)
    assert peers.polled(two) == []


def test_a_poll_commits_every_five_seconds_what_was_polled_before() -> None:
    peers = LitePeers().assigned()
    peers.find_offsets(peers.pull(), 5, 6)
    assert peers.poll() == [5, 6]
    peers.wait(4999)
    peers.poll()
    assert peers.commits() == []
    peers.wait(1)
    peers.poll()
    assert peers.commits() == [(0, "7", True)]
    peers.wait(5000)
    peers.poll()
    assert peers.commits() == [(0, "7", True)], "nothing new"


def test_a_commit_by_call_ends_when_the_brokers_have_answered() -> None:
    peers = LitePeers(auto_commits=False).assigned()
    peers.find_offsets(peers.pull(), 5)
    peers.poll()
    call = peers.world.begin(peers.consumer.commit_polled())
    sent = peers.world.sent_request()
    assert call not in peers.world.finished
    peers.world.response(sent, 1)
    peers.go_on()
    assert peers.world.finished[call] is None
    peers.world.begin(peers.consumer.commit_polled())
    commits = peers.commits()
    assert commits == [(0, "6", False)], "a refused commit is repeated"


def test_who_broadcasts_keeps_offsets_and_begins_there_or_at_zero() -> None:
    peers = LitePeers(persisted={QUEUE: 8}, broadcasts=True).subscribed()
    assert [offset_of(one) for one in peers.pulls] == [8, 0]
    peers.find_offsets(peers.pull(), 8)
    peers.poll()
    peers.world.begin(peers.consumer.commit_polled())
    peers.go_on()
    assert peers.world.persisted == {QUEUE: 9}
    assert peers.commits() == []


def test_to_subscribe_and_to_take_queues_exclude_each_other() -> None:
    peers = LitePeers().subscribed()
    with pytest.raises(ClientError, match="either subscribes"):
        peers.consumer.assign([QUEUE])
    peers = LitePeers().assigned()
    with pytest.raises(ClientError, match="either subscribes"):
        peers.consumer.subscribe("T")


def test_queues_may_be_taken_anew_and_a_topic_given_up() -> None:
    peers = LitePeers().assigned(QUEUE).assigned(OTHER)
    assert [*peers.consumer.pull_loop.assigned] == [OTHER]
    peers = LitePeers().subscribed()
    peers.consumer.unsubscribe("T")
    assert not peers.consumer.pull_loop.assigned


def test_the_end_leaves_the_group_and_ends_the_polls() -> None:
    peers = LitePeers().subscribed()
    call = peers.begin(1000)
    peers.consumer.stop()
    assert peers.polled(call) == []
    assert [one.command.code for one in peers.others][-1] == LEAVE
