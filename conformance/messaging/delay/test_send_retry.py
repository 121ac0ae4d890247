"""Messages to retry topics: counted, and given up when they came too often."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from conformance.harness.blocked.skips import blocked
from conformance.harness.client.client import Client, plain_send, require_success
from conformance.harness.failure.failure import record_evidence
from conformance.harness.pytest_plugin.expectations import expect, expect_fields
from conformance.harness.pytest_plugin.fixtures import create_group, create_topic
from conformance.harness.targets.target import Target
from conformance.messaging.stored_messages import record_of, topic_of
from spec.wire.remoting.response_code import ResponseCode

MAX_RECONSUME_TIMES_SINCE = 121

MOST = 3
STORED_QUEUE = "queue id of the stored record"


def stored_topics(broker: Client, group: str, times: list[int]) -> list[str]:
    """Return the topics in which messages of so many deliveries were stored."""
    responses = [
        broker.send_message(
            topic=f"%RETRY%{group}", reconsume_times=n, max_reconsume_times=MOST
        )
        for n in times
    ]
    return [record_of(broker, response).topic for response in responses]


def need_retries(broker: Client, group: str) -> None:
    """End the test where also the first retry of a message is a dead letter."""
    (stored_in,) = stored_topics(broker, group, [0])
    if stored_in == f"%DLQ%{group}":
        blocked(f"blocked by SEND-RETRY-004: a first retry is stored in {stored_in}")


@pytest.mark.clause("SEND-RETRY-003")
def test_as_many_deliveries_as_allowed_make_a_dead_letter(
    broker: Client, known_group: str
) -> None:
    retry, dead = f"%RETRY%{known_group}", f"%DLQ%{known_group}"
    expect(
        "SEND-RETRY-003",
        found=stored_topics(broker, known_group, [0, MOST - 1, MOST, MOST + 1]),
        expected=[retry, retry, dead, dead],
        what="topics of the records",
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-RETRY-004")
def test_more_deliveries_than_allowed_make_a_dead_letter(
    broker: Client, known_group: str
) -> None:
    retry, dead = f"%RETRY%{known_group}", f"%DLQ%{known_group}"
    expect(
        "SEND-RETRY-004",
        found=stored_topics(broker, known_group, [0, MOST, MOST + 1]),
        expected=[retry, retry, dead],
        what="topics of the records",
        transcript=broker.transcript,
    )


def expect_first_queue(clause: str, target: Target, broker: Client, group: str) -> None:
    """Fail *clause* unless a dead letter sent to queue 3 is stored in queue 0."""
    retry = f"%RETRY%{group}"
    create_topic(target, retry)
    response = broker.send_message(
        topic=retry, queue_id=3, reconsume_times=MOST + 1, max_reconsume_times=MOST
    )
    record = record_of(broker, response)
    expect_fields(
        clause,
        found={"topic": record.topic, STORED_QUEUE: record.queue_id},
        expected={"topic": f"%DLQ%{group}", STORED_QUEUE: 0},
        transcript=broker.transcript,
        evidence=record_evidence(record, "queue_id"),
    )


@pytest.mark.clause("SEND-RETRY-003")
def test_a_dead_letter_is_in_queue_0(
    target: Target, broker: Client, known_group: str
) -> None:
    expect_first_queue("SEND-RETRY-003", target, broker, known_group)


@pytest.mark.clause("SEND-RETRY-004")
def test_a_later_dead_letter_is_in_queue_0(
    target: Target, broker: Client, known_group: str
) -> None:
    expect_first_queue("SEND-RETRY-004", target, broker, known_group)


@pytest.mark.clause("SEND-RETRY-005")
def test_a_dead_letter_is_answered_with_the_queue_asked_for(
    target: Target, broker: Client, known_group: str
) -> None:
    retry = f"%RETRY%{known_group}"
    create_topic(target, retry)
    response = broker.send_message(
        topic=retry, queue_id=3, reconsume_times=MOST + 1, max_reconsume_times=MOST
    )
    record = record_of(broker, response)
    expect_fields(
        "SEND-RETRY-005",
        found={
            "queueId": response.fields["queueId"],
            "queueOffset": response.fields["queueOffset"],
            "topic": record.topic,
        },
        expected={
            "queueId": "3",
            "queueOffset": str(record.queue_offset),
            "topic": f"%DLQ%{known_group}",
        },
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-RETRY-006")
def test_old_clients_retry_as_often_as_their_group(
    target: Target, broker: Client, group: str
) -> None:
    create_group(target, group, retryMaxTimes=2)
    need_retries(broker, group)
    topics = []
    for version in (MAX_RECONSUME_TIMES_SINCE - 1, MAX_RECONSUME_TIMES_SINCE):
        sent = plain_send(f"%RETRY%{group}", reconsumeTimes=5, maxReconsumeTimes=16)
        response = broker.peer.request(replace(sent, version=version))
        topics.append(record_of(broker, response).topic)
    expect(
        "SEND-RETRY-006",
        found=topics,
        expected=[f"%DLQ%{group}", f"%RETRY%{group}"],
        what=f"topics for the versions below {MAX_RECONSUME_TIMES_SINCE} and that one",
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-RETRY-007")
def test_a_retry_without_a_count_is_refused(broker: Client, known_group: str) -> None:
    response = broker.send_message(topic=f"%RETRY%{known_group}")
    expect(
        "SEND-RETRY-007",
        found=response.code,
        expected=ResponseCode.SYSTEM_ERROR,
        what="code",
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-RETRY-008")
def test_a_retry_without_a_count_is_given_the_groups(
    target: Target, broker: Client, group: str
) -> None:
    create_group(target, group, retryMaxTimes=2)
    need_retries(broker, group)
    responses = [
        broker.send_message(topic=f"%RETRY%{group}", reconsume_times=times)
        for times in (1, 3)
    ]
    expect(
        "SEND-RETRY-008",
        found=[record_of(broker, response).topic for response in responses],
        expected=[f"%RETRY%{group}", f"%DLQ%{group}"],
        what="topics of the records",
        transcript=broker.transcript,
    )


def _permission_of_dead_letters(broker: Client, group: str, clause: str) -> int:
    stored_topics(broker, group, [MOST + 1])
    topic = topic_of(broker, f"%DLQ%{group}")
    expect(
        clause,
        found=(topic.read_queue_count, topic.write_queue_count),
        expected=(1, 1),
        what="read and write queues",
        transcript=broker.transcript,
    )
    return topic.permission


@pytest.mark.clause("RETRY-DLQ-002")
def test_dead_letters_cannot_be_read(broker: Client, known_group: str) -> None:
    found = _permission_of_dead_letters(broker, known_group, "RETRY-DLQ-002")
    expect(
        "RETRY-DLQ-002",
        found=found,
        expected=2,
        what="permission",
        transcript=broker.transcript,
    )


@pytest.mark.clause("RETRY-DLQ-003")
def test_dead_letters_can_be_read(broker: Client, known_group: str) -> None:
    found = _permission_of_dead_letters(broker, known_group, "RETRY-DLQ-003")
    expect(
        "RETRY-DLQ-003",
        found=found,
        expected=6,
        what="permission",
        transcript=broker.transcript,
    )


@pytest.mark.clause("SEND-TOPIC-016")
def test_a_retry_topic_needs_no_default(
    broker: Client, known_group: str, unique: Any
) -> None:
    name = f"%RETRY%{known_group}"
    response = broker.send_message(
        topic=name, default_topic=unique("nothing"), max_reconsume_times=MOST
    )
    require_success(response)
    topic = topic_of(broker, name)
    expect(
        "SEND-TOPIC-016",
        found=(topic.write_queue_count, topic.permission),
        expected=(1, 6),
        what="queues and permission",
        transcript=broker.transcript,
    )
