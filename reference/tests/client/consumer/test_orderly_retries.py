"""Orderly consumption: a message that fails up to the limit of attempts."""

from __future__ import annotations

import pytest

from reference.core.client.effects import DeliverMessages
from reference.tests.client.peers import SEND, record
from reference.tests.client.push_peers import PushPeers
from spec.wire.message.properties import decode_properties

RETRIES = 1


def begun(*offsets: int) -> PushPeers:
    """Return a consumer in order that has the messages at *offsets*."""
    peers = PushPeers(is_orderly=True, from_first=True, retries_max=RETRIES)
    peers.start()
    peers.find(peers.pull(), *(record(offset) for offset in offsets))
    return peers


def fail(peers: PushPeers) -> None:
    """Let the first of what was delivered fail, and time pass."""
    (delivery,) = peers.delivered()
    messages = delivery.messages
    peers.consumed(delivery.queue, messages, failed=messages)
    peers.go_on()
    peers.world.wait(1000)


def properties_of_sends(peers: PushPeers) -> list[dict[str, str]]:
    """Return the properties of the messages that were sent."""
    return [decode_properties(one.fields["i"]) for one in peers.sent(SEND)]


def places(delivery: DeliverMessages) -> list[tuple[int, int]]:
    """Return the offsets of messages, and how often they have failed."""
    records = [one.record for one in delivery.messages]
    return [(one.queue_offset, one.reconsume_times) for one in records]


def test_only_the_first_has_failed_once_more() -> None:
    peers = begun(0, 1)
    fail(peers)
    (again,) = peers.delivered()
    assert places(again) == [(0, 1)]
    peers.consumed(again.queue, again.messages)
    (behind,) = peers.delivered()
    assert places(behind) == [(1, 0)]


def test_what_failed_too_often_is_sent_to_the_retry_topic_and_the_rest_goes_on() -> (
    None
):
    peers = begun(0, 1)
    fail(peers)
    peers.world.routes.table["%RETRY%g"] = peers.route
    fail(peers)
    (sent,) = properties_of_sends(peers)
    assert (sent["RECONSUME_TIME"], sent["MAX_RECONSUME_TIMES"]) == ("1", "1")
    assert (sent["RETRY_TOPIC"], sent["DELAY"]) == ("T", "4")
    (behind,) = peers.delivered()
    assert places(behind) == [(1, 0)]
    peers.consumed(behind.queue, behind.messages)
    assert peers.consumer.pull_loop.offsets()[behind.queue] == 2


@pytest.mark.parametrize("refuses", [{SEND}, set()])
def test_what_cannot_be_sent_is_handled_again(refuses: set[int]) -> None:
    peers = begun(0)
    fail(peers)
    peers.refuses = refuses
    if refuses:
        peers.world.routes.table["%RETRY%g"] = peers.route
    fail(peers)
    (again,) = peers.delivered()
    assert places(again) == [(0, 2)]
