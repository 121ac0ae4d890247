"""Pops: messages of any queue, hidden from their group for a time."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.harness.client.client import now_ms, require_success
from conformance.harness.client.requests.invoker import FieldValue
from conformance.harness.client.requests.pops import INVISIBLE_MS
from conformance.harness.pytest_plugin.expectations import (
    charged,
    expect,
    expect_code,
    expect_fields,
    expect_that,
)
from conformance.harness.pytest_plugin.fixtures import create_group, create_topic
from conformance.harness.targets.target import Target
from conformance.messaging.pop.pop_group import PopGroup, bodies
from conformance.messaging.stored_messages import bodies_of, record_of
from spec.store.message_record import encode_record
from spec.wire.pop.pop_message import InitMode
from spec.wire.pop.pop_receipt import popped_queues_of
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

POP_COUNT_MAX = 32

QUEUES = 4
WRITE_ONLY = 2
CLOCK_MS = 1000
"""Most that the broker's clock differs from ours."""


def one_in_each_queue(pop_group: PopGroup) -> list[bytes]:
    """Send a message to each queue, and return the bodies."""
    sent = [b"queue %d" % queue_id for queue_id in range(QUEUES)]
    for queue_id, body in enumerate(sent):
        pop_group.send([body], queue_id=queue_id)
    return sent


@pytest.mark.clause("POP-GET-001", "POP-GET-004", "POP-HIDE-001")
def test_a_pop_returns_messages_of_every_queue_once(pop_group: PopGroup) -> None:
    sent = one_in_each_queue(pop_group)
    response = pop_group.response()
    popped = pop_group.popped(response)
    expect(
        "POP-GET-001",
        found=sorted(bodies(popped)),
        expected=sent,
        what="bodies",
        transcript=pop_group.broker.transcript,
    )
    for field in ("startOffsetInfo", "msgOffsetInfo"):
        with charged("POP-GET-004", pop_group.broker.transcript):
            queues = popped_queues_of(response.fields, field)
        expect(
            "POP-GET-004",
            found={one.queue: one.offsets for one in queues},
            expected={str(queue_id): (0,) for queue_id in range(QUEUES)},
            what=f"queues and offsets of {field}",
            transcript=pop_group.broker.transcript,
        )
    expect(
        "POP-HIDE-001",
        found=bodies(pop_group.pop()),
        expected=[],
        what="popped next",
        transcript=pop_group.broker.transcript,
    )


@pytest.mark.clause("POP-GET-002")
def test_a_pop_of_one_queue_returns_nothing_of_others(pop_group: PopGroup) -> None:
    sent = one_in_each_queue(pop_group)
    found = bodies(pop_group.pop(queueId=2))
    expect(
        "POP-GET-002",
        found=found,
        expected=[sent[2]],
        what="bodies of queue 2",
        transcript=pop_group.broker.transcript,
    )


@pytest.mark.clause("POP-GET-003", "POP-GET-004", "POP-HIDE-001")
def test_a_pop_returns_the_oldest_and_counts_the_rest(pop_group: PopGroup) -> None:
    sent = [b"%d" % number for number in range(5)]
    pop_group.send(sent)
    found: list[bytes] = []
    for rest in (3, 1):
        response = pop_group.response(queueId=0, maxMsgNums=2)
        popped = pop_group.popped(response)
        offsets = tuple(range(len(found), len(found) + 2))
        for field, expected in (
            ("msgOffsetInfo", offsets),
            ("startOffsetInfo", offsets[:1]),
        ):
            with charged("POP-GET-004", pop_group.broker.transcript):
                queues = popped_queues_of(response.fields, field)
            expect(
                "POP-GET-004",
                found=[one.offsets for one in queues],
                expected=[expected],
                what=f"offsets of {field}",
                transcript=pop_group.broker.transcript,
            )
        expect(
            "POP-GET-003",
            found=response.fields["restNum"],
            expected=str(rest),
            what="restNum",
            transcript=pop_group.broker.transcript,
        )
        found += bodies(popped)
    expect(
        "POP-GET-003",
        found=found,
        expected=sent[:4],
        what="bodies, in order",
        transcript=pop_group.broker.transcript,
    )
    last = bodies(pop_group.pop(queueId=0))
    expect(
        "POP-HIDE-001",
        found=last,
        expected=sent[4:],
        what="popped after them",
        transcript=pop_group.broker.transcript,
    )


@pytest.mark.clause("POP-GET-005", "POP-GET-006")
def test_a_pop_states_its_times_and_returns_stored_bytes(pop_group: PopGroup) -> None:
    began = now_ms()
    send_response = require_success(
        pop_group.broker.send_message(
            topic=pop_group.topic,
            body=b"as stored",
            properties={"TAGS": "t", "own": "é"},
        )
    )
    pop_group.broker.wait_for_max_offset(topic=pop_group.topic, offset=1)
    stored = record_of(pop_group.broker, send_response)
    response = pop_group.response()
    expect_fields(
        "POP-GET-005",
        found=response.fields,
        expected={"invisibleTime": str(INVISIBLE_MS)},
        transcript=pop_group.broker.transcript,
    )
    popped_at_ms = int(response.fields["popTime"])
    expect_that(
        "POP-GET-005",
        began - CLOCK_MS <= popped_at_ms <= now_ms() + CLOCK_MS,
        found=popped_at_ms,
        expected="the time of the pop",
        what="popTime",
        transcript=pop_group.broker.transcript,
    )
    revive_queue_id = int(response.fields["reviveQid"])
    expect_that(
        "POP-GET-005",
        revive_queue_id >= 0,
        found=revive_queue_id,
        expected="0 or more",
        what="reviveQid",
        transcript=pop_group.broker.transcript,
    )
    popped = [one.record for one in pop_group.popped(response)]
    expect(
        "POP-GET-006",
        found=[encode_record(one) for one in popped],
        expected=[encode_record(stored)],
        what="records",
        transcript=pop_group.broker.transcript,
    )


@pytest.mark.clause("POP-GET-007")
def test_a_pop_returns_only_its_tag(pop_group: PopGroup) -> None:
    for number, tag in enumerate(("other", "wanted", "other")):
        require_success(
            pop_group.broker.send_message(
                topic=pop_group.topic, body=tag.encode(), properties={"TAGS": tag}
            )
        )
        pop_group.broker.wait_for_max_offset(topic=pop_group.topic, offset=number + 1)
    found = bodies(pop_group.pop(exp="wanted"))
    expect(
        "POP-GET-007",
        found=found,
        expected=[b"wanted"],
        what="bodies",
        transcript=pop_group.broker.transcript,
    )


@pytest.mark.clause("POP-GET-010")
def test_a_pop_returns_only_what_its_expression_selects(
    filtering_target: Target, unique: Callable[[str], str]
) -> None:
    with filtering_target.connect_to_broker() as broker:
        pop_group = PopGroup(
            broker=broker,
            broker_name=filtering_target.broker_name,
            topic=create_topic(filtering_target, unique("topic")),
            group=create_group(filtering_target, unique("group")),
        )
        for number in range(3):
            require_success(
                broker.send_message(
                    topic=pop_group.topic,
                    body=b"%d" % number,
                    properties={"a": f"{number}"},
                )
            )
        broker.wait_for_max_offset(topic=pop_group.topic, offset=3)
        found = bodies(pop_group.pop(expType="SQL92", exp="a > 0 AND a < 2"))
    expect(
        "POP-GET-010",
        found=found,
        expected=[b"1"],
        what="bodies",
        transcript=pop_group.broker.transcript,
    )


@pytest.mark.parametrize(
    ("clause", "mode"),
    [
        pytest.param(clause, mode, marks=marker)
        for clause, mode, marker in (
            ("POP-GET-008", InitMode.MIN, pytest.mark.clause("POP-GET-008")),
            ("POP-GET-009", InitMode.MAX, pytest.mark.clause("POP-GET-009")),
        )
    ],
)
def test_a_new_group_begins_at_the_first_message(
    pop_group: PopGroup, clause: str, mode: InitMode
) -> None:
    sent = [b"first", b"second"]
    pop_group.send(sent)
    found = bodies(pop_group.pop(queueId=0, initMode=mode))
    expect(
        clause,
        found=found,
        expected=sent,
        what="bodies of the first pop",
        transcript=pop_group.broker.transcript,
    )


@pytest.mark.clause("POP-REFUSE-001", "POP-REFUSE-002")
@pytest.mark.parametrize(
    ("clause", "fields", "accepted"),
    [
        (
            "POP-REFUSE-001",
            {"maxMsgNums": POP_COUNT_MAX + 1},
            {"maxMsgNums": POP_COUNT_MAX},
        ),
        ("POP-REFUSE-002", {"queueId": QUEUES}, {"queueId": QUEUES - 1}),
    ],
)
def test_numbers_out_of_range_are_refused(
    pop_group: PopGroup,
    clause: str,
    fields: dict[str, FieldValue],
    accepted: dict[str, FieldValue],
) -> None:
    transcript = pop_group.broker.transcript
    response = pop_group.response(**fields)
    expect_code(clause, response, ResponseCode.INVALID_PARAMETER, transcript)
    pop_group.send([b"at the limit"], queue_id=QUEUES - 1)
    found = bodies(pop_group.pop(**accepted))
    expect(
        clause,
        found=found,
        expected=[b"at the limit"],
        what="popped at the limit",
        transcript=pop_group.broker.transcript,
    )


@pytest.mark.clause("POP-REFUSE-003", "POP-REFUSE-004", "POP-REFUSE-005")
def test_topics_and_groups_that_may_not_be_read_are_refused(
    pop_group: PopGroup, target: Target
) -> None:
    broker, transcript = pop_group.broker, pop_group.broker.transcript
    response = broker.pop(topic=f"{pop_group.topic}_unknown", group=pop_group.group)
    expect_code("POP-REFUSE-003", response, ResponseCode.TOPIC_NOT_EXIST, transcript)
    with target.connect_for_admin() as admin:
        closed = {"consumeEnable": False}
        require_success(admin.update_group(group=pop_group.group, settings=closed))
        response = pop_group.response()
        expect_code("POP-REFUSE-005", response, ResponseCode.NO_PERMISSION, transcript)
        require_success(admin.update_group(group=pop_group.group))
        require_success(
            admin.create_topic(topic=pop_group.topic, permissions=WRITE_ONLY)
        )
    response = pop_group.response()
    expect_code("POP-REFUSE-004", response, ResponseCode.NO_PERMISSION, transcript)


@pytest.mark.clause("POP-REFUSE-006")
def test_an_invalid_expression_is_refused(pop_group: PopGroup) -> None:
    response = pop_group.response(expType="SQL92", exp="a >")
    expect_code(
        "POP-REFUSE-006",
        response,
        ResponseCode.SUBSCRIPTION_PARSE_FAILED,
        pop_group.broker.transcript,
    )


@pytest.mark.clause("POP-REFUSE-007")
def test_a_late_pop_is_refused(pop_group: PopGroup) -> None:
    pop_group.send([b"waiting"])
    late = now_ms() - 500 - 2 * CLOCK_MS
    response = pop_group.response(bornTime=late)
    expect_code(
        "POP-REFUSE-007",
        response,
        ResponseCode.POLLING_TIMEOUT,
        pop_group.broker.transcript,
    )
    found = bodies(pop_group.pop())
    expect(
        "POP-REFUSE-007",
        found=found,
        expected=[b"waiting"],
        what="popped in time",
        transcript=pop_group.broker.transcript,
    )


@pytest.mark.clause("POP-HIDE-002")
def test_another_group_pops_the_same_messages(
    pop_group: PopGroup, target: Target
) -> None:
    pop_group.send([b"for both"])
    first = bodies(pop_group.pop())
    other = PopGroup(
        broker=pop_group.broker,
        broker_name=pop_group.broker_name,
        topic=pop_group.topic,
        group=f"{pop_group.group}_other",
    )
    with target.connect_for_admin() as admin:
        require_success(admin.update_group(group=other.group))
    expect(
        "POP-HIDE-002",
        found=(first, bodies(other.pop())),
        expected=([b"for both"], [b"for both"]),
        what="bodies popped by the two groups",
        transcript=pop_group.broker.transcript,
    )


@pytest.mark.clause("POP-PEEK-001")
def test_a_peek_hides_nothing(pop_group: PopGroup) -> None:
    sent = [b"first", b"second"]
    pop_group.send(sent)
    for _ in range(2):
        response = pop_group.broker.peek(topic=pop_group.topic, group=pop_group.group)
        found = bodies_of(response)
        expect(
            "POP-PEEK-001",
            found=found,
            expected=sent,
            what="bodies of a peek",
            transcript=pop_group.broker.transcript,
        )
    found = bodies(pop_group.pop(queueId=0))
    expect(
        "POP-PEEK-001",
        found=found,
        expected=sent,
        what="bodies of the pop",
        transcript=pop_group.broker.transcript,
    )


@pytest.mark.clause("POP-ROLLBACK-001")
@pytest.mark.settings(popConsumerKVServiceEnable="false")
def test_a_rollback_leaves_popped_messages_hidden(pop_group: PopGroup) -> None:
    pop_group.send([b"hidden"])
    (popped,) = pop_group.pop()
    response = pop_group.broker.invoke(RequestCode.POP_ROLLBACK)
    transcript = pop_group.broker.transcript
    expect_code("POP-ROLLBACK-001", response, ResponseCode.SUCCESS, transcript)
    again = bodies(pop_group.pop())
    expect(
        "POP-ROLLBACK-001",
        found=again,
        expected=[],
        what="bodies popped again",
        transcript=pop_group.broker.transcript,
    )
    acknowledged = pop_group.acknowledge(popped)
    expect_code("POP-ROLLBACK-001", acknowledged, ResponseCode.SUCCESS, transcript)


@pytest.mark.clause("POP-PEEK-002")
def test_a_peek_begins_behind_popped_messages(pop_group: PopGroup) -> None:
    sent = [b"%d" % number for number in range(4)]
    pop_group.send(sent, queue_id=1)
    popped = bodies(pop_group.pop(queueId=1, maxMsgNums=1))
    expect(
        "POP-PEEK-002",
        found=popped,
        expected=sent[:1],
        what="bodies of the pop",
        transcript=pop_group.broker.transcript,
    )
    response = pop_group.broker.peek(
        topic=pop_group.topic, group=pop_group.group, queue_id=1, count=2
    )
    found = bodies_of(response)
    expect(
        "POP-PEEK-002",
        found=found,
        expected=sent[1:3],
        what="bodies of a peek",
        transcript=pop_group.broker.transcript,
    )
