"""Admin requests to a consumer, with scripted responses."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from reference.core.client.message import MessageQueue
from reference.tests.client.peers import COMMIT, offset_of, record
from reference.tests.client.push_peers import PushPeers
from spec.client.requests import REST_BEFORE_RESET_MS
from spec.store.message_record import encode_record
from spec.wire.bodies.json_body import decode_body, encode_body
from spec.wire.bodies.offset_tables import GetConsumerStatusBody, ResetOffsetBody
from spec.wire.bodies.queue_name import QueueName
from spec.wire.bodies.running_info import (
    ConsumeMessageDirectlyResult,
    ConsumerRunningInfo,
)
from spec.wire.remoting.command import Command, CommandFlag
from spec.wire.remoting.request_code import RequestCode

FIRST = MessageQueue("T", "a", 0)
NAME = QueueName(topic="T", broker_name="a", queue_id=0)
ADDRESS = "a:10911"
OPAQUE = 77


def begun() -> PushPeers:
    """Return a consumer that has two messages of its one queue, and handled one."""
    peers = PushPeers(from_first=True)
    peers.start()
    peers.find(peers.pull(), record(0), record(1))
    (delivery,) = peers.delivered()
    peers.consumed(delivery.queue, delivery.messages[:1])
    peers.go_on()
    return peers


def request(
    peers: PushPeers, code: int, fields: Mapping[str, str], body: bytes = b""
) -> None:
    """Send the consumer a request."""
    sent = Command(code=code, opaque=OPAQUE, fields=fields, body=body)
    peers.world.receive(ADDRESS, sent)
    peers.go_on()


def response_of(peers: PushPeers) -> Command:
    """Return the one response that the consumer gave."""
    (found,) = [one.command for one in peers.others if one.command.is_response]
    assert found.opaque == OPAQUE
    return found


def reset(peers: PushPeers, offset: int, group: str = "g") -> None:
    """Have the consumer continue at *offset*."""
    response = Command(
        code=RequestCode.RESET_CONSUMER_CLIENT_OFFSET,
        flag=CommandFlag.ONEWAY,
        fields={"topic": "T", "group": group, "timestamp": "0", "isForce": "true"},
        body=encode_body(ResetOffsetBody(offsets={NAME: offset})),
    )
    peers.world.receive(ADDRESS, response)
    peers.go_on()


def committed(peers: PushPeers) -> list[str]:
    """Return the offsets that were committed oneway so far."""
    return [one.fields["commitOffset"] for one in peers.sent(COMMIT)]


def test_a_queue_that_is_reset_rests_and_goes_on_elsewhere() -> None:
    peers = begun()
    peers.wait(5000)
    before = committed(peers)
    reset(peers, 9)
    peers.consumed(FIRST, [])
    peers.wait(REST_BEFORE_RESET_MS - 1)
    assert committed(peers) == before
    peers.committed["T", 0] = 9
    peers.wait(1)
    assert committed(peers) == [*before, "9"]
    assert offset_of(peers.pulls[-1]) == 9


def test_what_arrives_for_a_resting_queue_is_dropped() -> None:
    peers = begun()
    reset(peers, 0)
    peers.find(peers.pull(), record(2))
    assert peers.delivered() == []
    assert peers.consumer.pull_loop.running_info()[FIRST].is_dropped


def test_a_reset_of_another_group_changes_nothing() -> None:
    peers = begun()
    reset(peers, 0, group="other")
    assert not peers.consumer.pull_loop.running_info()[FIRST].is_dropped


def test_a_reset_that_cannot_be_read_changes_nothing() -> None:
    peers = begun()
    fields = {"topic": "T", "group": "g"}
    request(peers, RequestCode.RESET_CONSUMER_CLIENT_OFFSET, fields, b"[")
    assert not peers.consumer.pull_loop.running_info()[FIRST].is_dropped


@pytest.mark.parametrize(("group", "expected"), [("g", {NAME: 1}), ("other", {})])
def test_offsets_are_told(group: str, expected: Mapping[QueueName, int]) -> None:
    peers = begun()
    fields = {"topic": "T", "group": group}
    request(peers, RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT, fields)
    response = response_of(peers)
    assert response.code == 0
    assert decode_body(GetConsumerStatusBody, response.body).offsets == expected


def test_where_the_group_was_is_told_before_anything_is_handled() -> None:
    peers = PushPeers()
    peers.committed["T", 0] = 5
    peers.start()
    assert peers.consumer.pull_loop.offsets() == {FIRST: 5}


def test_a_state_has_settings_subscriptions_and_queues() -> None:
    peers = begun()
    request(peers, RequestCode.GET_CONSUMER_RUNNING_INFO, {"consumerGroup": "g"})
    response = decode_body(ConsumerRunningInfo, response_of(peers).body)
    assert response.properties["PROP_NAMESERVER_ADDR"] == "names:9876;"
    assert response.properties["consumeFromWhere"] == "CONSUME_FROM_FIRST_OFFSET"
    assert [one.topic for one in response.subscriptions] == ["T", "%RETRY%g"]
    queue = response.queues[NAME]
    assert (queue.commit_offset, queue.cached_min_offset, queue.cached_count) == (
        1,
        1,
        1,
    )


@pytest.mark.parametrize(
    "code",
    [RequestCode.GET_CONSUMER_RUNNING_INFO, RequestCode.CONSUME_MESSAGE_DIRECTLY],
)
def test_of_another_group_a_consumer_says_an_error(code: RequestCode) -> None:
    peers = begun()
    request(peers, code, {"consumerGroup": "other"}, encode_record(record(7)))
    assert response_of(peers).code == 1
    assert peers.delivered() == []


@pytest.mark.parametrize(
    ("failed", "error", "result"),
    [
        (False, None, "CR_SUCCESS"),
        (True, None, "CR_LATER"),
        (True, "ValueError: no", "CR_THROW_EXCEPTION"),
    ],
)
def test_what_comes_of_a_message_is_answered_when_it_is_handled(
    failed: bool, error: str | None, result: str
) -> None:
    peers = begun()
    count = len(peers.others)
    fields = {"consumerGroup": "g", "brokerName": "a"}
    request(
        peers,
        RequestCode.CONSUME_MESSAGE_DIRECTLY,
        fields,
        encode_record(record(7, b"direct")),
    )
    assert len(peers.others) == count
    (delivery,) = peers.delivered()
    (message,) = delivery.messages
    assert (message.body, message.queue) == (b"direct", FIRST)
    peers.world.now_ms += 5
    peers.consumer.process_consume_result(
        delivery,
        delivery.messages if failed else (),
        error=error,
    )
    peers.go_on()
    response = decode_body(ConsumeMessageDirectlyResult, response_of(peers).body)
    assert (response.result, response.remark, response.spent_ms) == (result, error, 5)
    assert len(peers.others) == count + 1
    assert peers.consumer.pull_loop.offsets() == {FIRST: 1}


def test_a_message_that_is_no_record_is_an_error() -> None:
    peers = begun()
    fields = {"consumerGroup": "g"}
    request(peers, RequestCode.CONSUME_MESSAGE_DIRECTLY, fields, b"short")
    assert response_of(peers).code == 1


def test_a_oneway_request_has_no_response() -> None:
    peers = begun()
    code = RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT
    fields = {"topic": "T", "group": "g"}
    command = Command(code=code, opaque=5, flag=CommandFlag.ONEWAY, fields=fields)
    peers.world.receive("a:10911", command)
    peers.go_on()
    assert not any(one.command.is_response for one in peers.others)
