"""A pull from an offset that is not there leaves an event that tools read."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from conformance.harness.client.client import Client, require_success
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import expect, expect_code
from conformance.harness.targets.shared_target import SharedTarget
from conformance.messaging.stored_messages import records_of, send_bodies
from spec.store.message_record import Record
from spec.wire.bodies.fastjson import loads
from spec.wire.message.properties import decode_properties
from spec.wire.remoting.response_code import ResponseCode

EVENTS = "OFFSET_MOVED_EVENT"


def end_of_events(broker: Client) -> int:
    """Return the queue offset that the next event will have."""
    return int(require_success(broker.max_offset(topic=EVENTS)).fields["offset"])


def event_about(broker: Client, group: str, begin: int) -> Record:
    """Wait for the event about *group*, at *begin* or later, and return it."""
    found: list[Record] = []

    def is_there() -> bool:
        for offset in range(begin, end_of_events(broker)):
            (record,) = records_of(
                broker.pull(topic=EVENTS, offset=offset, max_count=1)
            )
            if decode_properties(record.properties).get("KEYS") == group:
                found.append(record)
        return bool(found)

    wait_until(is_there, what=f"event about {group}", timeout_s=10.0)
    return found[0]


@pytest.mark.clause("PULL-EVENT-001", "PULL-EVENT-002")
def test_a_moved_offset_is_an_event(
    broker: Client, target: SharedTarget, topic: str, known_group: str
) -> None:
    send_bodies(broker, topic, [b"one"])
    begin = end_of_events(broker)
    response = broker.pull(topic=topic, group=known_group, offset=99)
    code = ResponseCode.PULL_OFFSET_MOVED
    expect_code("PULL-EVENT-001", response, code, broker.transcript)
    event = event_about(broker, known_group, begin)
    properties = decode_properties(event.properties)
    content = loads(event.body)
    assert isinstance(content, Mapping)
    queue = {"brokerName": target.broker_name, "queueId": 0, "topic": topic}
    expect(
        "PULL-EVENT-001",
        found=(properties.get("TAGS"), content),
        expected=(
            known_group,
            {
                "consumerGroup": known_group,
                "messageQueue": queue,
                "offsetNew": int(response.fields["nextBeginOffset"]),
                "offsetRequest": 99,
            },
        ),
        what="tag and body of the event",
        transcript=broker.transcript,
    )
    expect(
        "PULL-EVENT-002",
        found=properties.get("DELAY"),
        expected="0",
        what="property DELAY of the event",
        transcript=broker.transcript,
    )


@pytest.mark.clause("PULL-EVENT-003")
def test_a_moved_offset_is_no_event(broker: Client, topic: str, group: str) -> None:
    send_bodies(broker, topic, [b"one"])
    begin = end_of_events(broker)
    response = broker.pull(topic=topic, group=group, offset=99)
    code = ResponseCode.PULL_OFFSET_MOVED
    expect_code("PULL-EVENT-003", response, code, broker.transcript)
    require_success(broker.send_message(topic=topic))
    broker.wait_for_max_offset(topic=topic, offset=2)  # later than an event would be
    expect(
        "PULL-EVENT-003",
        found=end_of_events(broker),
        expected=begin,
        what="end of the events' queue",
        transcript=broker.transcript,
    )
