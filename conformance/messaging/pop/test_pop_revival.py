"""A message without acknowledgement is popped again, after its invisible time."""

from __future__ import annotations

import pytest

from conformance.harness.client.client import require_success
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_fields,
    expect_that,
)
from conformance.messaging.pop.pop_group import (
    AGAIN_S,
    SHORT_MS,
    TICK_MS,
    PopGroup,
    bodies,
    expect_again,
)
from conformance.messaging.stored_messages import topic_of
from spec.wire.message.properties import decode_properties

READ_AND_WRITE = 6
SENT = [b"first", b"second", b"third"]

pytestmark = pytest.mark.long


@pytest.mark.clause(
    "POP-ACK-001",
    "POP-REVIVE-001",
    "POP-REVIVE-002",
    "POP-REVIVE-003",
    "POP-REVIVE-004",
)
def test_messages_without_acknowledgement_are_popped_again(pop_group: PopGroup) -> None:
    pop_group.send(SENT)
    popped = pop_group.pop(queueId=0, invisibleTime=SHORT_MS)
    require_success(pop_group.acknowledge(popped[1]))
    again = pop_group.pop_in_time(2)
    expect_that(
        "POP-REVIVE-001",
        len(again) >= 2,
        found=len(again),
        expected="2",
        what=f"messages popped again, at most {AGAIN_S:g} s later",
        transcript=pop_group.broker.transcript,
    )
    found = bodies([*again, *pop_group.pop()])
    expect(
        "POP-ACK-001",
        found=[body for body in found if body == SENT[1]],
        expected=[],
        what="acknowledged bodies popped again",
        transcript=pop_group.broker.transcript,
    )
    expect_again(pop_group, found, [SENT[0], SENT[2]])
    popped_at_ms = popped[0].receipt.popped_at_ms
    for one in again:
        waited_ms = one.record.stored_at_ms - popped_at_ms
        expect_that(
            "POP-REVIVE-001",
            waited_ms >= SHORT_MS - TICK_MS,
            found=waited_ms,
            expected=f"about {SHORT_MS} or more",
            what="milliseconds from the pop until the message was visible again",
            transcript=pop_group.broker.transcript,
        )
        expect_fields(
            "POP-REVIVE-002",
            found={
                "topic": one.record.topic,
                "reconsume_times": one.record.reconsume_times,
            },
            expected={"topic": pop_group.topic, "reconsume_times": 1},
            transcript=pop_group.broker.transcript,
        )
        expect_fields(
            "POP-REVIVE-003",
            found=decode_properties(one.record.properties),
            expected={"1ST_POP_TIME": str(popped_at_ms)},
            transcript=pop_group.broker.transcript,
        )
        expect(
            "POP-REVIVE-003",
            found=one.receipt.queue_offset,
            expected=one.record.queue_offset,
            what="queue offset in POP_CK",
            transcript=pop_group.broker.transcript,
        )
    retry = topic_of(pop_group.broker, pop_group.retry_topic)
    expect_fields(
        "POP-REVIVE-004",
        found={"queues": retry.read_queue_count, "permission": retry.permission},
        expected={"queues": 1, "permission": READ_AND_WRITE},
        transcript=pop_group.broker.transcript,
    )
    for one in again:
        require_success(pop_group.acknowledge(one))
