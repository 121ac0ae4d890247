"""Requests of pop consumption: one response each, and none of them late."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.one_response import (
    Send,
    responses_in_time,
    second_responses,
)
from conformance.messaging.pop.pop_group import PopGroup, ack_of
from spec.wire.pop.pop_bodies import (
    BatchAckMessageRequestBody,
    QueryAssignmentRequestBody,
    SetMessageRequestModeRequestBody,
)
from spec.wire.remoting.command import Command

SHORT_MS = 1_000
SOON_S = 5.0
QUIET_S = 0.3
AFTER_POLL_TIME_S = 2 * SHORT_MS / 1000


def requests_of(pop_group: PopGroup) -> Mapping[str, Send]:
    """Return a request of each code that is not held, by its name."""
    broker, topic, group = pop_group.broker, pop_group.topic, pop_group.group
    pop_group.send([b"first", b"second"])
    popped, kept = pop_group.pop(queueId=0)
    acks = BatchAckMessageRequestBody(
        broker_name=pop_group.broker_name, acks=(ack_of(pop_group, kept, bits=0b10),)
    )
    pop_group.send([b"waits"], queue_id=1)
    question = QueryAssignmentRequestBody(
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
        "CHANGE_MESSAGE_INVISIBLETIME": lambda: pop_group.change(popped, SHORT_MS),
        "ACK_MESSAGE": lambda: pop_group.acknowledge(popped),
        "BATCH_ACK_MESSAGE": lambda: broker.acknowledge_all(acks),
        "POP_MESSAGE": lambda: pop_group.response(queueId=1),
        "POLLING_INFO": lambda: broker.polling_count(
            topic=topic, group=group, queue_id=0
        ),
        "QUERY_ASSIGNMENT": lambda: broker.query_assignment(question),
        "SET_MESSAGE_REQUEST_MODE": lambda: broker.set_request_mode(
            SetMessageRequestModeRequestBody(topic=topic, group=group, mode="PULL")
        ),
    }


@pytest.mark.clause("POP-HOLD-005", "POP-HOLD-006")
def test_each_request_gets_one_response_in_time(pop_group: PopGroup) -> None:
    client = pop_group.broker
    responses = responses_in_time("POP-HOLD-006", client, requests_of(pop_group))
    names = {response.opaque: name for name, response in responses}
    expect(
        "POP-HOLD-005",
        found=second_responses(client, names, QUIET_S),
        expected=[],
        what="requests with a second response",
        transcript=pop_group.broker.transcript,
    )


@pytest.mark.clause("POP-HOLD-005")
def test_a_held_request_gets_one_response(pop_group: PopGroup) -> None:
    """After the message arrives, the end of the poll time brings nothing more."""
    broker, topic, group = pop_group.broker, pop_group.topic, pop_group.group
    held = {
        broker.begin_notification(
            topic=topic, group=group, poll_ms=SHORT_MS
        ): "NOTIFICATION",
        broker.begin_pop(topic=topic, group=group, poll_ms=SHORT_MS): "POP_MESSAGE",
    }
    pop_group.send([b"arrives"])
    for opaque in held:
        broker.peer.receive_response(opaque, timeout_s=SOON_S)
    expect(
        "POP-HOLD-005",
        found=second_responses(broker, held, AFTER_POLL_TIME_S),
        expected=[],
        what="held requests with a second response",
        transcript=broker.transcript,
    )
