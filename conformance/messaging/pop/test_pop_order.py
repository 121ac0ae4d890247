"""Orderly pops: a queue is blocked until its popped messages are acknowledged."""

from __future__ import annotations

import pytest

from conformance.harness.client.client import require_success
from conformance.harness.pytest_plugin.expectations import charged, expect
from conformance.messaging.pop.pop_group import PopGroup, PoppedMessage, bodies
from spec.wire.pop.pop_receipt import ORDERED_REVIVE_QUEUE, popped_queues_of

SHORT_MS = 1_500
SENT = [b"%d" % number for number in range(4)]


def pop_orderly(pop_group: PopGroup, attempt: str, **more: int) -> list[PoppedMessage]:
    """Pop up to two messages of queue 0 in order, as *attempt*."""
    return pop_group.pop(queueId=0, order=True, maxMsgNums=2, attemptId=attempt, **more)


@pytest.mark.clause("POP-ORDER-001", "POP-ORDER-002", "POP-ORDER-003")
def test_a_queue_is_blocked_until_all_is_acknowledged(pop_group: PopGroup) -> None:
    pop_group.send(SENT)
    first = pop_orderly(pop_group, "first")
    expect(
        "POP-ORDER-003",
        found=bodies(first),
        expected=SENT[:2],
        what="first pop",
        transcript=pop_group.broker.transcript,
    )
    expect(
        "POP-ORDER-001",
        found={one.receipt.revive_queue_id for one in first},
        expected={ORDERED_REVIVE_QUEUE},
        what="reviveQid",
        transcript=pop_group.broker.transcript,
    )
    for one in first:
        blocked = bodies(pop_orderly(pop_group, "second"))
        expect(
            "POP-ORDER-002",
            found=blocked,
            expected=[],
            what="popped while blocked",
            transcript=pop_group.broker.transcript,
        )
        require_success(pop_group.acknowledge(one))
    expect(
        "POP-ORDER-003",
        found=pop_group.committed(),
        expected=2,
        what="committed",
        transcript=pop_group.broker.transcript,
    )
    following = bodies(pop_orderly(pop_group, "third"))
    expect(
        "POP-ORDER-003",
        found=following,
        expected=SENT[2:],
        what="next pop",
        transcript=pop_group.broker.transcript,
    )


@pytest.mark.clause("POP-ORDER-004")
def test_the_same_attempt_gets_the_same_messages(pop_group: PopGroup) -> None:
    pop_group.send(SENT)
    found = [bodies(pop_orderly(pop_group, "attempt")) for _ in range(2)]
    expect(
        "POP-ORDER-004",
        found=found,
        expected=[SENT[:2]] * 2,
        what="two pops",
        transcript=pop_group.broker.transcript,
    )


@pytest.mark.clause("POP-ORDER-005")
def test_messages_without_acknowledgement_come_again_in_order(
    pop_group: PopGroup,
) -> None:
    pop_group.send(SENT)
    first = pop_orderly(pop_group, "first", invisibleTime=SHORT_MS)
    expect(
        "POP-ORDER-005",
        found=bodies(first),
        expected=SENT[:2],
        what="first pop",
        transcript=pop_group.broker.transcript,
    )
    again = pop_group.pop_in_time(2, queueId=0, order=True, maxMsgNums=2)
    expect(
        "POP-ORDER-005",
        found=bodies(again),
        expected=SENT[:2],
        what="next pop",
        transcript=pop_group.broker.transcript,
    )
    with charged("POP-ORDER-005", pop_group.broker.transcript):
        counts = popped_queues_of(again[0].response.fields, "orderCountInfo")
    expect(
        "POP-ORDER-005",
        found={one.queue: one.offsets for one in counts},
        expected={"qo0%0": (1,), "qo0%1": (1,), "0": (1,)},
        what="orderCountInfo",
        transcript=pop_group.broker.transcript,
    )
