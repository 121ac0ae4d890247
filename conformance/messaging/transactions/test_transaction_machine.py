"""
Producers send half messages and decide in any way, while the broker checks them.

Their messages are old, and the broker checks without pause. Each is checked until it
is decided, or until the machine lets the broker give up.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from conformance.harness.client.client import now_ms, require_success
from conformance.harness.process.deadline import TooLateError, wait_until
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_code,
    expect_fields,
)
from conformance.harness.pytest_plugin.known_settings import changed
from conformance.harness.pytest_plugin.stateful import run_machine
from conformance.harness.pytest_plugin.target_cache import TargetCache
from conformance.harness.targets.target import Target
from conformance.messaging.conftest import checking
from conformance.messaging.transactions.check_comparison import CheckComparison
from conformance.messaging.transactions.half import Half
from conformance.messaging.transactions.producer_groups import (
    OWN,
    ProducerGroups,
    restless_settings,
)
from conformance.models.transactions import HalfMessage, Place, Transactions
from spec.wire.message.properties import decode_properties
from spec.wire.message.transactions import Decision
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode

PATIENCE_S = 60.0
QUIET_S = 0.02
DECISIONS = [Decision.COMMIT, Decision.ROLLBACK]

numbers = st.integers(0, 20)
bodies = st.binary(min_size=1, max_size=40)


@pytest.fixture(scope="module")
def restless(
    pytestconfig: pytest.Config, target: Target, target_cache: TargetCache
) -> Iterator[Target]:
    """Yield a target whose broker checks half messages without pause."""
    settings = restless_settings(target)
    yield from checking(pytestconfig, target, target_cache, settings, settings)


class TransactionMachine(RuleBasedStateMachine):
    """Does everything to half messages of a broker, and to a model of them."""

    def __init__(self, target: Target) -> None:
        super().__init__()
        self.model = Transactions()
        self.stage = ProducerGroups(target)
        self.broker = self.stage.broker
        self.checks = CheckComparison(self.stage, self.model, target.release)
        self.ordinary: list[Place] = []

    def teardown(self) -> None:
        """Let the broker give up what is open, and compare what it has noted."""
        try:
            if sys.exception() is None and self.model.halves:
                self.give_up()
            expect(
                "TXN-END-004",
                found=self.broker.peer.is_silent(QUIET_S),
                expected=True,
                what="no answer to a decision that is none",
                transcript=self.broker.transcript,
            )
        finally:
            self.stage.close()

    @rule(group=st.integers(0, 1), queue_id=st.integers(0, 1), body=bodies)
    def send(self, group: int, queue_id: int, body: bytes) -> None:
        """Send a half message: it is in the half topic, and nowhere else."""
        key = self.stage.key(len(self.model.halves))
        name = self.stage.groups[group]
        half = self.stage.send(key, name, queue_id=queue_id, body=body)
        self.model.halves[key] = half
        (place,) = half.places
        self.checks.compare_half(
            "TXN-HALF-003", half, self.stage.half_topic_at(place), place
        )

    @rule(queue_id=st.integers(0, 1), body=bodies)
    def send_ordinary(self, queue_id: int, body: bytes) -> None:
        """Send an ordinary message, which is delivered without delay."""
        response = require_success(
            self.broker.send_message(
                topic=self.stage.topic, queue_id=queue_id, body=body
            )
        )
        number = self.model.deliver(queue_id, body)
        expect(
            "TXN-HALF-001",
            found=response.fields["queueOffset"],
            expected=str(number),
            what="queueOffset",
            transcript=self.broker.transcript,
        )
        offset = Half(group="", response=response, unique_key="").commit_log_offset
        self.ordinary.append(Place(commit_log_offset=offset, queue_offset=number))

    @precondition(lambda self: self.model.halves)
    @rule(which=numbers, place=numbers, decision=st.sampled_from(DECISIONS))
    def decide(self, which: int, place: int, decision: Decision) -> None:
        """Decide a half message at any of its places, also when it is decided."""
        half = self.half(which)
        chosen = half.places[place % len(half.places)]
        response = self.stage.end(chosen, decision, group=half.group)
        self.decided(half, chosen, decision, response=response)

    @precondition(lambda self: self.model.halves)
    @rule(which=numbers, decision=st.sampled_from(DECISIONS))
    def decide_oneway(self, which: int, decision: Decision) -> None:
        """Decide without waiting for a response, as clients do."""
        half = self.half(which)
        place = half.places[-1]
        self.stage.end(place, decision, group=half.group, oneway=True)
        self.decided(half, place, decision)
        self.wait_for_notes("TXN-END-011")

    @precondition(lambda self: self.model.halves)
    @rule(which=numbers)
    def be_unsure(self, which: int) -> None:
        """Send END_TRANSACTION with type unknown, which changes nothing."""
        self.stage.end_unknown(self.half(which))

    @precondition(lambda self: self.model.halves)
    @rule(which=numbers, decision=st.sampled_from([1, 4, 16, -1]))
    def talk_nonsense(self, which: int, decision: int) -> None:
        """Send END_TRANSACTION with a decision that does not exist."""
        half = self.half(which)
        self.refused("TXN-END-017", half.group, half.places[-1], decision)

    @precondition(lambda self: self.model.halves)
    @rule(
        which=numbers,
        decision=st.sampled_from(DECISIONS),
        off_by=st.sampled_from([-1, 1]),
    )
    def decide_elsewhere(self, which: int, decision: int, off_by: int) -> None:
        """Decide with a wrong number in the half topic."""
        half = self.half(which)
        right = half.places[-1]
        wrong = Place(
            commit_log_offset=right.commit_log_offset,
            queue_offset=right.queue_offset + off_by,
        )
        self.refused("TXN-END-007", half.group, wrong, decision)

    @precondition(lambda self: self.model.halves)
    @rule(which=numbers, decision=st.sampled_from(DECISIONS))
    def decide_as_another(self, which: int, decision: int) -> None:
        """Decide as the other group."""
        half = self.half(which)
        other = next(group for group in self.stage.groups if group != half.group)
        self.refused("TXN-END-006", other, half.places[-1], decision)

    @precondition(lambda self: self.ordinary)
    @rule(which=numbers, decision=st.sampled_from(DECISIONS))
    def decide_an_ordinary_one(self, which: int, decision: int) -> None:
        """Decide a message that is not half of anything."""
        place = self.ordinary[which % len(self.ordinary)]
        self.refused("TXN-END-012", self.stage.groups[0], place, decision)

    @rule(which=numbers, decision=st.sampled_from([*DECISIONS, None]))
    def wait_for_check(self, which: int, decision: Decision | None) -> None:
        """Wait for a check request of an open message, and perhaps respond.

        Which are open depends on when questions come: that is no precondition, or
        Hypothesis would think that the rules to choose from changed by themselves.
        """
        if not self.open_ones:
            return
        half = self.open_ones[which % len(self.open_ones)]
        count = len(half.places)

        def is_checked() -> bool:
            self.checks.compare(self.stage.questions())
            return len(half.places) > count

        self.comes_true("TXN-CHECK-001", is_checked, "a question about an open message")
        if decision is not None:
            place, group = half.places[-1], half.group
            response = self.stage.end(place, decision, group=group, from_check=True)
            self.decided(half, place, decision, response=response)

    @precondition(lambda self: self.model.halves)
    @rule()
    def give_up(self) -> None:
        """Let the broker give up all that is open, and come to rest."""
        self.wait_for_notes("TXN-OP-001")
        with changed(self.broker, transactionCheckMax="1"):
            try:
                self.stage.wait_for_rest(PATIENCE_S)
            except TooLateError as late:
                expect("TXN-CHECK-008", found=str(late), expected="no more questions")
        self.checks.compare(self.stage.late_questions())
        self.comes_true(
            "TXN-CHECK-006", self.checks.has_received_all, "each question's elder"
        )
        self.model.give_up(now_ms())
        openly = self.checks.given_up == "TXN-CHECK-009"
        expected = sorted(self.model.given_up) if openly else []
        # The broker passes over a message as soon as it is put where it is given up:
        # its unit may follow.
        self.comes_true(
            self.checks.given_up,
            lambda: len(self.stage.given_up()) >= len(expected),
            "the messages given up",
        )
        expect(
            self.checks.given_up,
            found=sorted(self.stage.given_up()),
            expected=expected,
            what="keys of the messages given up",
            transcript=self.broker.transcript,
        )

    @invariant()
    def what_can_be_pulled_is_in_the_model(self) -> None:
        """Compare both queues."""
        for queue_id, expected in self.model.queues.items():
            found = self.stage.pulled(queue_id, len(expected))
            expect(
                "TXN-HALF-001",
                found=[record.body for record in found],
                expected=expected,
                what=f"bodies in queue {queue_id}",
                transcript=self.broker.transcript,
            )

    def half(self, which: int) -> HalfMessage:
        """Return one of the half messages, open or not."""
        return list(self.model.halves.values())[which % len(self.model.halves)]

    @property
    def open_ones(self) -> list[HalfMessage]:
        """The half messages without a decision."""
        return [half for half in self.model.halves.values() if half.is_open]

    def decided(
        self,
        half: HalfMessage,
        place: Place,
        decision: Decision,
        *,
        response: Command | None = None,
    ) -> None:
        """Note a decision; its *response* must be a success."""
        commits = decision == Decision.COMMIT
        if response is not None:
            clause = "TXN-END-001" if commits else "TXN-END-003"
            expect_code(clause, response, ResponseCode.SUCCESS, self.broker.transcript)
        self.model.decide(half, place, commits=commits, now_ms=now_ms())
        if commits:
            self.compare_delivered(half, place)

    def compare_delivered(self, half: HalfMessage, place: Place) -> None:
        """Compare what a commit delivered last with what was sent."""
        count = len(self.model.queues[half.queue_id])
        record = self.stage.pulled(half.queue_id, count)[count - 1]
        expect_fields(
            "TXN-END-001",
            found={"body": record.body, **decode_properties(record.properties)},
            expected={"body": half.body, "UNIQ_KEY": half.key, **OWN},
            transcript=self.broker.transcript,
        )
        self.checks.compare_flag("TXN-END-001", half, record, place)
        expect(
            "TXN-END-002",
            found=record.prepared_transaction_offset,
            expected=place.commit_log_offset,
            what="prepared transaction offset",
            transcript=self.broker.transcript,
        )

    def refused(self, clause: str, group: str, place: Place, decision: int) -> None:
        """Fail *clause* unless a decision is refused."""
        response = self.stage.end(place, decision, group=group)
        expect_code(clause, response, ResponseCode.SYSTEM_ERROR, self.broker.transcript)

    def wait_for_notes(self, clause: str) -> None:
        """Wait until what is decided is noted, and compare what else is."""
        self.comes_true(
            clause, lambda: self.stage.notes() >= self.model.noted, "the notes"
        )
        expect(
            "TXN-OP-001",
            found=sorted(self.stage.notes()),
            expected=sorted(self.model.noted),
            what="numbers that are noted",
            transcript=self.broker.transcript,
        )

    def comes_true(self, clause: str, condition: Callable[[], bool], what: str) -> None:
        """Fail *clause* unless a condition comes true in time."""
        try:
            wait_until(condition, what=what, timeout_s=PATIENCE_S)
        except TooLateError as late:
            expect(clause, found=str(late), expected=what)


@pytest.mark.long
@pytest.mark.clause(
    "TXN-HALF-001",
    "TXN-HALF-003",
    "STORE-SYSTOPIC-001",
    "STORE-SYSTOPIC-002",
    "TXN-END-001",
    "TXN-END-002",
    "TXN-END-003",
    "TXN-END-004",
    "TXN-END-006",
    "TXN-END-007",
    "TXN-END-008",
    "TXN-END-009",
    "TXN-END-011",
    "TXN-END-012",
    "TXN-END-013",
    "TXN-END-017",
    "TXN-OP-001",
    "TXN-CHECK-001",
    "TXN-CHECK-006",
    "TXN-CHECK-007",
    "TXN-CHECK-008",
    "TXN-CHECK-009",
    "TXN-CHECK-010",
    "TXN-CHECK-021",
)
def test_half_messages_do_what_a_dictionary_does(
    restless: Target, pytestconfig: pytest.Config
) -> None:
    run_machine(
        pytestconfig, lambda: TransactionMachine(restless), examples=12, steps=20
    )
