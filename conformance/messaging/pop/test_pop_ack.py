"""Acknowledged messages are consumed, and invisible times change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.harness.client.client import now_ms, require_success
from conformance.harness.client.requests.invoker import FieldValue
from conformance.harness.process.deadline import comes_true
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_code,
    expect_fields,
    expect_that,
)
from conformance.harness.pytest_plugin.fixtures import create_group
from conformance.harness.targets.target import Target
from conformance.messaging.pop.pop_group import (
    AGAIN_S,
    SHORT_MS,
    TICK_MS,
    PopGroup,
    ack_of,
    bodies,
    expect_again,
)
from spec.wire.pop.pop_bodies import BatchAckMessageRequestBody
from spec.wire.remoting.response_code import ResponseCode

QUEUES = 4
REVIVE_QUEUES = 8
"""Queues of checkpoints, which brokers use in turn (Java: reviveQueueNum)."""
NEVER_MS = 600_000
"""Invisible time that no test waits for."""
SENT = [b"first", b"second", b"third"]

pytestmark = pytest.mark.long


@pytest.mark.clause("POP-ACK-001", "POP-REVIVE-001")
def test_acknowledgements_are_of_their_group_and_pop(
    pop_group: PopGroup, target: Target
) -> None:
    group = create_group(target, f"{pop_group.group}_other")
    both = pop_group, replace(pop_group, group=group)
    pop_group.send([b"%d" % number for number in range(2 + REVIVE_QUEUES)])
    for one in both:
        popped = [
            message
            for _ in range(2 + REVIVE_QUEUES)
            for message in one.pop(queueId=0, invisibleTime=SHORT_MS, maxMsgNums=1)
        ]
        for message in popped[:2]:
            require_success(one.acknowledge(message))
    # Each revive queue makes one of the others visible, behind the acknowledged ones.
    acknowledged = {b"0", b"1"}
    for one in both:
        again = bodies([*one.pop_revived(REVIVE_QUEUES), *one.pop()])
        expect(
            "POP-ACK-001",
            found=sorted(body for body in again if body in acknowledged),
            expected=[],
            what="acknowledged bodies popped again",
            transcript=pop_group.broker.transcript,
        )
        others = (b"%d" % number for number in range(2, 2 + REVIVE_QUEUES))
        expect_again(pop_group, again, others)


@pytest.mark.clause("POP-ACK-002")
def test_acknowledgements_advance_the_committed_offset(pop_group: PopGroup) -> None:
    pop_group.send(SENT)
    popped = pop_group.pop(queueId=0, maxMsgNums=2)
    for one in popped:
        require_success(pop_group.acknowledge(one))
    if not comes_true(lambda: pop_group.committed() == 2, AGAIN_S):
        pop_group.require_revival()
    expect(
        "POP-ACK-002",
        found=pop_group.committed(),
        expected=2,
        what=f"committed offset, at most {AGAIN_S:g} s later",
        transcript=pop_group.broker.transcript,
    )


@pytest.mark.clause("POP-ACK-003", "POP-ACK-004", "POP-ACK-005")
@pytest.mark.parametrize(
    ("clause", "fields", "code"),
    [
        ("POP-ACK-003", {"topic": "unknown_topic"}, ResponseCode.TOPIC_NOT_EXIST),
        ("POP-ACK-004", {"queueId": QUEUES}, ResponseCode.MESSAGE_ILLEGAL),
        ("POP-ACK-004", {"queueId": -1}, ResponseCode.MESSAGE_ILLEGAL),
        ("POP-ACK-005", {"offset": len(SENT) + 1}, ResponseCode.NO_MESSAGE),
    ],
)
def test_acknowledgements_of_nothing_are_refused(
    pop_group: PopGroup, clause: str, fields: dict[str, FieldValue], code: ResponseCode
) -> None:
    pop_group.send(SENT)
    popped = pop_group.pop(queueId=0)[0]
    response = pop_group.acknowledge(popped, **fields)
    expect_code(clause, response, code, pop_group.broker.transcript)


@pytest.mark.clause("POP-ACK-006")
def test_a_second_acknowledgement_is_accepted(pop_group: PopGroup) -> None:
    pop_group.send(SENT)
    popped = pop_group.pop(queueId=0, maxMsgNums=1)[0]
    for offset in (0, 0, 1):  # acknowledged, again, and one that was not popped
        response = pop_group.acknowledge(popped, offset=offset)
        expect_code(
            "POP-ACK-006", response, ResponseCode.SUCCESS, pop_group.broker.transcript
        )


@pytest.mark.clause("POP-ACK-007", "POP-ACK-008")
def test_a_batch_acknowledges_what_its_bits_name(pop_group: PopGroup) -> None:
    for empty in (BatchAckMessageRequestBody(broker_name=pop_group.broker_name), None):
        response = pop_group.broker.acknowledge_all(empty)
        expect_code(
            "POP-ACK-008",
            response,
            ResponseCode.NO_MESSAGE,
            pop_group.broker.transcript,
        )
    pop_group.send([b"before", *SENT], queue_id=2)
    require_success(pop_group.acknowledge(pop_group.pop(queueId=2, maxMsgNums=1)[0]))
    popped = pop_group.pop(queueId=2, invisibleTime=SHORT_MS)
    acks = BatchAckMessageRequestBody(
        broker_name=pop_group.broker_name,
        acks=(ack_of(pop_group, popped[0], bits=0b101),),
    )
    require_success(pop_group.broker.acknowledge_all(acks))
    again = bodies([*pop_group.pop_revived(1), *pop_group.pop()])
    expect(
        "POP-ACK-007",
        found=again,
        expected=[SENT[1]],
        what="bodies popped again, with the first and third acknowledged",
        transcript=pop_group.broker.transcript,
    )


@pytest.mark.clause("POP-INVISIBLE-001", "POP-INVISIBLE-003")
def test_a_shorter_invisible_time_ends_sooner(pop_group: PopGroup) -> None:
    pop_group.send(SENT[:1])
    popped = pop_group.pop(queueId=0, invisibleTime=NEVER_MS)[0]
    before = now_ms()
    response = pop_group.change(popped, SHORT_MS)
    expect_that(
        "POP-INVISIBLE-001",
        response.code == ResponseCode.SUCCESS,
        found=f"refused with code {response.code}: {response.remark}",
        expected="0 SUCCESS",
        what=f"change of the invisible time from {NEVER_MS} to {SHORT_MS} ms",
        transcript=pop_group.broker.transcript,
    )
    expect_fields(
        "POP-INVISIBLE-003",
        found=response.fields,
        expected={
            "invisibleTime": str(SHORT_MS),
            "reviveQid": str(popped.receipt.revive_queue_id),
        },
        transcript=pop_group.broker.transcript,
    )
    changed_at_ms = int(response.fields["popTime"])
    expect_that(
        "POP-INVISIBLE-003",
        before - TICK_MS <= changed_at_ms <= now_ms() + TICK_MS,
        found=changed_at_ms,
        expected="the time of the change",
        what="popTime",
        transcript=pop_group.broker.transcript,
    )
    again = pop_group.pop_revived(1)
    more = pop_group.pop()
    expect(
        "POP-INVISIBLE-001",
        found=bodies([*again, *more]),
        expected=SENT[:1],
        what="bodies",
        transcript=pop_group.broker.transcript,
    )
    waited_ms = again[0].record.stored_at_ms - changed_at_ms
    expect_that(
        "POP-INVISIBLE-001",
        waited_ms >= SHORT_MS - TICK_MS,
        found=waited_ms,
        expected=f"about {SHORT_MS} or more",
        what="milliseconds from the change until the message was visible again",
        transcript=pop_group.broker.transcript,
    )


@pytest.mark.clause("POP-INVISIBLE-002", "POP-REVIVE-001")
def test_a_longer_invisible_time_ends_later(pop_group: PopGroup) -> None:
    pop_group.send(SENT[:2])
    popped = pop_group.pop(queueId=0, invisibleTime=SHORT_MS)
    pop_group.require_change(popped[0], NEVER_MS)
    again = bodies([*pop_group.pop_revived(1), *pop_group.pop()])
    expect(
        "POP-INVISIBLE-002",
        found=[body for body in again if body == SENT[0]],
        expected=[],
        what=f"popped again, hidden for {NEVER_MS} ms more",
        transcript=pop_group.broker.transcript,
    )
    expect_again(pop_group, again, SENT[1:2])


@pytest.mark.clause("POP-INVISIBLE-006", "POP-INVISIBLE-007")
def test_a_change_replaces_the_receipt(pop_group: PopGroup) -> None:
    pop_group.send(SENT[:2])
    changed, old = pop_group.pop(queueId=0, invisibleTime=NEVER_MS)
    for one in (changed, old):
        fields = pop_group.require_change(one, SHORT_MS).fields
        if one is changed:
            receipt = replace(
                one.receipt,
                first_offset=one.record.queue_offset,
                popped_at_ms=int(fields["popTime"]),
                invisible_ms=int(fields["invisibleTime"]),
                revive_queue_id=int(fields["reviveQid"]),
            )
            require_success(pop_group.acknowledge(replace(one, receipt=receipt)))
    require_success(pop_group.acknowledge(old))
    again = bodies([*pop_group.pop_revived(1), *pop_group.pop()])
    expect(
        "POP-INVISIBLE-006",
        found=[body for body in again if body == SENT[0]],
        expected=[],
        what="popped again with the new receipt acknowledged",
        transcript=pop_group.broker.transcript,
    )
    expect(
        "POP-INVISIBLE-007",
        found=[body for body in again if body == SENT[1]],
        expected=[SENT[1]],
        what="popped again with the old receipt acknowledged",
        transcript=pop_group.broker.transcript,
    )


@pytest.mark.clause("POP-INVISIBLE-004")
def test_a_change_behind_the_queue_is_refused(pop_group: PopGroup) -> None:
    pop_group.send(SENT)
    popped = pop_group.pop(queueId=0)[0]
    response = pop_group.change(popped, SHORT_MS, offset=len(SENT))
    expect_code(
        "POP-INVISIBLE-004",
        response,
        ResponseCode.NO_MESSAGE,
        pop_group.broker.transcript,
    )


@pytest.mark.clause("POP-INVISIBLE-005")
@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"queueId": QUEUES}, ResponseCode.MESSAGE_ILLEGAL),
        ({"queueId": -1}, ResponseCode.MESSAGE_ILLEGAL),
        ({"topic": "unknown"}, ResponseCode.TOPIC_NOT_EXIST),
    ],
)
def test_changes_of_other_queues_are_refused(
    pop_group: PopGroup, fields: dict[str, FieldValue], code: ResponseCode
) -> None:
    pop_group.send(SENT)
    popped = pop_group.pop(queueId=0)[0]
    response = pop_group.change(popped, SHORT_MS, **fields)
    expect_code("POP-INVISIBLE-005", response, code, pop_group.broker.transcript)
