"""Sizes: the largest body, properties and topic that are taken, and one byte more."""

from __future__ import annotations

import pytest

from conformance.harness.client.client import Client, batch_body, require_success
from conformance.harness.pytest_plugin.expectations import expect, expect_code
from conformance.harness.pytest_plugin.fixtures import create_topic
from conformance.harness.targets.shared_target import SharedTarget
from conformance.messaging.send.refused_topic import expect_refused_topic
from conformance.messaging.stored_messages import record_of
from spec.store.message_record import record_size
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode

MESSAGE_SIZE_MAX = 4_194_304
PROPERTIES_SIZE_MAX = 32_767

ILLEGAL = ResponseCode.MESSAGE_ILLEGAL


def codes_of(broker: Client, topic: str, sizes: list[int]) -> list[int]:
    """Return the codes of the responses to sends of bodies of *sizes*."""
    return [
        broker.send_message(topic=topic, body=b"b" * size, timeout_s=15).code
        for size in sizes
    ]


@pytest.mark.settings(maxMessageSize=str(MESSAGE_SIZE_MAX))
@pytest.mark.clause("SEND-BODY-004")
def test_a_record_of_the_largest_size_is_taken(broker: Client, topic: str) -> None:
    probe = record_of(broker, broker.send_message(topic=topic, body=b"b"))
    room = MESSAGE_SIZE_MAX - (record_size(probe) - 1)
    expect(
        "SEND-BODY-004",
        found=codes_of(broker, topic, [room, room + 1]),
        expected=[ResponseCode.SUCCESS, ILLEGAL],
        what=f"codes for bodies of {room} and {room + 1} bytes",
        transcript=broker.transcript,
    )


@pytest.mark.settings(maxMessageSize=str(MESSAGE_SIZE_MAX))
@pytest.mark.clause("SEND-BODY-005")
def test_a_body_of_the_largest_size_is_taken(broker: Client, topic: str) -> None:
    sizes = [MESSAGE_SIZE_MAX, MESSAGE_SIZE_MAX + 1]
    expect(
        "SEND-BODY-005",
        found=codes_of(broker, topic, sizes),
        expected=[ResponseCode.SUCCESS, ILLEGAL],
        what=f"codes for bodies of {sizes[0]} and {sizes[1]} bytes",
        transcript=broker.transcript,
    )


@pytest.mark.settings(maxMessageSize=str(MESSAGE_SIZE_MAX))
@pytest.mark.clause("SEND-BODY-001")
def test_a_body_of_four_million_bytes_arrives(broker: Client, topic: str) -> None:
    body = bytes(range(256)) * 15_625
    response = broker.send_message(topic=topic, body=body, timeout_s=15)
    found = record_of(broker, response).body
    expect(
        "SEND-BODY-001",
        found=found == body,
        expected=True,
        what="equal bodies",
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-BODY-002")
def test_an_empty_body_is_taken(broker: Client, topic: str) -> None:
    response = broker.send_message(topic=topic, body=b"")
    expect_code("SEND-BODY-002", response, ResponseCode.SUCCESS, broker.transcript)
    found = record_of(broker, response).body
    expect(
        "SEND-BODY-002",
        found=found,
        expected=b"",
        what="body",
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-BODY-003")
def test_an_empty_body_is_refused(broker: Client, topic: str) -> None:
    response = broker.send_message(topic=topic, body=b"")
    refused = response.code != ResponseCode.SUCCESS
    expect(
        "SEND-BODY-003",
        found=refused,
        expected=True,
        what="whether it was refused",
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-PROPS-002")
def test_properties_of_the_largest_size_are_taken(broker: Client, topic: str) -> None:
    own = {"UNIQ_KEY": "u" * 32, "p": "v"}
    probe = record_of(broker, broker.send_message(topic=topic, properties=own))
    room = PROPERTIES_SIZE_MAX - (len(probe.properties) - 1)
    responses = [
        broker.send_message(topic=topic, properties={**own, "p": "v" * size})
        for size in (room, room + 1)
    ]
    expect(
        "SEND-PROPS-002",
        found=[response.code for response in responses],
        expected=[ResponseCode.SUCCESS, ILLEGAL],
        what="codes for properties of 32767 and 32768 bytes",
        transcript=broker.transcript,
    )
    size = len(record_of(broker, responses[0]).properties)
    expect(
        "SEND-PROPS-002",
        found=size,
        expected=PROPERTIES_SIZE_MAX,
        what="size",
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-TOPIC-001")
def test_a_topic_of_127_characters_is_taken(
    broker: Client, target: SharedTarget, topic: str
) -> None:
    name = create_topic(target, topic.ljust(127, "t"))
    response = require_success(broker.send_message(topic=name))
    found = record_of(broker, response).topic
    expect(
        "SEND-TOPIC-001",
        found=found,
        expected=name,
        what="topic",
        transcript=broker.transcript,
    )


def _send_to_long_topic(broker: Client, topic: str, size: int) -> Command:
    return broker.send_message(topic=topic.ljust(size, "t"))


@pytest.mark.settings(autoCreateTopicEnable="true")
@pytest.mark.clause("SEND-TOPIC-002")
@pytest.mark.parametrize("size", [128, 255, 256, 1000])
def test_a_longer_topic_is_illegal(broker: Client, topic: str, size: int) -> None:
    response = _send_to_long_topic(broker, topic, size)
    expect_refused_topic("SEND-TOPIC-002", broker, response, ILLEGAL)


@pytest.mark.settings(autoCreateTopicEnable="true")
@pytest.mark.clause("SEND-TOPIC-003")
@pytest.mark.parametrize("size", [128, 256, 1000])
def test_a_longer_topic_is_an_error(broker: Client, topic: str, size: int) -> None:
    response = _send_to_long_topic(broker, topic, size)
    expect_refused_topic("SEND-TOPIC-003", broker, response, ResponseCode.SYSTEM_ERROR)


@pytest.mark.settings(autoCreateTopicEnable="true")
@pytest.mark.clause("SEND-TOPIC-004")
@pytest.mark.parametrize("size", [128, 256, 1000])
def test_a_longer_topic_is_no_parameter(broker: Client, topic: str, size: int) -> None:
    response = _send_to_long_topic(broker, topic, size)
    expect_refused_topic(
        "SEND-TOPIC-004", broker, response, ResponseCode.INVALID_PARAMETER
    )


def _send_too_large_a_batch(broker: Client, topic: str) -> int:
    body = batch_body([(b"b" * 2_097_152, {}), (b"b" * 2_097_152, {})])
    return broker.send_batch(topic=topic, body=body).code


@pytest.mark.clause("SEND-BATCH-004")
def test_a_batch_that_is_too_large_is_illegal(broker: Client, topic: str) -> None:
    found = _send_too_large_a_batch(broker, topic)
    expect(
        "SEND-BATCH-004",
        found=found,
        expected=ILLEGAL,
        what="code",
        transcript=broker.transcript,
    )
    first = require_success(broker.send_message(topic=topic)).fields["queueOffset"]
    expect(
        "SEND-BATCH-004",
        found=first,
        expected="0",
        what="queueOffset afterwards",
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-BATCH-005")
def test_a_batch_that_is_too_large_is_an_error(broker: Client, topic: str) -> None:
    found = _send_too_large_a_batch(broker, topic)
    expected = ResponseCode.SYSTEM_ERROR
    expect(
        "SEND-BATCH-005",
        found=found,
        expected=expected,
        what="code",
        transcript=broker.transcript,
    )
    first = require_success(broker.send_message(topic=topic)).fields["queueOffset"]
    expect(
        "SEND-BATCH-005",
        found=first,
        expected="0",
        what="queueOffset afterwards",
        transcript=broker.transcript,
    )
