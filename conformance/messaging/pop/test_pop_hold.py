"""Held pops and notifications: consumers that wait for a message of any queue."""

from __future__ import annotations

import time

import pytest

from conformance.harness.client.client import Client, require_success
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_code,
    expect_fields,
    expect_that,
)
from conformance.messaging.pop.pop_group import PopGroup, bodies
from spec.wire.pop.pop_message import ANY_QUEUE
from spec.wire.remoting.response_code import ResponseCode

LONG_MS = 15_000
SHORT_MS = 1_000
SOON_S = 5.0
QUIET_S = 0.3


@pytest.mark.clause("POP-HOLD-001", "POP-HOLD-004")
def test_a_held_pop_gets_the_message_that_arrives(pop_group: PopGroup) -> None:
    def held() -> int:
        response = pop_group.broker.polling_count(
            topic=pop_group.topic, group=pop_group.group, queue_id=ANY_QUEUE
        )
        return int(require_success(response).fields["pollingNum"])

    expect(
        "POP-HOLD-004",
        found=held(),
        expected=0,
        what="pollingNum before",
        transcript=pop_group.broker.transcript,
    )
    with pop_group.broker.another() as consumer:
        opaque = consumer.begin_pop(
            topic=pop_group.topic, group=pop_group.group, poll_ms=LONG_MS
        )
        wait_until(lambda: held() > 0, what="the pop is held")
        expect(
            "POP-HOLD-004",
            found=held(),
            expected=1,
            what="pollingNum with one",
            transcript=pop_group.broker.transcript,
        )
        silent = consumer.peer.is_silent(QUIET_S)
        expect(
            "POP-HOLD-001",
            found=silent,
            expected=True,
            what="silence before",
            transcript=consumer.transcript,
        )
        pop_group.send([b"awaited"], queue_id=3)
        response = consumer.peer.receive_response(opaque, timeout_s=SOON_S)
    found = bodies(pop_group.popped(response))
    expect(
        "POP-HOLD-001",
        found=found,
        expected=[b"awaited"],
        what="bodies",
        transcript=consumer.transcript,
    )


@pytest.mark.clause("POP-HOLD-002")
def test_a_held_pop_ends_in_time(pop_group: PopGroup) -> None:
    began = time.monotonic()
    response = pop_group.response(pollTime=SHORT_MS)
    took_ms = (time.monotonic() - began) * 1000
    expect_code(
        "POP-HOLD-002",
        response,
        ResponseCode.POLLING_TIMEOUT,
        pop_group.broker.transcript,
    )
    expect_that(
        "POP-HOLD-002",
        took_ms >= SHORT_MS - 100,
        found=round(took_ms),
        expected=f"about {SHORT_MS} or more",
        what="milliseconds until the response",
        transcript=pop_group.broker.transcript,
    )


@pytest.mark.clause("POP-HOLD-003")
def test_a_pop_without_poll_time_is_not_held(pop_group: PopGroup) -> None:
    response = pop_group.response(pollTime=0)
    expect_code(
        "POP-HOLD-003",
        response,
        ResponseCode.POLLING_TIMEOUT,
        pop_group.broker.transcript,
    )


def notified(consumer: Client, opaque: int) -> str:
    """Return hasMsg of the response to the notification request *opaque*."""
    response = consumer.peer.receive_response(opaque, timeout_s=SOON_S)
    return require_success(response).fields["hasMsg"]


@pytest.mark.clause("POP-NOTIFY-004")
@pytest.mark.parametrize("has_message", [True, False])
def test_a_notification_is_not_refused_for_lack_of_room(
    pop_group: PopGroup, has_message: bool
) -> None:
    if has_message:
        pop_group.send([b"there"])
    opaque = pop_group.broker.begin_notification(
        topic=pop_group.topic, group=pop_group.group, poll_ms=SHORT_MS
    )
    response = pop_group.broker.peer.receive_response(opaque, timeout_s=SOON_S)
    expect_fields(
        "POP-NOTIFY-004",
        found=require_success(response).fields,
        expected={"pollingFull": "false", "hasMsg": str(has_message).lower()},
        transcript=pop_group.broker.transcript,
    )


@pytest.mark.clause("POP-NOTIFY-001")
def test_a_notification_reports_a_message_and_hides_nothing(
    pop_group: PopGroup,
) -> None:
    pop_group.send([b"there"], queue_id=1)
    for _ in range(2):
        opaque = pop_group.broker.begin_notification(
            topic=pop_group.topic, group=pop_group.group, poll_ms=LONG_MS
        )
        found = notified(pop_group.broker, opaque)
        expect(
            "POP-NOTIFY-001",
            found=found,
            expected="true",
            what="hasMsg",
            transcript=pop_group.broker.transcript,
        )
    found_bodies = bodies(pop_group.pop())
    expect(
        "POP-NOTIFY-001",
        found=found_bodies,
        expected=[b"there"],
        what="popped",
        transcript=pop_group.broker.transcript,
    )


@pytest.mark.clause("POP-NOTIFY-002")
def test_a_notification_is_held_until_a_message_arrives(pop_group: PopGroup) -> None:
    with pop_group.broker.another() as consumer:
        opaque = consumer.begin_notification(
            topic=pop_group.topic, group=pop_group.group, poll_ms=LONG_MS
        )
        silent = consumer.peer.is_silent(QUIET_S)
        expect(
            "POP-NOTIFY-002",
            found=silent,
            expected=True,
            what="silence before",
            transcript=consumer.transcript,
        )
        pop_group.send([b"arrives"], queue_id=2)
        found = notified(consumer, opaque)
    expect(
        "POP-NOTIFY-002",
        found=found,
        expected="true",
        what="hasMsg",
        transcript=consumer.transcript,
    )


@pytest.mark.clause("POP-NOTIFY-003")
def test_a_notification_ends_in_time(pop_group: PopGroup) -> None:
    began = time.monotonic()
    opaque = pop_group.broker.begin_notification(
        topic=pop_group.topic, group=pop_group.group, poll_ms=SHORT_MS
    )
    found = notified(pop_group.broker, opaque)
    took_ms = (time.monotonic() - began) * 1000
    expect(
        "POP-NOTIFY-003",
        found=found,
        expected="false",
        what="hasMsg",
        transcript=pop_group.broker.transcript,
    )
    expect_that(
        "POP-NOTIFY-003",
        took_ms >= SHORT_MS - 100,
        found=round(took_ms),
        expected=f"about {SHORT_MS} or more",
        what="milliseconds until the response",
        transcript=pop_group.broker.transcript,
    )
