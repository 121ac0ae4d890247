"""
Messages are popped, acknowledged, hidden for another time, and popped again.

Every popped message is compared with the model. Acknowledged messages never return.
Hidden ones return after their invisible time only, and at the end nothing is missing.
Receipts with a short invisible time are not used: an acknowledgement could race it.
"""

from __future__ import annotations

import sys
from collections.abc import Set
from dataclasses import replace

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from conformance.harness.blocked.skips import blocked
from conformance.harness.client.client import require_success
from conformance.harness.process.deadline import comes_true
from conformance.harness.pytest_plugin.expectations import expect, expect_that
from conformance.harness.pytest_plugin.fixtures import (
    create_group,
    create_topic,
    unique_name,
)
from conformance.harness.pytest_plugin.stateful import run_machine
from conformance.harness.targets.target import Target
from conformance.messaging.pop.pop_group import (
    AGAIN_S,
    NEVER_AGAIN,
    PopGroup,
    PoppedMessage,
    Revival,
    ack_of,
)
from conformance.models.pops import Broken, Pops
from spec.wire.pop.pop_bodies import BatchAckMessageRequestBody
from spec.wire.pop.pop_message import ANY_QUEUE
from spec.wire.pop.pop_receipt import TopicKind

pytestmark = pytest.mark.long

QUEUES = 2
SHORT_MS = 1_500
LONG_MS = 600_000
"""Invisible time that no test waits for."""

invisible_times = st.sampled_from([SHORT_MS, LONG_MS, LONG_MS])
queue_ids = st.integers(0, QUEUES - 1)
choices = st.integers(0, 30)


class PopMachine(RuleBasedStateMachine):
    """One group that pops a topic with two queues."""

    def __init__(self, target: Target, observed_revival: Revival) -> None:
        super().__init__()
        # A refusal ends the test here, before there is a connection to close.
        topic = create_topic(target, unique_name("popped"), queue_count=QUEUES)
        group = create_group(target, unique_name("group"))
        self.broker = target.connect_to_broker()
        self.pop_group = PopGroup(
            broker=self.broker,
            broker_name=target.broker_name,
            topic=topic,
            group=group,
            revival=observed_revival,
        )
        self.model = Pops()
        self.sent = [0] * QUEUES
        self.held: dict[int, PoppedMessage] = {}
        """Hidden messages with a long invisible time, by number."""

    def teardown(self) -> None:
        """Acknowledge everything that is popped until nothing is missing."""
        try:
            if sys.exception() is None:
                self.acknowledge_the_rest()
        finally:
            self.broker.close()

    @initialize()
    def begin(self) -> None:
        """Send a message to each queue."""
        for queue_id in range(QUEUES):
            self.send(queue_id, 1)

    @rule(queue_id=queue_ids, count=st.integers(1, 3))
    def send(self, queue_id: int, count: int) -> None:
        """Send messages, and wait until the queue has them."""
        for _ in range(count):
            number = sum(self.sent)
            require_success(
                self.broker.send_message(
                    topic=self.pop_group.topic, queue_id=queue_id, body=b"%d" % number
                )
            )
            self.sent[queue_id] += 1
            self.model.send(number, queue_id=queue_id)
        self.broker.wait_for_max_offset(
            topic=self.pop_group.topic, queue_id=queue_id, offset=self.sent[queue_id]
        )

    @rule(
        queue_id=st.sampled_from([ANY_QUEUE, *range(QUEUES)]),
        count=st.sampled_from([1, 2, 32]),
        invisible_ms=invisible_times,
    )
    def pop(self, queue_id: int, count: int, invisible_ms: int) -> None:
        """Pop up to *count* messages, and hide them for a time."""
        self.take(
            self.pop_group.pop(
                queueId=queue_id, maxMsgNums=count, invisibleTime=invisible_ms
            )
        )

    @precondition(lambda self: self.held)
    @rule(which=choices, in_batch=st.booleans())
    def acknowledge(self, which: int, in_batch: bool) -> None:
        """Acknowledge one of the held messages."""
        number = self.chosen(which)
        popped = self.held.pop(number)
        if in_batch:
            receipt = popped.receipt
            bit = 1 << (popped.record.queue_offset - receipt.first_offset)
            ack = ack_of(self.pop_group, popped, bits=bit)
            acks = BatchAckMessageRequestBody(
                broker_name=self.pop_group.broker_name, acks=(ack,)
            )
            require_success(self.broker.acknowledge_all(acks))
        else:
            require_success(self.pop_group.acknowledge(popped))
        self.model.acknowledge(number)

    @precondition(lambda self: self.held)
    @rule(which=choices, invisible_ms=invisible_times)
    def change(self, which: int, invisible_ms: int) -> None:
        """Hide one of the held messages for another time."""
        number = self.chosen(which)
        popped = self.held.pop(number)
        changed = self.pop_group.require_change(popped, invisible_ms).fields
        receipt = replace(
            popped.receipt,
            first_offset=popped.record.queue_offset,
            popped_at_ms=int(changed["popTime"]),
            invisible_ms=int(changed["invisibleTime"]),
            revive_queue_id=int(changed["reviveQid"]),
        )
        if invisible_ms == LONG_MS:
            self.held[number] = replace(popped, receipt=receipt)
        self.model.change(
            number, visible_at_ms=receipt.popped_at_ms + receipt.invisible_ms
        )

    @precondition(lambda self: self.abandoned)
    @rule()
    def wait_for_one(self) -> None:
        """Wait until one of the messages with a short invisible time comes again."""
        self.pop_until(1, self.abandoned)

    @property
    def abandoned(self) -> set[int]:
        """Messages that a broker must return again soon."""
        return self.model.hidden.keys() - self.held.keys()

    def chosen(self, which: int) -> int:
        """Return the number of a held message."""
        numbers = sorted(self.held)
        return numbers[which % len(numbers)]

    def pop_until(self, count: int, numbers: Set[int]) -> None:
        """Pop with a long invisible time until *count* of the *numbers* are held."""

        def is_met() -> bool:
            self.pop(ANY_QUEUE, 32, LONG_MS)
            is_met = len(numbers & self.held.keys()) >= count
            if not is_met and self.pop_group.revival.is_dead():
                blocked(NEVER_AGAIN)
            return is_met

        if not comes_true(is_met, AGAIN_S):
            self.pop_group.require_revival()
            part = "" if count == len(numbers) else f"{count} of "
            expect_that(
                "POP-REVIVE-001",
                False,
                found=in_words(numbers & self.held.keys()),
                expected=part + in_words(numbers),
                what=f"popped again, at most {AGAIN_S:g} s later",
                transcript=self.broker.transcript,
            )

    def take(self, popped: list[PoppedMessage]) -> None:
        """Compare popped messages with the model, and hide them there."""
        first: dict[int, list[int]] = {}
        for one in popped:
            number = int(one.record.body)
            if one.receipt.topic_kind == TopicKind.NORMAL:
                first.setdefault(one.record.queue_id, []).append(number)
            else:
                self.require(
                    self.model.repeated(number, stored_at_ms=one.record.stored_at_ms)
                )
        for queue_id, numbers in first.items():
            self.require(self.model.first_pops(numbers, queue_id=queue_id))
        for one in popped:
            self.hide(one)

    def hide(self, one: PoppedMessage) -> None:
        """Hide a popped message in the model; keep it if its receipt may be used."""
        number, receipt = int(one.record.body), one.receipt
        expect(
            "POP-REVIVE-002",
            found=one.record.reconsume_times,
            expected=self.model.popped_times[number],
            what=f"reconsume_times of message {number}",
            transcript=self.broker.transcript,
        )
        self.model.hide(
            number, visible_at_ms=receipt.popped_at_ms + receipt.invisible_ms
        )
        self.held.pop(number, None)
        if receipt.invisible_ms == LONG_MS:
            self.held[number] = one

    def require(self, broken: Broken | None) -> None:
        """Fail the clause that a pop has broken."""
        if broken is not None:
            expect_that(
                broken.clause,
                False,
                found=broken.reason,
                expected="none of it",
                what="popped",
                transcript=self.broker.transcript,
            )

    def acknowledge_the_rest(self) -> None:
        """Pop what is left, acknowledge it, and pop nothing more."""
        self.pop_until(len(self.model.missing), self.model.missing)
        for number in sorted(self.held):
            self.acknowledge(sorted(self.held).index(number), in_batch=False)
        self.pop(ANY_QUEUE, 32, LONG_MS)
        expect(
            "POP-ACK-001",
            found=sorted(self.held),
            expected=[],
            what="messages popped after all are acknowledged",
            transcript=self.broker.transcript,
        )


def in_words(numbers: Set[int]) -> str:
    """Return the messages with these *numbers*, as text."""
    noun = "message" if len(numbers) == 1 else "messages"
    listed = ", ".join(map(str, sorted(numbers)))
    return f"{noun} {listed}" if numbers else "no message"


@pytest.mark.clause(
    "POP-ACK-001",
    "POP-GET-003",
    "POP-HIDE-001",
    "POP-INVISIBLE-001",
    "POP-INVISIBLE-002",
    "POP-REVIVE-001",
    "POP-REVIVE-002",
)
@pytest.mark.long
def test_popped_messages_do_what_sets_do(
    target: Target, pytestconfig: pytest.Config, observed_revival: Revival
) -> None:
    def machine() -> PopMachine:
        return PopMachine(target, observed_revival)

    run_machine(pytestconfig, machine, examples=4, steps=12)
