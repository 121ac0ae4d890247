"""The header of a send, spelt by hand, and what a topic's settings make of it."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.harness.client.client import (
    Client,
    batch_body,
    plain_send,
    request,
    require_success,
)
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_code,
    expect_fields,
)
from conformance.harness.pytest_plugin.fixtures import create_topic
from conformance.harness.targets.target import Target
from conformance.messaging.stored_messages import flags_of_sender, record_of, topic_of
from spec.store.message_record import SystemFlag
from spec.wire.message.delay_levels import DEFAULT_DELAY_LEVELS
from spec.wire.message.properties import decode_properties
from spec.wire.remoting.response_code import ResponseCode

SCHEDULE_TOPIC = "SCHEDULE_TOPIC_XXXX"
LEVELS = 18


@pytest.mark.clause("SEND-HEADER-003", "SEND-HEADER-004")
def test_letters_and_codes_are_these(broker: Client, topic: str) -> None:
    letters = {
        "a": "a_group",
        "b": topic,
        "c": "TBW102",
        "d": "4",
        "e": "2",
        "f": "1",
        "g": "77",
        "h": "-5",
        "i": "TAGS\x01t\x02",
        "j": "6",
        "k": "false",
        "l": "16",
        "m": "false",
    }
    record = record_of(broker, broker.peer.request(request(310, {**letters}, b"body")))
    expect_fields(
        "SEND-HEADER-004",
        found={
            "topic": record.topic,
            "queue_id": record.queue_id,
            "system_flags": flags_of_sender(record),
            "born_at_ms": record.born_at_ms,
            "flag": record.flag,
            "TAGS": decode_properties(record.properties).get("TAGS"),
            "reconsume_times": record.reconsume_times,
            "body": record.body,
        },
        expected={
            "topic": topic,
            "queue_id": 2,
            "system_flags": 1,
            "born_at_ms": 77,
            "flag": -5,
            "TAGS": "t",
            "reconsume_times": 6,
            "body": b"body",
        },
        transcript=broker.transcript,
    )
    batch = request(320, {**letters, "f": "0", "m": "true"}, batch_body([(b"b", {})]))
    for response in (
        broker.peer.request(batch),
        broker.peer.request(plain_send(topic, queueId=2)),
    ):
        expect(
            "SEND-HEADER-003",
            found=response.code,
            expected=0,
            what="code",
            transcript=broker.transcript,
        )


@pytest.mark.clause("SEND-FLAG-003")
@pytest.mark.parametrize(("kind", "bit"), [("MULTI_TAG", 2), ("SINGLE_TAG", 0)])
def test_a_topic_of_many_tags_marks_its_messages(
    target: Target, broker: Client, unique: Any, kind: str, bit: int
) -> None:
    topic = unique("tags")
    create_topic(target, topic, filter_type=kind)
    record = record_of(broker, broker.send_message(topic=topic))
    found = record.system_flags & SystemFlag.MULTI_TAGS
    expect(
        "SEND-FLAG-003",
        found=found,
        expected=bit,
        what="bit 1 of the flags",
        transcript=broker.transcript,
    )


@pytest.mark.settings(autoCreateTopicEnable="true")
@pytest.mark.clause("SEND-TOPIC-011", "SEND-TOPIC-012")
@pytest.mark.parametrize(("prefix", "unit", "flags"), [("", 0, 0), ("", 1, 1)])
def test_a_created_topic_is_like_its_default(
    broker: Client, unique: Any, prefix: str, unit: int, flags: int
) -> None:
    name = prefix + unique("created")
    response = broker.peer.request(plain_send(name, unitMode=bool(unit)))
    expect_code("SEND-TOPIC-005", response, ResponseCode.SUCCESS, broker.transcript)
    topic = topic_of(broker, name)
    default = topic_of(broker, "TBW102")
    expect(
        "SEND-TOPIC-011",
        found=(topic.permission, topic.filter_type),
        expected=(default.permission & ~1, default.filter_type),
        what="permission and filter type",
        transcript=broker.transcript,
    )
    expect(
        "SEND-TOPIC-012",
        found=topic.topic_flags,
        expected=flags,
        what="flags",
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-TOPIC-012")
@pytest.mark.parametrize(("unit", "flags"), [(True, 2), (False, 0)])
def test_a_retry_topic_of_a_unit_is_marked(
    broker: Client, known_group: str, unit: bool, flags: int
) -> None:
    name = f"%RETRY%{known_group}"
    require_success(
        broker.peer.request(plain_send(name, unitMode=unit, maxReconsumeTimes=16))
    )
    found = topic_of(broker, name).topic_flags
    expect(
        "SEND-TOPIC-012",
        found=found,
        expected=flags,
        what="flags of the retry topic",
        transcript=broker.transcript,
    )


@pytest.mark.settings(messageDelayLevel=DEFAULT_DELAY_LEVELS)
@pytest.mark.clause("DELAY-LEVEL-002")
@pytest.mark.parametrize("level", [LEVELS, LEVELS + 1, 1000])
def test_no_delay_is_longer_than_the_last_level(
    broker: Client, topic: str, level: int
) -> None:
    response = broker.send_message(topic=topic, properties={"DELAY": str(level)})
    record = record_of(broker, response)
    expect_fields(
        "DELAY-LEVEL-002",
        found={
            "topic": record.topic,
            "queue_id": record.queue_id,
            "DELAY": decode_properties(record.properties).get("DELAY"),
        },
        expected={
            "topic": SCHEDULE_TOPIC,
            "queue_id": LEVELS - 1,
            "DELAY": str(LEVELS),
        },
        transcript=broker.transcript,
    )


@pytest.mark.clause("DELAY-LEVEL-003")
@pytest.mark.parametrize("level", ["0", "-1"])
def test_no_level_is_no_delay(broker: Client, topic: str, level: str) -> None:
    response = broker.send_message(topic=topic, properties={"DELAY": level})
    record = record_of(broker, response)
    expect(
        "DELAY-LEVEL-003",
        found=record.topic,
        expected=topic,
        what="topic",
        transcript=broker.transcript,
    )


@pytest.mark.clause("DELAY-SEND-005")
@pytest.mark.parametrize("flags", [4, 12])
def test_what_is_not_consumed_is_not_delayed(
    broker: Client, topic: str, flags: int
) -> None:
    response = broker.send_message(
        topic=topic, properties={"DELAY": "1"}, system_flags=flags
    )
    record = record_of(broker, response)
    expect(
        "DELAY-SEND-005",
        found=record.topic,
        expected=topic,
        what="topic",
        transcript=broker.transcript,
    )
