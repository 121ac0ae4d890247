"""Messages that a consumer sends back after a failure."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reference.tests.client.peers import BACK, SEND, record
from reference.tests.client.push_peers import PushPeers
from reference.tests.client.routes import broker_data, route_of
from spec.client.subscription import AFTER_KEPT_MS
from spec.wire.message.properties import encode_properties


def test_what_failed_is_handed_back() -> None:
    peers = PushPeers(from_first=True)
    peers.start()
    peers.find(peers.pull(), record(0), record(1))
    (delivery,) = peers.delivered()
    peers.consumed(delivery.queue, delivery.messages, failed=delivery.messages[1:])
    peers.go_on()
    back = peers.sent(BACK)
    assert [one.fields["offset"] for one in back] == ["1001"]
    assert back[0].fields["maxReconsumeTimes"] == "16"


def test_what_failed_again_goes_back_with_its_own_topic() -> None:
    peers = PushPeers(from_first=True)
    peers.world.routes.table["%RETRY%g"] = peers.route
    peers.start()
    properties = encode_properties({"RETRY_TOPIC": "T"})
    again = replace(record(0), topic="%RETRY%g", properties=properties)
    (pull,) = [p for p in peers.pulls if p.command.fields["topic"] == "%RETRY%g"]
    peers.find(pull, again)
    (delivery,) = peers.delivered()
    peers.consumed(delivery.queue, delivery.messages, failed=delivery.messages)
    peers.go_on()
    (back,) = peers.sent(BACK)
    assert back.fields["originTopic"] == "T"


def test_what_failed_in_a_lost_queue_is_left_to_its_next_owner() -> None:
    peers = PushPeers(from_first=True)
    peers.start()
    peers.find(peers.pull(), record(0))
    (delivery,) = peers.delivered()
    peers.members = ["aaa", "me"]
    peers.wait(20_000)
    peers.consumed(delivery.queue, delivery.messages, failed=delivery.messages)
    peers.go_on()
    assert peers.sent(BACK) == []


@pytest.mark.parametrize("refuses", [{BACK}, {BACK, SEND}])
def test_what_is_not_taken_back_is_sent_anew_or_stays(refuses: set[int]) -> None:
    peers = PushPeers(from_first=True)
    peers.refuses = refuses
    peers.start()
    peers.world.routes.table["%RETRY%g"] = peers.route
    peers.find(peers.pull(), record(0), record(1))
    (delivery,) = peers.delivered()
    peers.consumed(delivery.queue, delivery.messages, failed=delivery.messages[:1])
    peers.go_on()
    sent, *retries = peers.sent(SEND)
    assert len(retries) == (2 if SEND in refuses else 0)
    assert (sent.fields["b"], sent.fields["j"]) == ("%RETRY%g", "1")
    peers.world.wait(5000)
    again = peers.delivered()
    assert [one.messages[0].record.reconsume_times for one in again] == [1] * (
        len(refuses) - 1
    )


def test_a_message_of_a_broker_that_is_gone_is_sent_to_another_one() -> None:
    peers = PushPeers(from_first=True)
    peers.start()
    peers.world.routes.table["%RETRY%g"] = route_of("a", "b")
    peers.find(peers.pull(), record(0))
    (delivery,) = peers.delivered()
    peers.silent = {"a:10911"}
    peers.consumed(delivery.queue, delivery.messages, failed=delivery.messages)
    for _ in range(2):  # the request to send it back, then the first send
        (lost,) = peers.world.sent_requests()
        peers.world.fail(lost)
    peers.go_on()
    (sent,) = (one for one in peers.others if one.command.code == SEND)
    assert sent.address == "b:10911"
    peers.wait(AFTER_KEPT_MS)
    assert peers.delivered() == []


def test_a_slave_is_sent_nothing_back() -> None:
    peers = PushPeers(from_first=True)
    peers.route = replace(peers.route, broker_datas=(broker_data("a", 1),))
    peers.start()
    peers.find(peers.pull(), record(0))
    (delivery,) = peers.delivered()
    peers.consumed(delivery.queue, delivery.messages, failed=delivery.messages)
    peers.go_on()
    assert peers.sent(BACK) == []
