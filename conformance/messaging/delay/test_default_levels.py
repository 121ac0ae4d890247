"""Delays and retries at the default levels, at any broker that has them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pytest

from conformance.harness.blocked.skips import blocked
from conformance.harness.client.client import Client, require_success
from conformance.harness.process.deadline import TooLateError, wait_until
from conformance.harness.pytest_plugin.expectations import expect, expect_fields
from conformance.harness.pytest_plugin.fixtures import create_group
from conformance.harness.targets.target import Target
from conformance.messaging.stored_messages import (
    record_of,
    records_from,
    records_of,
    send_bodies,
)
from spec.store.message_record import Record
from spec.wire.message.delay_levels import level_of_queue
from spec.wire.message.properties import decode_properties
from spec.wire.message.system_topics import real_place
from spec.wire.message.topic_names import DLQ_PREFIX, RETRY_PREFIX, SCHEDULE_TOPIC
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode

DEFAULT_LEVELS = "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h"
DELAYS_MS = {1: 1000, 2: 5000}
TICK_MS = 200
"""Delivery may begin a little early: the schedule has a tick."""
PATIENCE_S = 20.0
PER_LEVEL = 3

pytestmark = [pytest.mark.long, pytest.mark.settings(messageDelayLevel=DEFAULT_LEVELS)]


def send_later(broker: Client, topic: str, level: int, body: bytes) -> Command:
    """Send a message of a delay level, and return the response."""
    return require_success(
        broker.send_message(topic=topic, body=body, properties={"DELAY": str(level)})
    )


def wait_for_records(broker: Client, topic: str, count: int) -> list[Record]:
    """Return the records of queue 0 of *topic*, once there are *count*, or too few."""
    found: list[Record] = []

    def has_all() -> bool:
        pulled = broker.pull(topic=topic, offset=len(found))
        if pulled.code == ResponseCode.SUCCESS:
            found.extend(records_of(pulled))
        return len(found) >= count

    with suppress(TooLateError):
        wait_until(has_all, what=f"{count} messages in {topic}", timeout_s=PATIENCE_S)
    return found


def sent_back(
    broker: Client, group: str, topic: str, record: Record, *, level: int, most: int
) -> None:
    """Send a message back with a delay level and a maximum of retries."""
    require_success(
        broker.send_back(
            group=group,
            commit_log_offset=record.physical_offset,
            delay_level=level,
            origin_topic=topic,
            max_reconsume_times=most,
        )
    )


def stored_after(target: Target, record: Record, topic: str) -> Iterator[Record]:
    """Yield the records behind *record* in the commit log that are for *topic*."""
    with target.connect_for_admin() as client:
        for other in list(records_from(client, record.physical_offset))[1:]:
            properties = decode_properties(other.properties)
            is_delayed = other.topic == SCHEDULE_TOPIC
            if (real_place(properties).topic if is_delayed else other.topic) == topic:
                yield other


@pytest.mark.clause("DELAY-LEVEL-005")
def test_each_level_has_its_queue(broker: Client, topic: str) -> None:
    levels = range(1, len(DEFAULT_LEVELS.split()) + 1)
    found = {
        level: (record.topic, record.queue_id)
        for level in levels
        for record in [record_of(broker, send_later(broker, topic, level, b"waits"))]
    }
    expect(
        "DELAY-LEVEL-005",
        found=found,
        expected={level: (SCHEDULE_TOPIC, level - 1) for level in levels},
        what="topic and queue of the record, by level",
        transcript=broker.transcript,
    )


@pytest.mark.clause("DELAY-LEVEL-006", "DELAY-SEND-006")
def test_messages_of_a_level_come_once_and_in_order(broker: Client, topic: str) -> None:
    last = send_later(broker, topic, 2, b"last")
    responses = [send_later(broker, topic, 1, b"%d" % n) for n in range(PER_LEVEL)]
    waiting = [record_of(broker, response) for response in (*responses, last)]
    came = wait_for_records(broker, topic, PER_LEVEL + 1)
    expect(
        "DELAY-SEND-006",
        found=[record.body for record in came],
        expected=[*(b"%d" % n for n in range(PER_LEVEL)), b"last"],
        what="bodies of level 1, and of level 2, four seconds later",
        transcript=broker.transcript,
    )
    early = {
        after.body: after.stored_at_ms - before.stored_at_ms
        for before, after in zip(waiting, came, strict=True)
        if after.stored_at_ms - before.stored_at_ms
        < DELAYS_MS[level_of_queue(before.queue_id)] - TICK_MS
    }
    expect(
        "DELAY-LEVEL-006",
        found=early,
        expected={},
        what="ms until delivery",
        transcript=broker.transcript,
    )


@pytest.mark.clause("RETRY-SENDBACK-004", "RETRY-SENDBACK-005", "RETRY-SENDBACK-001")
def test_a_second_retry_waits_longer_and_keeps_its_origin(
    target: Target, broker: Client, topic: str, known_group: str
) -> None:
    retry_topic = RETRY_PREFIX + known_group
    response = send_bodies(broker, topic, [b"try again"])[0]
    first = record_of(broker, response)
    sent_back(broker, known_group, topic, first, level=1, most=16)
    came = wait_for_records(broker, retry_topic, 1)
    times = [record.reconsume_times for record in came]
    expect(
        "RETRY-SENDBACK-001",
        found=times,
        expected=[1],
        what="reconsumeTimes",
        transcript=broker.transcript,
    )
    sent_back(broker, known_group, retry_topic, came[0], level=0, most=16)
    waiting = list(stored_after(target, came[0], retry_topic))
    expect(
        "RETRY-SENDBACK-004",
        found=[(one.topic, one.queue_id, one.reconsume_times) for one in waiting],
        expected=[(SCHEDULE_TOPIC, 3, 2)],
        what="topic, queue and reconsumeTimes of the second retry",
        transcript=broker.transcript,
    )
    expect_fields(
        "RETRY-SENDBACK-005",
        found=decode_properties(waiting[0].properties),
        expected={"RETRY_TOPIC": topic, "ORIGIN_MESSAGE_ID": response.fields["msgId"]},
        transcript=broker.transcript,
    )


@pytest.mark.clause("RETRY-SENDBACK-008")
def test_a_group_without_retry_queues_gets_nothing_back(
    target: Target, broker: Client, topic: str, group: str
) -> None:
    create_group(target, group, retryQueueNums=0)
    first = record_of(broker, send_bodies(broker, topic, [b"in vain"])[0])
    response = broker.send_back(
        group=group,
        commit_log_offset=first.physical_offset,
        delay_level=1,
        origin_topic=topic,
        max_reconsume_times=16,
    )
    stored = stored_after(target, first, RETRY_PREFIX + group)
    expect(
        "RETRY-SENDBACK-008",
        found=(response.code, [one.topic for one in stored]),
        expected=(ResponseCode.SUCCESS, []),
        what="code, and topics of the records for the group's retry topic",
        transcript=broker.transcript,
    )


@pytest.mark.parametrize(
    "waits_again",
    [
        pytest.param(True, marks=pytest.mark.clause("RETRY-DLQ-004")),
        pytest.param(False, marks=pytest.mark.clause("RETRY-DLQ-005")),
    ],
)
def test_a_message_that_was_delayed_becomes_a_dead_letter(
    target: Target, broker: Client, topic: str, known_group: str, waits_again: bool
) -> None:
    dead_letters = DLQ_PREFIX + known_group
    send_later(broker, topic, 1, b"hopeless")
    came = wait_for_records(broker, topic, 1)
    if not came:
        blocked("blocked by DELAY-SEND-001: a delayed message is not delivered")
    sent_back(broker, known_group, topic, came[0], level=0, most=0)
    stored = stored_after(target, came[0], dead_letters)
    expect(
        "RETRY-DLQ-004" if waits_again else "RETRY-DLQ-005",
        found=[(one.topic, one.queue_id) for one in stored],
        expected=[(SCHEDULE_TOPIC if waits_again else dead_letters, 0)],
        what="topic and queue of the records of the dead letter",
        transcript=broker.transcript,
    )
