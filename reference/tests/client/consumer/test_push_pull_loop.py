"""First offsets of a consumer's queues, and its pull requests."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reference.tests.client.peers import COMMIT, offset_of, record
from reference.tests.client.push_peers import PushPeers
from reference.tests.client.routes import broker_data
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode


@pytest.mark.parametrize(
    ("committed", "from_first", "expected"),
    [(5, False, 5), (None, False, 9), (None, True, 0)],
)
def test_a_queue_begins_where_the_group_was_or_as_it_is_told(
    committed: int | None, from_first: bool, expected: int
) -> None:
    peers = PushPeers(from_first=from_first)
    peers.end_offset = 9
    if committed is not None:
        peers.committed["T", 0] = committed
    peers.start()
    assert offset_of(peers.pull()) == expected


def test_a_queue_begins_at_a_time() -> None:
    peers = PushPeers(from_time_ms=1234)
    peers.offset_by_time = 7
    peers.start()
    assert offset_of(peers.pull()) == 7
    assert peers.searched_ms == 1234


def test_it_pulls_ahead_and_commits_what_is_handled() -> None:
    peers = PushPeers(from_first=True)
    peers.start()
    peers.find(peers.pull(), record(0), record(1))
    (delivery,) = peers.delivered()
    assert [one.record.queue_offset for one in delivery.messages] == [0, 1]
    pull = peers.pull()
    assert offset_of(pull) == 2
    assert not int(pull.command.fields["sysFlag"]) & 1
    peers.consumed(delivery.queue, delivery.messages[:1])
    peers.find(pull, record(2))
    peers.go_on()
    pull = peers.pull()
    assert pull.command.fields["commitOffset"] == "1"
    assert int(pull.command.fields["sysFlag"]) & 1


def test_it_starts_over_where_the_queue_does() -> None:
    peers = PushPeers(from_first=True)
    peers.start()
    peers.find(peers.pull(), record(50))
    (delivery,) = peers.delivered()
    peers.respond_to_pull(peers.pull(), 21, 0)
    peers.go_on()
    peers.find(peers.pull(), record(0), record(0))
    (again,) = peers.delivered()
    peers.consumed(again.queue, again.messages)
    peers.consumed(delivery.queue, ())
    peers.wait(5000)
    (commit,) = peers.sent(COMMIT)
    assert commit.fields["commitOffset"] == "1"


def test_it_waits_while_the_application_is_far_behind() -> None:
    peers = PushPeers(from_first=True)
    peers.start()
    peers.find(peers.pull(), *(record(offset) for offset in range(1001)))
    (delivery,) = peers.delivered()
    assert peers.pulls == []
    peers.consumed(delivery.queue, delivery.messages[:1])
    peers.wait(50)
    assert offset_of(peers.pull()) == 1001


@pytest.mark.parametrize("code", [19, 20, 21])
def test_without_messages_it_goes_on_where_it_is_told(code: int) -> None:
    peers = PushPeers(from_first=True)
    peers.start()
    peers.respond_to_pull(peers.pull(), code, 42)
    assert peers.delivered() == []
    assert offset_of(peers.pull()) == 42


def test_after_an_error_it_pulls_again_in_a_second() -> None:
    peers = PushPeers(from_first=True)
    peers.start()
    peers.world.response(peers.pull(), 1)
    peers.wait(999)
    assert peers.pulls == []
    peers.wait(1)
    assert offset_of(peers.pull()) == 0


def test_a_slave_is_asked_where_it_is_suggested_and_told_no_offset() -> None:
    peers = PushPeers(from_first=True)
    addresses = {0: "master:1", 1: "slave:1"}
    (data,) = peers.route.broker_datas
    broker = replace(data, addresses=addresses)
    peers.route = replace(peers.route, broker_datas=(broker,))
    peers.start()
    first = peers.pull()
    peers.find(first, record(0), suggested=1)
    peers.go_on()
    second = peers.pull()
    assert (first.address, second.address) == ("master:1", "slave:1")
    assert not int(second.command.fields["sysFlag"]) & 1


def test_a_queue_that_is_gone_is_pulled_no_more() -> None:
    peers = PushPeers(count=1, from_first=True)
    peers.start()
    pull = peers.pull()
    peers.members = ["aaa", "me"]
    peers.world.receive(
        "a:10911",
        Command(
            code=RequestCode.NOTIFY_CONSUMER_IDS_CHANGED,
            fields={"consumerGroup": "g"},
        ),
    )
    peers.go_on()
    peers.find(pull, record(0))
    assert peers.delivered() == []
    assert peers.pulls == []


def test_a_result_from_before_a_rebalance_does_not_move_the_offset() -> None:
    peers = PushPeers()
    peers.committed["T", 0] = 50
    peers.start()
    peers.find(peers.pull(), record(50), record(51))
    (delivery,) = peers.delivered()
    for members in (["aaa", "me"], ["me"]):
        peers.members = members
        peers.wait(20_000)
    assert list(peers.consumer.pull_loop.assigned) == [delivery.queue]
    peers.consumed(delivery.queue, delivery.messages)
    peers.wait(5000)
    assert peers.sent(COMMIT) == []


def test_a_pull_from_a_slave_without_its_master_commits_nothing() -> None:
    peers = PushPeers(from_first=True)
    peers.route = replace(peers.route, broker_datas=(broker_data("a", 1),))
    peers.start()
    peers.find(peers.pull(), record(0))
    (delivery,) = peers.delivered()
    peers.consumed(delivery.queue, delivery.messages)
    peers.respond_to_pull(peers.pull(), 19, 1)
    peers.go_on()
    pull = peers.pull()
    assert pull.address == "a:10921"
    assert not int(pull.command.fields["sysFlag"]) & 1
