"""Queues that the broker assigns to the members of a group."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from conformance.harness.client.client import (
    body_of,
    consumer_data,
    require_success,
    subscription_data,
)
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_code,
    expect_fields,
)
from conformance.harness.pytest_plugin.fixtures import unique_name
from conformance.messaging.pop.pop_group import PopGroup
from spec.wire.bodies.json_body import decode_body
from spec.wire.message.topic_names import RETRY_PREFIX
from spec.wire.pop.pop_bodies import (
    MessageQueueAssignment,
    QueryAssignmentRequestBody,
    QueryAssignmentResponseBody,
    SetMessageRequestModeRequestBody,
)
from spec.wire.pop.pop_message import ANY_QUEUE
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

QUEUES = 4


@pytest.fixture
def members(pop_group: PopGroup) -> Iterator[list[str]]:
    """Yield the client ids of two connected members of the group."""
    with connected(pop_group, count=2) as ids:
        yield ids


@contextmanager
def connected(pop_group: PopGroup, *, count: int) -> Iterator[list[str]]:
    """Yield the client ids of *count* connected members of the group, in order."""
    ids = sorted(unique_name("member") for _ in range(count))
    consumer = consumer_data(
        group=pop_group.group, subscriptions=[subscription_data(topic=pop_group.topic)]
    )
    with ExitStack() as stack:
        for client_id in ids:
            client = stack.enter_context(pop_group.broker.another())
            require_success(client.heartbeat(client_id=client_id, consumers=[consumer]))
        yield ids


def question(
    pop_group: PopGroup, client_id: str, strategy: str
) -> QueryAssignmentRequestBody:
    """Return the question of a member for its queues."""
    return QueryAssignmentRequestBody(
        topic=pop_group.topic,
        group=pop_group.group,
        client_id=client_id,
        strategy=strategy,
        message_model="CLUSTERING",
    )


def assigned(pop_group: PopGroup, client_id: str) -> tuple[MessageQueueAssignment, ...]:
    """Return the queues of a member, as soon as the broker has the topic's route."""
    found: list[QueryAssignmentResponseBody] = []

    def is_assigned() -> bool:
        response = pop_group.broker.query_assignment(
            question(pop_group, client_id, "AVG")
        )
        found.append(
            decode_body(QueryAssignmentResponseBody, require_success(response).body)
        )
        return bool(found[-1].assignments)

    wait_until(is_assigned, what=f"{client_id} is assigned a queue")
    return found[-1].assignments


def place_of(one: MessageQueueAssignment) -> tuple[str | None, str | None, int]:
    """Return topic, broker name and queue id of an assignment."""
    return one.queue.topic, one.queue.broker_name, one.queue.queue_id


@pytest.mark.clause("POP-ASSIGN-001")
def test_members_divide_the_queues(pop_group: PopGroup, members: list[str]) -> None:
    found = [one for member in members for one in assigned(pop_group, member)]
    expect(
        "POP-ASSIGN-001",
        found=sorted((place_of(one), one.mode) for one in found),
        expected=[
            ((pop_group.topic, pop_group.broker_name, queue_id), "PULL")
            for queue_id in range(QUEUES)
        ],
        what="queues and modes of both members",
        transcript=pop_group.broker.transcript,
    )


@pytest.mark.clause("POP-ASSIGN-002")
def test_members_that_pop_share_all_queues(
    pop_group: PopGroup, members: list[str]
) -> None:
    mode = SetMessageRequestModeRequestBody(
        topic=pop_group.topic, group=pop_group.group, mode="POP"
    )
    require_success(pop_group.broker.set_request_mode(mode))
    for member in members:
        expect(
            "POP-ASSIGN-002",
            found=[(place_of(one), one.mode) for one in assigned(pop_group, member)],
            expected=[((pop_group.topic, pop_group.broker_name, ANY_QUEUE), "POP")],
            what="queues and modes of one member",
            transcript=pop_group.broker.transcript,
        )


@pytest.mark.clause("POP-ASSIGN-006")
def test_the_modes_are_returned_by_topic_and_group(pop_group: PopGroup) -> None:
    modes = {pop_group.group: "POP", f"{pop_group.group}_other": "PULL"}
    for group, mode in modes.items():
        request = SetMessageRequestModeRequestBody(
            topic=pop_group.topic, group=group, mode=mode
        )
        require_success(pop_group.broker.set_request_mode(request))
    response = pop_group.broker.invoke(RequestCode.GET_ALL_MESSAGE_REQUEST_MODE)
    body = body_of(response)
    assert isinstance(body, dict)
    found = body["messageRequestModeMap"].get(pop_group.topic, {})
    for group, mode in modes.items():
        expect_fields(
            "POP-ASSIGN-006",
            found=found.get(group, {}),
            expected={"topic": pop_group.topic, "consumerGroup": group, "mode": mode},
            transcript=pop_group.broker.transcript,
        )


@pytest.mark.clause("POP-ASSIGN-007")
def test_members_that_pop_share_the_queues_of_the_next(pop_group: PopGroup) -> None:
    mode = SetMessageRequestModeRequestBody(
        topic=pop_group.topic, group=pop_group.group, mode="POP", shared_queue_count=1
    )
    require_success(pop_group.broker.set_request_mode(mode))
    with connected(pop_group, count=QUEUES) as members:
        for number, member in enumerate(members):
            expect(
                "POP-ASSIGN-007",
                found=sorted(
                    (one.queue.queue_id, one.mode)
                    for one in assigned(pop_group, member)
                ),
                expected=sorted(
                    (queue_id % QUEUES, "POP") for queue_id in (number, number + 1)
                ),
                what=f"queue ids and modes of member {number}",
                transcript=pop_group.broker.transcript,
            )


@pytest.mark.clause("POP-ASSIGN-003")
def test_an_unknown_strategy_assigns_nothing(
    pop_group: PopGroup, members: list[str]
) -> None:
    assigned(pop_group, members[0])
    response = pop_group.broker.query_assignment(
        question(pop_group, members[0], "NONE")
    )
    body = body_of(response)
    assert isinstance(body, dict)
    expect(
        "POP-ASSIGN-003",
        found=body.get("messageQueueAssignments"),
        expected=None,
        what="messageQueueAssignments",
        transcript=pop_group.broker.transcript,
    )


@pytest.mark.clause("POP-ASSIGN-004")
def test_the_mode_of_a_retry_topic_cannot_be_set(pop_group: PopGroup) -> None:
    expect_refused_mode(
        "POP-ASSIGN-004",
        pop_group,
        topic=f"{RETRY_PREFIX}any_group",
        code=ResponseCode.NO_PERMISSION,
    )


@pytest.mark.clause("POP-ASSIGN-005")
def test_the_mode_of_an_unknown_topic_cannot_be_set(pop_group: PopGroup) -> None:
    expect_refused_mode(
        "POP-ASSIGN-005",
        pop_group,
        topic="unknown_topic",
        code=ResponseCode.TOPIC_NOT_EXIST,
    )


def expect_refused_mode(
    clause: str, pop_group: PopGroup, *, topic: str, code: ResponseCode
) -> None:
    """Fail *clause* unless the mode of *topic* is refused with *code*."""
    mode = SetMessageRequestModeRequestBody(
        topic=topic, group=pop_group.group, mode="POP"
    )
    response = pop_group.broker.set_request_mode(mode)
    expect_code(clause, response, code, pop_group.broker.transcript)
