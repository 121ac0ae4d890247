"""Orderly consumption: delivered messages and queue locks."""

from __future__ import annotations

import pytest

from reference.core.client.consumer.orderly import OrderlyPullLoop
from reference.core.client.effects import DeliverMessages
from reference.core.client.remoting.errors import Reason
from reference.tests.client.peers import offset_of, record
from reference.tests.client.push_peers import PushPeers
from spec.wire.remoting.request_code import RequestCode

LOCK = RequestCode.LOCK_BATCH_MQ


def begun(*offsets: int, count: int = 1, **options: object) -> PushPeers:
    """Return a consumer in order that has pulled the messages at *offsets*."""
    peers = PushPeers(count=count, is_orderly=True, from_first=True, **options)
    peers.start()
    if offsets:
        peers.find(peers.pull(), *(record(offset) for offset in offsets))
    return peers


def handle(peers: PushPeers, delivery: DeliverMessages, *, fails: bool = False) -> None:
    failed = delivery.messages if fails else ()
    peers.consumed(delivery.queue, delivery.messages, failed=failed)


def offsets(peers: PushPeers) -> list[int]:
    """Return the offsets of what was handed out."""
    found = [one for delivery in peers.delivered() for one in delivery.messages]
    return [one.record.queue_offset for one in found]


def test_one_is_handed_out_at_a_time_and_pulling_goes_on() -> None:
    peers = begun(0, 1)
    (first,) = peers.delivered()
    assert [one.record.queue_offset for one in first.messages] == [0]
    assert offset_of(peers.pull()) == 2
    handle(peers, first)
    assert offsets(peers) == [1]


def test_what_failed_comes_first_again() -> None:
    peers = begun(0, 1)
    (delivery,) = peers.delivered()
    handle(peers, delivery, fails=True)
    peers.world.wait(999)
    assert peers.delivered() == []
    peers.world.wait(1)
    (again,) = peers.delivered()
    assert [one.record.reconsume_times for one in again.messages] == [1]
    assert [one.record.queue_offset for one in again.messages] == [0]
    handle(peers, delivery)
    assert offsets(peers) == [], "the first delivery is not in hand any more"
    handle(peers, again)
    assert offsets(peers) == [1]


@pytest.mark.parametrize(("wait_ms", "handed"), [(30_000, [1]), (30_001, [])])
def test_a_lock_runs_out_that_nobody_confirms(wait_ms: int, handed: list[int]) -> None:
    peers = begun(0, 1)
    (first,) = peers.delivered()
    world = peers.world
    world.now_ms += wait_ms
    pull_loop = peers.consumer.pull_loop
    assert isinstance(pull_loop, OrderlyPullLoop)
    pull_loop.lock_all()
    (sent,) = world.sent_requests()
    world.fail(sent, Reason.TIMEOUT)
    handle(peers, first)
    codes = [one.command.code for one in world.sent_requests()]
    assert codes == ([] if handed else [LOCK])
    assert offsets(peers) == handed


def test_who_broadcasts_keeps_the_order_without_locks() -> None:
    peers = begun(0, 1, broadcasts=True)
    (first,) = peers.delivered()
    peers.wait(20_000)
    handle(peers, first)
    assert offsets(peers) == [1]
    assert LOCK not in [one.command.code for one in peers.others]


def unlocks(peers: PushPeers) -> int:
    """Return the number of UNLOCK_BATCH_MQ requests."""
    peers.go_on()
    return len(peers.sent(RequestCode.UNLOCK_BATCH_MQ))


def test_a_lost_queue_stays_locked_while_a_message_of_it_is_consumed() -> None:
    peers = begun(0, 1)
    (delivery,) = peers.delivered()
    peers.members = ["aaa", "me"]
    peers.wait(20_000)
    assert peers.consumer.pull_loop.assigned == {}
    assert unlocks(peers) == 0
    handle(peers, delivery)
    assert unlocks(peers) == 1
    assert offsets(peers) == []


def test_the_lock_of_a_lost_queue_is_renewed_while_its_message_is_consumed() -> None:
    peers = begun(0)
    peers.delivered()
    peers.members = ["aaa", "me"]
    peers.wait(20_000)
    pull_loop = peers.consumer.pull_loop
    assert isinstance(pull_loop, OrderlyPullLoop)
    pull_loop.lock_all()
    codes = [one.command.code for one in peers.world.sent_requests()]
    assert codes == [LOCK]


@pytest.mark.parametrize("broadcasts", [False, True])
def test_a_queue_that_comes_back_waits_for_the_message_being_consumed(
    broadcasts: bool,
) -> None:
    peers = begun(0, 1, broadcasts=broadcasts)
    (delivery,) = peers.delivered()
    pull_loop = peers.consumer.pull_loop
    (assigned,) = pull_loop.assigned.values()
    for queues in ((), (delivery.queue,)):
        pull_loop.assign(queues, assigned.subscription)
    assert pull_loop.assigned == {}
    handle(peers, delivery)
    peers.pulls.clear()
    peers.wait(20_000)
    peers.find(peers.pull(), record(0), record(1))
    assert offsets(peers) == [0]


def test_a_consumer_that_stops_unlocks_also_while_a_message_is_consumed() -> None:
    peers = begun(0)
    peers.delivered()
    peers.consumer.stop()
    assert unlocks(peers) == 1
