"""A consumer's requests to name server and brokers, with scripted responses."""

from __future__ import annotations

from reference.core.client.message import MessageQueue
from reference.tests.client.reading import COMMIT, LEAVE, Reading, record
from spec.wire.bodies.heartbeat import HeartbeatData
from spec.wire.bodies.json_body import decode_body
from spec.wire.remoting.command import Command, CommandFlag

IDS_CHANGED, UNLOCK = 40, 42


def test_a_consumer_joins_shares_and_pulls() -> None:
    reading = Reading(count=2)
    reading.start()
    heartbeat = decode_body(HeartbeatData, reading.others[0].command.body)
    assert [one.topic for one in heartbeat.consumers[0].subscriptions] == [
        "T",
        "%RETRY%g",
    ]
    queues = [MessageQueue("T", "a", 0), MessageQueue("T", "a", 1)]
    assert sorted(reading.consumer.pull_loop.assigned) == queues
    assert len(reading.pulls) == 2


def test_it_takes_its_share_only() -> None:
    reading = Reading(count=3)
    reading.members = ["aaa", "me"]
    reading.start()
    assert sorted(reading.consumer.pull_loop.assigned) == [MessageQueue("T", "a", 2)]


def test_who_is_not_named_as_a_member_takes_nothing() -> None:
    reading = Reading()
    reading.members = ["other"]
    reading.start()
    assert sorted(reading.consumer.pull_loop.assigned) == []


def test_offsets_are_committed_every_five_seconds_and_at_the_end() -> None:
    reading = Reading(from_first=True)
    reading.start()
    reading.respond_to_pull(reading.pull(), 19, 3)
    reading.go_on()
    reading.world.wait(5000)
    reading.go_on()
    reading.respond_to_pull(reading.pull(), 19, 4)
    reading.go_on()
    reading.consumer.stop()
    reading.go_on()
    commits = reading.sent(COMMIT)
    assert [one.fields["commitOffset"] for one in commits] == ["3", "4"]
    assert all(one.is_oneway for one in commits)
    assert reading.others[-1].command.code == LEAVE
    assert reading.world.rpc.is_idle


def test_a_word_of_the_broker_makes_it_share_anew() -> None:
    reading = Reading(count=2)
    reading.start()
    reading.members = ["me", "you"]
    fields = {"consumerGroup": "g"}
    notification = Command(code=IDS_CHANGED, flag=CommandFlag.ONEWAY, fields=fields)
    reading.world.receive("a:10911", notification)
    reading.go_on()
    assert sorted(reading.consumer.pull_loop.assigned) == [MessageQueue("T", "a", 0)]


def test_in_broadcasting_every_queue_is_ours_and_no_broker_keeps_offsets() -> None:
    reading = Reading(count=2, broadcasts=True, from_first=True)
    reading.members = []
    reading.start()
    assert len(reading.pulls) == 2
    reading.respond_to_pull(reading.pull(), 19, 3)
    reading.go_on()
    reading.world.wait(5000)
    reading.go_on()
    assert reading.sent(COMMIT) == []


def test_in_order_only_locked_queues_are_read() -> None:
    reading = Reading(count=2, is_orderly=True, from_first=True)
    reading.held = {0}
    reading.start()
    assert sorted(reading.consumer.pull_loop.assigned) == [MessageQueue("T", "a", 1)]
    assert len(reading.pulls) == 1
    reading.held = set()
    reading.world.wait(20_000)
    reading.go_on()
    assert len(reading.pulls) == 2


def test_in_order_a_queue_is_unlocked_at_the_end_after_its_offset() -> None:
    reading = Reading(is_orderly=True, from_first=True)
    reading.start()
    reading.find(reading.pull(), record(0))
    (delivery,) = reading.delivered()
    reading.handle(delivery.queue, delivery.messages)
    reading.go_on()
    reading.consumer.stop()
    reading.go_on()
    last = [one.command.code for one in reading.others][-3:-1]
    assert last == [COMMIT, UNLOCK]
