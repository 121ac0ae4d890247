"""A lite pull consumer's groups, polls and commits, played by hand."""

from __future__ import annotations

import pytest

from reference.core.client.remoting.errors import ClientError
from reference.tests.client.polling import OTHER, QUEUE, Polling
from reference.tests.client.reading import offset_of
from spec.wire.bodies.heartbeat import HeartbeatData
from spec.wire.bodies.json_body import decode_body
from spec.wire.remoting.command import Command

COMMIT, HEART_BEAT, LEAVE, IDS_CHANGED = 15, 34, 35, 40


def test_who_subscribes_reads_its_share_from_where_the_group_is() -> None:
    polling = Polling().subscribed("A || B")
    first, second = polling.pulls
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
    beat = polling.others[0].command
    assert beat.code == HEART_BEAT
    (member,) = decode_body(HeartbeatData, beat.body).consumers
    assert member.consume_type == "CONSUME_ACTIVELY"
    assert [one.expression for one in member.subscriptions] == ["A || B"]


def test_a_share_is_taken_anew_when_the_group_changes() -> None:
    polling = Polling().subscribed()
    first, second = polling.pulls
    polling.members.append("you")
    polling.find(second, 5)
    changed = Command(code=IDS_CHANGED, fields={"consumerGroup": "g"})
    polling.world.receive("a:10911", changed)
    polling.go_on()
    assert [*polling.consumer.pull_loop.assigned] == [QUEUE]
    call = polling.begin(1000)
    assert polling.polled(call) is None, "what a lost queue had is not handed out"
    polling.find(first, 6)
    assert polling.polled(call) == [6]


def test_polls_are_served_in_turn_and_end_in_time() -> None:
    polling = Polling().assigned()
    one, two = polling.begin(1000), polling.begin(1000)
    polling.find(polling.pull(), 5, 6)
    assert (polling.polled(one), polling.polled(two)) == ([5, 6], None)
    polling.wait(999)
    assert polling.polled(two) is None
    polling.wait(1)
    assert polling.polled(two) == []


def test_a_poll_commits_every_five_seconds_what_was_polled_before() -> None:
    polling = Polling().assigned()
    polling.find(polling.pull(), 5, 6)
    assert polling.poll() == [5, 6]
    polling.wait(4999)
    polling.poll()
    assert polling.commits() == []
    polling.wait(1)
    polling.poll()
    assert polling.commits() == [(0, "7", True)]
    polling.wait(5000)
    polling.poll()
    assert polling.commits() == [(0, "7", True)], "nothing new"


def test_a_commit_by_call_ends_when_the_brokers_have_answered() -> None:
    polling = Polling(auto_commits=False).assigned()
    polling.find(polling.pull(), 5)
    polling.poll()
    call = polling.world.begin(polling.consumer.commit_polled())
    sent = polling.world.question()
    assert call not in polling.world.finished
    polling.world.response(sent, 1)
    polling.go_on()
    assert polling.world.finished[call] is None
    polling.world.begin(polling.consumer.commit_polled())
    commits = polling.commits()
    assert commits == [(0, "6", False)], "a refused commit is repeated"


def test_who_broadcasts_keeps_offsets_and_begins_there_or_at_zero() -> None:
    polling = Polling(persisted={QUEUE: 8}, broadcasts=True).subscribed()
    assert [offset_of(one) for one in polling.pulls] == [8, 0]
    polling.find(polling.pull(), 8)
    polling.poll()
    polling.world.begin(polling.consumer.commit_polled())
    polling.go_on()
    assert polling.world.persisted == {QUEUE: 9}
    assert polling.commits() == []


def test_to_subscribe_and_to_take_queues_exclude_each_other() -> None:
    polling = Polling().subscribed()
    with pytest.raises(ClientError, match="either subscribes"):
        polling.consumer.assign([QUEUE])
    polling = Polling().assigned()
    with pytest.raises(ClientError, match="either subscribes"):
        polling.consumer.subscribe("T")


def test_queues_may_be_taken_anew_and_a_topic_given_up() -> None:
    polling = Polling().assigned(QUEUE).assigned(OTHER)
    assert [*polling.consumer.pull_loop.assigned] == [OTHER]
    polling = Polling().subscribed()
    polling.consumer.unsubscribe("T")
    assert not polling.consumer.pull_loop.assigned


def test_the_end_leaves_the_group_and_ends_the_polls() -> None:
    polling = Polling().subscribed()
    call = polling.begin(1000)
    polling.consumer.stop()
    assert polling.polled(call) == []
    assert [one.command.code for one in polling.others][-1] == LEAVE
