"""Messages that come later: delayed by their producer, or sent back by a consumer."""

from __future__ import annotations

import pytest

from conformance.harness.blocked.skips import blocked
from conformance.harness.client.client import Client, require_success
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_code,
    expect_fields,
    expect_that,
)
from conformance.messaging.stored_messages import (
    offset_of,
    record_of,
    records_of,
    send_bodies,
)
from spec.store.message_record import Record
from spec.wire.message.properties import decode_properties
from spec.wire.remoting.response_code import ResponseCode

LEVEL_1_MS = 1000
TICK_MS = 200
"""Delivery may begin a little early: the schedule has a tick."""


def wait_for_record(broker: Client, topic: str, *, queue_count: int = 1) -> Record:
    """Wait for the first message of any queue of *topic*, and return its record."""
    found: list[Record] = []

    def look() -> bool:
        for queue_id in range(queue_count):
            response = broker.pull(topic=topic, queue_id=queue_id, offset=0)
            if response.code == ResponseCode.SUCCESS:
                found.extend(records_of(response))
        return bool(found)

    wait_until(look, what=f"a message arrives in {topic}", timeout_s=15)
    return found[0]


@pytest.mark.clause("DELAY-SEND-001", "DELAY-SEND-003", "DELAY-SEND-004")
def test_a_delayed_message_comes_when_its_time_has_come(
    broker: Client, topic: str
) -> None:
    sent = {"DELAY": "1", "KEYS": "k", "TAGS": "t", "own": "é", "UNIQ_KEY": "U" * 32}
    response = broker.send_message(
        topic=topic, queue_id=2, body=b"later", properties=sent, flag=7, born_at_ms=99
    )
    waiting = record_of(broker, response)
    broker.wait_for_max_offset(topic=topic, queue_id=2, offset=1)
    record = records_of(broker.pull(topic=topic, queue_id=2, offset=0))[0]
    expect_fields(
        "DELAY-SEND-001",
        found={"body": record.body, "topic": record.topic, "flag": record.flag},
        expected={"body": b"later", "topic": topic, "flag": 7},
        transcript=broker.transcript,
    )
    own = {name: sent[name] for name in ("KEYS", "TAGS", "own", "UNIQ_KEY")}
    properties = decode_properties(record.properties)
    expect_fields(
        "DELAY-SEND-001",
        found=properties,
        expected=own,
        transcript=broker.transcript,
    )
    expect_fields(
        "DELAY-SEND-003",
        found=properties,
        expected={"REAL_TOPIC": topic, "REAL_QID": "2"},
        transcript=broker.transcript,
    )
    expect_fields(
        "DELAY-SEND-004",
        found={"born_at_ms": record.born_at_ms, "born_host": record.born_host},
        expected={"born_at_ms": 99, "born_host": waiting.born_host},
        transcript=broker.transcript,
    )
    waited_ms = record.stored_at_ms - waiting.stored_at_ms
    expect_that(
        "DELAY-SEND-001",
        waited_ms >= LEVEL_1_MS - TICK_MS,
        found=waited_ms,
        expected=f"about {LEVEL_1_MS} or more",
        what="milliseconds between the two store times",
        transcript=broker.transcript,
    )


@pytest.mark.clause("DELAY-SEND-002")
def test_a_delivered_message_still_says_how_it_was_delayed(
    broker: Client, topic: str
) -> None:
    require_success(broker.send_message(topic=topic, properties={"DELAY": "1"}))
    record = wait_for_record(broker, topic)
    found = decode_properties(record.properties).get("DELAY")
    expect(
        "DELAY-SEND-002",
        found=found,
        expected="1",
        what="DELAY",
        transcript=broker.transcript,
    )


@pytest.mark.clause("RETRY-SENDBACK-001", "RETRY-SENDBACK-002")
def test_a_message_sent_back_comes_again(
    broker: Client, topic: str, known_group: str
) -> None:
    first = send_bodies(broker, topic, [b"try again"])[0]
    place = offset_of(first)
    require_success(
        broker.send_back(
            group=known_group,
            commit_log_offset=place,
            delay_level=1,
            origin_topic=topic,
            max_reconsume_times=16,
        )
    )
    record = wait_for_record(broker, f"%RETRY%{known_group}")
    expect_fields(
        "RETRY-SENDBACK-001",
        found={"body": record.body, "reconsume_times": record.reconsume_times},
        expected={"body": b"try again", "reconsume_times": 1},
        transcript=broker.transcript,
    )
    expect_fields(
        "RETRY-SENDBACK-002",
        found=decode_properties(record.properties),
        expected={"RETRY_TOPIC": topic, "ORIGIN_MESSAGE_ID": first.fields["msgId"]},
        transcript=broker.transcript,
    )


@pytest.mark.clause("RETRY-SENDBACK-006")
def test_a_retry_message_without_origin_can_be_sent_back(
    broker: Client, known_group: str
) -> None:
    retry_topic = f"%RETRY%{known_group}"
    first = require_success(
        broker.send_message(
            topic=retry_topic, body=b"no origin", max_reconsume_times=16
        )
    )
    if (stored_in := record_of(broker, first).topic) != retry_topic:
        blocked(f"blocked by SEND-RETRY-004: the message is stored in {stored_in}")
    sent_back = broker.send_back(
        group=known_group,
        commit_log_offset=offset_of(first),
        delay_level=1,
        origin_topic=retry_topic,
        max_reconsume_times=16,
    )
    expect_code(
        "RETRY-SENDBACK-006", sent_back, ResponseCode.SUCCESS, broker.transcript
    )
    broker.wait_for_max_offset(topic=retry_topic, offset=2)
    record = records_of(broker.pull(topic=retry_topic, offset=1))[0]
    found = decode_properties(record.properties)
    expected = {"RETRY_TOPIC": retry_topic, "ORIGIN_MESSAGE_ID": first.fields["msgId"]}
    expect_fields(
        "RETRY-SENDBACK-006",
        found=found,
        expected=expected,
        transcript=broker.transcript,
    )


@pytest.mark.clause("RETRY-SENDBACK-003")
def test_nothing_cannot_be_sent_back(broker: Client, known_group: str) -> None:
    response = broker.send_back(
        group=known_group, commit_log_offset=2**40, max_reconsume_times=16
    )
    expect_code(
        "RETRY-SENDBACK-003", response, ResponseCode.SYSTEM_ERROR, broker.transcript
    )


@pytest.mark.clause("RETRY-DLQ-001")
@pytest.mark.parametrize(("level", "most"), [(-1, 16), (1, 0)])
def test_a_message_that_is_given_up_goes_to_the_dead_letters(
    broker: Client, topic: str, known_group: str, level: int, most: int
) -> None:
    first = send_bodies(broker, topic, [b"hopeless"])[0]
    require_success(
        broker.send_back(
            group=known_group,
            commit_log_offset=offset_of(first),
            delay_level=level,
            origin_topic=topic,
            max_reconsume_times=most,
        )
    )
    dead_letters = f"%DLQ%{known_group}"
    broker.wait_for_max_offset(topic=dead_letters, offset=1)
    found = require_success(broker.max_offset(topic=dead_letters)).fields["offset"]
    expect(
        "RETRY-DLQ-001",
        found=found,
        expected="1",
        what="dead letters",
        transcript=broker.transcript,
    )
