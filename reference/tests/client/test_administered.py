"""Admin requests to a consumer, with scripted responses."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from reference.core.client.message import MessageQueue
from reference.tests.client.reading import COMMIT, Reading, offset_of, record
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


def begun() -> Reading:
    """Return a consumer that has two messages of its one queue, and handled one."""
    reading = Reading(from_first=True)
    reading.start()
    reading.find(reading.pull(), record(0), record(1))
    (delivery,) = reading.delivered()
    reading.handle(delivery.queue, delivery.messages[:1])
    reading.go_on()
    return reading


def request(
    reading: Reading, code: int, fields: Mapping[str, str], body: bytes = b""
) -> None:
    """Send the consumer a request."""
    sent = Command(code=code, opaque=OPAQUE, fields=fields, body=body)
    reading.world.receive(ADDRESS, sent)
    reading.go_on()


def response_of(reading: Reading) -> Command:
    """Return the one response that the consumer gave."""
    (found,) = [one.command for one in reading.others if one.command.is_response]
    assert found.opaque == OPAQUE
    return found


def reset(reading: Reading, offset: int, group: str = "g") -> None:
    """Have the consumer continue at *offset*."""
    response = Command(
        code=RequestCode.RESET_CONSUMER_CLIENT_OFFSET,
        flag=CommandFlag.ONEWAY,
        fields={"topic": "T", "group": group, "timestamp": "0", "isForce": "true"},
        body=encode_body(ResetOffsetBody(offsets={NAME: offset})),
    )
    reading.world.receive(ADDRESS, response)
    reading.go_on()


def committed(reading: Reading) -> list[str]:
    """Return the offsets that were committed oneway so far."""
    return [one.fields["commitOffset"] for one in reading.sent(COMMIT)]


def test_a_queue_that_is_reset_rests_and_goes_on_elsewhere() -> None:
    reading = begun()
    reading.world.wait(5000)
    reading.go_on()
    before = committed(reading)
    reset(reading, 9)
    reading.handle(FIRST, [])
    reading.world.wait(REST_BEFORE_RESET_MS - 1)
    reading.go_on()
    assert committed(reading) == before
    reading.committed["T", 0] = 9
    reading.world.wait(1)
    reading.go_on()
    assert committed(reading) == [*before, "9"]
    assert offset_of(reading.pulls[-1]) == 9


def test_what_arrives_for_a_resting_queue_is_dropped() -> None:
    reading = begun()
    reset(reading, 0)
    reading.find(reading.pull(), record(2))
    assert reading.delivered() == []
    assert reading.consumer.pull_loop.running_info()[FIRST].is_dropped


def test_a_reset_of_another_group_changes_nothing() -> None:
    reading = begun()
    reset(reading, 0, group="other")
    assert not reading.consumer.pull_loop.running_info()[FIRST].is_dropped


def test_a_reset_that_cannot_be_read_changes_nothing() -> None:
    reading = begun()
    fields = {"topic": "T", "group": "g"}
    request(reading, RequestCode.RESET_CONSUMER_CLIENT_OFFSET, fields, b"[")
    assert not reading.consumer.pull_loop.running_info()[FIRST].is_dropped


@pytest.mark.parametrize(("group", "expected"), [("g", {NAME: 1}), ("other", {})])
def test_offsets_are_told(group: str, expected: Mapping[QueueName, int]) -> None:
    reading = begun()
    fields = {"topic": "T", "group": group}
    request(reading, RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT, fields)
    response = response_of(reading)
    assert response.code == 0
    assert decode_body(GetConsumerStatusBody, response.body).offsets == expected


def test_where_the_group_was_is_told_before_anything_is_handled() -> None:
    reading = Reading()
    reading.committed["T", 0] = 5
    reading.start()
    assert reading.consumer.pull_loop.offsets() == {FIRST: 5}


def test_a_state_has_settings_subscriptions_and_queues() -> None:
    reading = begun()
    request(reading, RequestCode.GET_CONSUMER_RUNNING_INFO, {"consumerGroup": "g"})
    response = decode_body(ConsumerRunningInfo, response_of(reading).body)
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
    reading = begun()
    request(reading, code, {"consumerGroup": "other"}, encode_record(record(7)))
    assert response_of(reading).code == 1
    assert reading.delivered() == []


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
    reading = begun()
    count = len(reading.others)
    fields = {"consumerGroup": "g", "brokerName": "a"}
    request(
        reading,
        RequestCode.CONSUME_MESSAGE_DIRECTLY,
        fields,
        encode_record(record(7, b"direct")),
    )
    assert len(reading.others) == count
    (delivery,) = reading.delivered()
    (message,) = delivery.messages
    assert (message.body, message.queue) == (b"direct", FIRST)
    reading.world.now_ms += 5
    reading.consumer.process_consume_result(
        delivery,
        delivery.messages if failed else (),
        error=error,
    )
    reading.go_on()
    response = decode_body(ConsumeMessageDirectlyResult, response_of(reading).body)
    assert (response.result, response.remark, response.spent_ms) == (result, error, 5)
    assert len(reading.others) == count + 1
    assert reading.consumer.pull_loop.offsets() == {FIRST: 1}


def test_a_message_that_is_no_record_is_an_error() -> None:
    reading = begun()
    fields = {"consumerGroup": "g"}
    request(reading, RequestCode.CONSUME_MESSAGE_DIRECTLY, fields, b"short")
    assert response_of(reading).code == 1
