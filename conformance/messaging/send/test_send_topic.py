"""Sending to topics that do not exist, and to queues that a topic does not have."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.harness.client.client import Client, require_success
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_code,
    expect_that,
)
from conformance.harness.pytest_plugin.fixtures import create_topic
from conformance.harness.targets.target import Target
from conformance.messaging.send.refused_topic import expect_refused_topic
from conformance.messaging.stored_messages import topic_of
from spec.wire.message.topic_names import (
    HALF_TOPIC,
    OFFSET_MOVED_TOPIC,
    OP_TOPIC,
    SCHEDULE_TOPIC,
    SELF_TEST_TOPIC,
    TRANS_CHECK_MAX_TIME_TOPIC,
)
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode
from spec.wire.send.send_topic import DEFAULT_QUEUE_COUNT

CLOSED_TOPICS = (
    HALF_TOPIC,
    OP_TOPIC,
    TRANS_CHECK_MAX_TIME_TOPIC,
    SELF_TEST_TOPIC,
    OFFSET_MOVED_TOPIC,
)
UNIT_ABOVE = 7
"""Sends that create topics of more queues have unitMode true."""
TOO_HIGH = (4, 5, 255, 256, 2**31 - 1)


@pytest.mark.clause("SEND-QUEUE-002")
def test_a_queue_past_the_last_is_an_error(broker: Client, topic: str) -> None:
    found = [broker.send_message(topic=topic, queue_id=q).code for q in TOO_HIGH]
    expect(
        "SEND-QUEUE-002",
        found=found,
        expected=[ResponseCode.SYSTEM_ERROR] * len(TOO_HIGH),
        what=f"codes for the queues {TOO_HIGH}",
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-QUEUE-003")
def test_a_queue_past_the_last_is_no_parameter(broker: Client, topic: str) -> None:
    found = [broker.send_message(topic=topic, queue_id=q).code for q in TOO_HIGH]
    expect(
        "SEND-QUEUE-003",
        found=found,
        expected=[ResponseCode.INVALID_PARAMETER] * len(TOO_HIGH),
        what=f"codes for the queues {TOO_HIGH}",
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-QUEUE-004")
@pytest.mark.parametrize(("write", "read"), [(2, 6), (6, 2)])
def test_the_larger_of_both_counts_bounds_the_queues(
    target: Target, broker: Client, unique: Any, write: int, read: int
) -> None:
    topic = unique("uneven")
    create_topic(target, topic, queue_count=write, read_queue_count=read)
    codes = [broker.send_message(topic=topic, queue_id=q).code for q in (5, 6)]
    expect(
        "SEND-QUEUE-004",
        found=[code == ResponseCode.SUCCESS for code in codes],
        expected=[True, False],
        what="whether queues 5 and 6 are taken",
        transcript=broker.transcript,
    )


@pytest.mark.settings(
    autoCreateTopicEnable="true", defaultTopicQueueNums=str(DEFAULT_QUEUE_COUNT)
)
@pytest.mark.clause("SEND-TOPIC-005", "SEND-TOPIC-006", "SEND-TOPIC-012")
@pytest.mark.parametrize(
    "request_code",
    [RequestCode.SEND_MESSAGE, RequestCode.SEND_MESSAGE_V2],
)
@pytest.mark.parametrize("queue_count", [1, 2, 7, 8, 9, 100])
def test_sending_to_an_unknown_topic_creates_it(
    broker: Client, unique: Any, queue_count: int, request_code: int
) -> None:
    topic = unique("created")
    last = min(queue_count, DEFAULT_QUEUE_COUNT) - 1

    def send(queue_id: int) -> Command:
        return broker.send_message(
            topic=topic,
            queue_id=queue_id,
            default_queue_count=queue_count,
            unit_mode=queue_count > UNIT_ABOVE,
            code=request_code,
        )

    transcript = broker.transcript
    expect_code("SEND-TOPIC-005", send(last), ResponseCode.SUCCESS, transcript)
    refusal = send(last + 1)
    expect_that(
        "SEND-TOPIC-006",
        refusal.code != ResponseCode.SUCCESS,
        found=refusal.code,
        expected=f"queue {last + 1} refused",
        what="code",
        transcript=transcript,
    )
    created = topic_of(broker, topic)
    expect(
        "SEND-TOPIC-006",
        found=(created.read_queue_count, created.write_queue_count),
        expected=(last + 1, last + 1),
        what="read and write queues of the topic",
        transcript=broker.transcript,
    )
    expect(
        "SEND-TOPIC-012",
        found=created.topic_flags,
        expected=int(queue_count > UNIT_ABOVE),
        what="flags of the topic",
        transcript=broker.transcript,
    )


@pytest.mark.settings(autoCreateTopicEnable="true")
@pytest.mark.clause("SEND-TOPIC-005")
def test_a_created_topic_is_routed_to(
    broker: Client, namesrv: Client, unique: Any
) -> None:
    topic = unique("created")
    require_success(broker.send_message(topic=topic))
    namesrv.wait_for_route(topic)


@pytest.mark.clause("SEND-TOPIC-007")
def test_an_unknown_topic_with_an_unknown_default_does_not_exist(
    broker: Client, unique: Any
) -> None:
    response = broker.send_message(
        topic=unique("t"), default_topic=unique("no_default")
    )
    code = ResponseCode.TOPIC_NOT_EXIST
    expect_refused_topic("SEND-TOPIC-007", broker, response, code)


@pytest.mark.clause("SEND-TOPIC-007")
def test_a_topic_that_may_not_be_inherited_is_no_default(
    broker: Client, topic: str, unique: Any
) -> None:
    response = broker.send_message(topic=unique("heir"), default_topic=topic)
    code = ResponseCode.TOPIC_NOT_EXIST
    expect_refused_topic("SEND-TOPIC-007", broker, response, code)


@pytest.mark.settings(autoCreateTopicEnable="true")
@pytest.mark.clause("SEND-TOPIC-008")
def test_any_characters_are_taken_in_a_topic(broker: Client, unique: Any) -> None:
    codes = [broker.send_message(topic=unique("a b$")).code for _ in range(2)]
    expect(
        "SEND-TOPIC-008",
        found=codes,
        expected=[0, 0],
        what="codes",
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-TOPIC-009")
@pytest.mark.parametrize("name", ["a b", "a$b", "a.b", "中文", ""])
def test_other_characters_are_refused_in_a_topic(broker: Client, name: str) -> None:
    code = broker.send_message(topic=name).code
    refused = code != ResponseCode.SUCCESS
    expect_that(
        "SEND-TOPIC-009",
        refused,
        found=code,
        expected="an error",
        what="code",
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-TOPIC-010")
def test_the_default_topic_takes_no_messages(broker: Client) -> None:
    expect(
        "SEND-TOPIC-010",
        found=broker.send_message(topic="TBW102").code,
        expected=ResponseCode.SYSTEM_ERROR,
        what="code",
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-TOPIC-017")
def test_the_topic_of_delayed_messages_takes_none(broker: Client) -> None:
    response = broker.send_message(topic=SCHEDULE_TOPIC)
    expect_code(
        "SEND-TOPIC-017", response, ResponseCode.NO_PERMISSION, broker.transcript
    )


@pytest.mark.clause("SEND-TOPIC-018")
@pytest.mark.parametrize("topic", CLOSED_TOPICS)
def test_other_system_topics_take_no_messages(broker: Client, topic: str) -> None:
    response = broker.send_message(topic=topic)
    expect_code(
        "SEND-TOPIC-018", response, ResponseCode.NO_PERMISSION, broker.transcript
    )


@pytest.mark.clause("SEND-PERM-001")
def test_a_topic_without_write_permission_is_written_to(
    target: Target, broker: Client, unique: Any
) -> None:
    topic = unique("read_only")
    create_topic(target, topic, permissions=4)
    expect(
        "SEND-PERM-001",
        found=broker.send_message(topic=topic).code,
        expected=ResponseCode.SUCCESS,
        what="code",
        transcript=broker.transcript,
    )
