"""Requests of pop consumption: one response each, and none of them late."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import pytest

from conformance.harness.pytest_plugin.expectations import expect, expect_that
from conformance.messaging.popping import Popper, ack_of
from spec.wire.pop.pop_bodies import AcksOfPops, AssignmentQuestion, RequestMode
from spec.wire.remoting.command import Command

IN_TIME_S = 3.0
ATTEMPTS = 3
"""A busy machine may be late once."""
SHORT_MS = 1_000
SOON_S = 5.0
QUIET_S = 0.3
AFTER_POLL_TIME_S = 2 * SHORT_MS / 1000

Send = Callable[[], Command]


def requests_of(popper: Popper) -> Mapping[str, Send]:
    """Return a request of each code that is not held, by its name."""
    broker, topic, group = popper.broker, popper.topic, popper.group
    popper.send([b"first", b"second"])
    popped, kept = popper.pop(queueId=0)
    acks = AcksOfPops(
        broker_name=popper.broker_name, acks=(ack_of(popper, kept, bits=0b10),)
    )
    popper.send([b"waits"], queue_id=1)
    question = AssignmentQuestion(
        topic=topic,
        group=group,
        client_id="nobody",
        strategy="AVG",
        message_model="CLUSTERING",
    )

    def notify() -> Command:
        opaque = broker.begin_notification(topic=topic, group=group, poll_ms=SHORT_MS)
        return broker.peer.receive_response(opaque)

    return {
        "PEEK_MESSAGE": lambda: broker.peek(topic=topic, group=group),
        "NOTIFICATION": notify,
        "CHANGE_MESSAGE_INVISIBLETIME": lambda: popper.change(popped, SHORT_MS),
        "ACK_MESSAGE": lambda: popper.acknowledge(popped),
        "BATCH_ACK_MESSAGE": lambda: broker.acknowledge_all(acks),
        "POP_MESSAGE": lambda: popper.response(queueId=1),
        "POLLING_INFO": lambda: broker.polling_count(
            topic=topic, group=group, queue_id=0
        ),
        "QUERY_ASSIGNMENT": lambda: broker.query_assignment(question),
        "SET_MESSAGE_REQUEST_MODE": lambda: broker.set_request_mode(
            RequestMode(topic=topic, group=group, mode="PULL")
        ),
    }


@pytest.mark.clause("POP-HOLD-005", "POP-HOLD-006")
def test_each_request_gets_one_response_in_time(popper: Popper) -> None:
    names: dict[int, str] = {}
    for name, send in requests_of(popper).items():
        took_s: list[float] = []
        while len(took_s) < ATTEMPTS and min(took_s, default=IN_TIME_S) >= IN_TIME_S:
            begun = time.monotonic()
            response = send()
            took_s.append(time.monotonic() - begun)
            names[response.opaque] = name
        expect_that(
            "POP-HOLD-006",
            min(took_s) < IN_TIME_S,
            found=f"{min(took_s):.1f} s",
            expected=f"less than {IN_TIME_S:g} s",
            what=f"time until the response to {name}",
            transcript=popper.broker.transcript,
        )
    expect(
        "POP-HOLD-005",
        found=second_responses(popper, names, QUIET_S),
        expected=[],
        what="requests with a second response",
        transcript=popper.broker.transcript,
    )


@pytest.mark.clause("POP-HOLD-005")
def test_a_held_request_gets_one_response(popper: Popper) -> None:
    """After the message arrives, the end of the poll time brings nothing more."""
    broker, topic, group = popper.broker, popper.topic, popper.group
    held = {
        broker.begin_notification(
            topic=topic, group=group, poll_ms=SHORT_MS
        ): "NOTIFICATION",
        broker.begin_pop(topic=topic, group=group, poll_ms=SHORT_MS): "POP_MESSAGE",
    }
    popper.send([b"arrives"])
    for opaque in held:
        broker.peer.receive_response(opaque, timeout_s=SOON_S)
    expect(
        "POP-HOLD-005",
        found=second_responses(popper, held, AFTER_POLL_TIME_S),
        expected=[],
        what="held requests with a second response",
        transcript=broker.transcript,
    )


def second_responses(
    popper: Popper, names: Mapping[int, str], quiet_s: float
) -> list[str]:
    """Return the requests whose response comes again before *quiet_s* of silence."""
    more: list[str] = []
    while not popper.broker.peer.is_silent(quiet_s):
        more.append(names.get(popper.broker.peer.receive().opaque, "none of them"))
    return more
