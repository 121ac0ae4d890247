"""Held pulls: a consumer at the end of a queue waits for the next message."""

from __future__ import annotations

import time

import pytest

from conformance.harness.client.client import Client, require_success
from conformance.harness.pytest_plugin.expectations import (
    charged,
    expect,
    expect_code,
    expect_that,
)
from conformance.messaging.stored_messages import bodies_of, send_bodies
from spec.wire.consumer.pull import PullFlag
from spec.wire.remoting.response_code import ResponseCode

HOLD = int(PullFlag.SUSPEND | PullFlag.SUBSCRIPTION)
LONG_MS = 15_000
QUIET_S = 0.3


@pytest.mark.clause("PULL-HOLD-001")
@pytest.mark.parametrize("before", [0, 2])
def test_a_held_pull_gets_the_message_that_arrives(
    broker: Client, topic: str, before: int
) -> None:
    send_bodies(broker, topic, [b"old"] * before)
    with broker.another() as consumer:
        opaque = consumer.begin_pull(topic=topic, offset=before)
        silent = consumer.peer.is_silent(QUIET_S)
        expect(
            "PULL-HOLD-001",
            found=silent,
            expected=True,
            what="silence before",
            transcript=consumer.transcript,
        )
        require_success(broker.send_message(topic=topic, body=b"awaited"))
        response = consumer.peer.receive_response(opaque)
        with charged("PULL-HOLD-001", consumer.transcript):
            found = bodies_of(response)
    expect(
        "PULL-HOLD-001",
        found=found,
        expected=[b"awaited"],
        what="bodies",
        transcript=consumer.transcript,
    )
    found_next = response.fields["nextBeginOffset"]
    expected = str(before + 1)
    expect(
        "PULL-HOLD-001",
        found=found_next,
        expected=expected,
        what="nextBeginOffset",
        transcript=consumer.transcript,
    )


def is_woken(broker: Client, topic: str, offset: int) -> bool:
    """Return whether a pull for a tag is answered soon after another tag's message."""
    with broker.another() as consumer:
        consumer.begin_pull(topic=topic, offset=offset, subscription="wanted")
        held = consumer.peer.is_silent(QUIET_S)
        expect(
            "PULL-HOLD-003",
            found=held,
            expected=True,
            what="held at first",
            transcript=consumer.transcript,
        )
        require_success(broker.send_message(topic=topic, properties={"TAGS": "other"}))
        broker.wait_for_max_offset(topic=topic, offset=offset + 1)
        return not consumer.peer.is_silent(QUIET_S)


@pytest.mark.clause("PULL-HOLD-003")
def test_a_held_pull_is_not_woken_by_other_tags(broker: Client, topic: str) -> None:
    woken = sum(is_woken(broker, topic, offset) for offset in range(3))
    expect_that(
        "PULL-HOLD-003",
        woken <= 1,
        found=woken,
        expected="0, or 1 if the broker's look fell into that second",
        what="pulls that were woken, of 3",
        transcript=broker.transcript,
    )


@pytest.mark.clause("PULL-HOLD-005")
def test_a_connection_is_usable_while_a_pull_is_held(
    broker: Client, topic: str
) -> None:
    with broker.another() as client:
        held = client.begin_pull(topic=topic, offset=0)
        # A broker may read a request that follows sooner before it holds the pull.
        silent = client.peer.is_silent(QUIET_S)
        expect(
            "PULL-HOLD-005",
            found=silent,
            expected=True,
            what="held at first",
            transcript=client.transcript,
        )
        beside = client.pull(topic=topic, offset=0, queue_id=1)
        expect_code(
            "PULL-HOLD-005", beside, ResponseCode.PULL_NOT_FOUND, client.transcript
        )
        require_success(client.send_message(topic=topic, body=b"awaited"))
        response = client.peer.receive_response(held)
        with charged("PULL-HOLD-005", client.transcript):
            found = bodies_of(response)
    expect(
        "PULL-HOLD-005",
        found=found,
        expected=[b"awaited"],
        what="bodies of the held pull",
        transcript=client.transcript,
    )


@pytest.mark.clause("PULL-HOLD-003")
def test_a_held_pull_is_woken_by_its_tag(broker: Client, topic: str) -> None:
    with broker.another() as consumer:
        opaque = consumer.begin_pull(topic=topic, offset=0, subscription="wanted")
        wanted = {"TAGS": "wanted"}
        require_success(broker.send_message(topic=topic, body=b"w", properties=wanted))
        response = consumer.peer.receive_response(opaque)
        with charged("PULL-HOLD-003", consumer.transcript):
            found = bodies_of(response)
    expect(
        "PULL-HOLD-003",
        found=found,
        expected=[b"w"],
        what="bodies",
        transcript=consumer.transcript,
    )


@pytest.mark.clause("PULL-HOLD-002")
def test_a_held_pull_ends_in_time(broker: Client, topic: str) -> None:
    suspend_ms = 300
    began = time.monotonic()
    opaque = broker.begin_pull(topic=topic, offset=0, suspend_ms=suspend_ms)
    response = broker.peer.receive_response(opaque, timeout_s=7)
    took_ms = (time.monotonic() - began) * 1000
    expect_code(
        "PULL-HOLD-002", response, ResponseCode.PULL_NOT_FOUND, broker.transcript
    )
    expect_that(
        "PULL-HOLD-002",
        took_ms >= suspend_ms,
        found=round(took_ms),
        expected=f"{suspend_ms} or more",
        what="milliseconds until the answer",
        transcript=broker.transcript,
    )


@pytest.mark.clause("PULL-HOLD-004")
def test_a_pull_from_past_the_end_is_not_held(broker: Client, topic: str) -> None:
    opaque = broker.begin_pull(topic=topic, offset=7)
    expect(
        "PULL-HOLD-004",
        found=broker.peer.receive_response(opaque, timeout_s=3).code,
        expected=ResponseCode.PULL_OFFSET_MOVED,
        what="code",
        transcript=broker.transcript,
    )
