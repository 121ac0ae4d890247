"""
Clients of two groups lock queues, lock them again, give them back, or forget to.

A lock ends after a minute. On a target with the clock capability a minute passes in a
fifth of a second. A real broker gets a shorter lock time by a setting.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from conformance.harness.blocked.preconditions import precondition
from conformance.harness.blocked.skips import unsupported
from conformance.harness.client.client import body_of, queue_data, require_success
from conformance.harness.client.transcript import Transcript
from conformance.harness.process.deadline import (
    TooLateError,
    comes_true,
    wait_until,
)
from conformance.harness.pytest_plugin.expectations import expect, expect_that
from conformance.harness.pytest_plugin.fixtures import (
    another_target,
    need,
    unique_name,
    with_clock_rate,
)
from conformance.harness.pytest_plugin.stateful import run_machine
from conformance.harness.targets.target import Capability, Target
from conformance.models.groups import Locks

SHORT_LIFE_S = 0.2
CLOCK_RATE = 60 / SHORT_LIFE_S
LIFE_SETTING = "rocketmq.broker.rebalance.lockMaxLiveTime"
"""A property of the Java process, in milliseconds."""
CLOCKS_DIFFER_S = 0.002
"""A broker counts whole milliseconds, and we do not."""
PATIENCE_S = 10.0

clients = st.sampled_from(["first", "second", "third"])
groups = st.integers(0, 1)
queues = st.sets(st.integers(0, 2), min_size=1)


@pytest.fixture(scope="module")
def forgetful(pytestconfig: pytest.Config, target: Target) -> Iterator[Target]:
    """Yield a target whose locks end soon."""
    need(target, Capability.WIRE, Capability.CONFIG)
    if Capability.CLOCK in target.capabilities:
        own = with_clock_rate(pytestconfig, CLOCK_RATE)
    else:
        conf = {LIFE_SETTING: str(int(SHORT_LIFE_S * 1000))}
        own = another_target(pytestconfig, conf)
    with own:
        if target.is_foreign:
            need_short_lives(own)
        yield own


def need_short_lives(target: Target) -> None:
    """Make the running test unsupported unless a lock of *target* ends soon.

    A broker in another language need not have a property of the Java process.
    """
    topic, group = unique_name("locked"), unique_name("group")
    queue = queue_data(topic=topic, broker_name=target.broker_name, queue_id=0)

    def is_locked_by(client: str) -> bool:
        with target.connect_to_broker() as broker:
            response = broker.lock_queues(group=group, client_id=client, queues=[queue])
        found = body_of(response)
        return isinstance(found, dict) and bool(found.get("lockOKMQSet"))

    with precondition():
        if is_locked_by("first") and not comes_true(
            lambda: is_locked_by("second"), 10 * SHORT_LIFE_S
        ):
            unsupported(f"its locks last longer than {LIFE_SETTING} states")


class LockMachine(RuleBasedStateMachine):
    """Locks three queues of a topic in two groups, for three clients."""

    def __init__(self, target: Target) -> None:
        super().__init__()
        self.target = target
        self.topic = unique_name("locked")
        self.groups = [unique_name("group") for _ in range(2)]
        self.model = Locks(life=SHORT_LIFE_S)

    @rule(client=clients, group=groups, wanted=queues)
    def lock(self, client: str, group: int, wanted: set[int]) -> None:
        """Lock some queues: the client gets those that are free."""
        name = self.groups[group]
        began = time.monotonic() - CLOCKS_DIFFER_S
        got, transcript = self.lock_queues(name, client, wanted)
        ended = time.monotonic() + CLOCKS_DIFFER_S
        for queue_id in sorted(wanted):
            possible = self.model.may_take(
                (name, queue_id), client, began=began, ended=ended
            )
            held = self.model.held.get((name, queue_id))
            expect_that(
                self.clause_of_lock(name, queue_id, client),
                (queue_id in got) in possible,
                found=sorted(got),
                expected=f"queue {queue_id}, held by {held}: {possible}",
                what=f"queues that {client} gets of {sorted(wanted)}",
                transcript=transcript,
            )
        expect(
            "GROUP-LOCK-001",
            found=got - wanted,
            expected=set(),
            what="unasked",
            transcript=transcript,
        )
        for queue_id in got:
            self.model.take((name, queue_id), client, began=began, ended=ended)

    @rule(client=clients, group=groups, given=queues)
    def unlock(self, client: str, group: int, given: set[int]) -> None:
        """Give some queues back, also those that are another's."""
        name = self.groups[group]
        with self.target.connect_to_broker() as broker:
            require_success(
                broker.unlock_queues(
                    group=name, client_id=client, queues=self.queues(given)
                )
            )
        for queue_id in given:
            self.model.release((name, queue_id), client)

    @rule(client=clients, other=clients, group=groups, queue_id=st.integers(0, 2))
    def renew(self, client: str, other: str, group: int, queue_id: int) -> None:
        """Lock a queue, and again later; then another client tries."""
        self.lock(client, group, {queue_id})
        self.let_time_pass(0.75)
        self.lock(client, group, {queue_id})
        self.let_time_pass(0.5)
        self.lock(other, group, {queue_id})

    @rule(client=clients, group=groups, queue_id=st.integers(0, 2))
    def wait_for_end(self, client: str, group: int, queue_id: int) -> None:
        """Try to get another's queue until its lock has ended, and no sooner."""
        name = self.groups[group]
        held = self.model.held.get((name, queue_id))
        if held is None or held.client_id == client:
            return

        def is_got() -> bool:
            self.lock(client, group, {queue_id})
            return self.model.held[name, queue_id].client_id == client

        try:
            wait_until(is_got, what="a lock ends", timeout_s=PATIENCE_S)
        except TooLateError as late:
            expect("GROUP-LOCK-005", found=str(late), expected="the queue")

    def let_time_pass(self, part: float) -> None:
        """Do nothing for a part of a lock's life."""
        then = time.monotonic() + part * SHORT_LIFE_S
        wait_until(lambda: time.monotonic() >= then, what="time passes")

    def clause_of_lock(self, name: str, queue_id: int, client: str) -> str:
        """Return the clause that decides whether a client gets a queue."""
        held = self.model.held.get((name, queue_id))
        if held is None:
            others = [key for key in self.model.held if key[1] == queue_id]
            return "GROUP-LOCK-003" if others else "GROUP-LOCK-004"
        if held.client_id == client:
            return "GROUP-LOCK-001"
        if held.is_renewed:
            return "GROUP-LOCK-006"
        is_new = time.monotonic() - held.earliest < SHORT_LIFE_S / 2
        return "GROUP-LOCK-002" if is_new else "GROUP-LOCK-005"

    def lock_queues(
        self, group: str, client: str, wanted: set[int]
    ) -> tuple[set[int], Transcript]:
        """Return the queues that a client holds of those that it locks, and the frames.

        Each request has a connection of its own, for a lock belongs to the client. On a
        hastened clock a connection that rests for a moment is closed.
        """
        with self.target.connect_to_broker() as broker:
            response = broker.lock_queues(
                group=group, client_id=client, queues=self.queues(wanted)
            )
        found = body_of(response)
        assert isinstance(found, dict)
        held = {int(queue["queueId"]) for queue in found["lockOKMQSet"]}
        return held, broker.transcript

    def queues(self, queue_ids: set[int]) -> list[dict[str, object]]:
        """Return queues as lock bodies name them."""
        name = self.target.broker_name
        return [
            queue_data(topic=self.topic, broker_name=name, queue_id=queue_id)
            for queue_id in sorted(queue_ids)
        ]


@pytest.mark.clause(
    "GROUP-LOCK-001",
    "GROUP-LOCK-002",
    "GROUP-LOCK-003",
    "GROUP-LOCK-004",
    "GROUP-LOCK-005",
    "GROUP-LOCK-006",
)
def test_locks_do_what_a_dictionary_does(
    forgetful: Target, pytestconfig: pytest.Config
) -> None:
    run_machine(pytestconfig, lambda: LockMachine(forgetful), examples=8, steps=10)
