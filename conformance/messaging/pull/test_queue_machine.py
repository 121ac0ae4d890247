"""A machine sends, pulls and commits at will, and compares the broker with lists."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from conformance.harness.client.client import batch_body, require_success
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.fixtures import (
    create_group,
    create_topic,
    unique_name,
)
from conformance.harness.pytest_plugin.stateful import run_machine
from conformance.harness.targets.shared_target import SharedTarget
from conformance.harness.targets.target import Capability
from conformance.messaging.stored_messages import records_of
from conformance.models.queues import Queues
from conformance.strategies.messages import bodies
from spec.wire.consumer.pull import PullFlag
from spec.wire.remoting.response_code import ResponseCode

queue_ids = st.integers(0, 2)
groups = st.sampled_from(["one", "two"])
small_bodies = bodies(most=2**12)
COMMIT = int(PullFlag.COMMIT_OFFSET | PullFlag.SUBSCRIPTION)


class QueueMachine(RuleBasedStateMachine):
    """Does everything to a topic of the broker, and to a model of it."""

    def __init__(self, target: SharedTarget) -> None:
        super().__init__()
        self.target = target
        self.model = Queues()
        self.broker = self.target.connect_to_broker()
        self.topic = unique_name("machine")
        self.run = unique_name("run")

    def teardown(self) -> None:
        """Close the connection."""
        self.broker.close()

    @initialize()
    def begin(self) -> None:
        """Create the topic, both groups, and one message in every queue."""
        create_topic(self.target, self.topic, queue_count=3)
        for group in ("one", "two"):
            create_group(self.target, self.named(group))
        for queue_id in range(3):
            self.send(queue_id, b"first")
            self.broker.wait_for_max_offset(
                topic=self.topic, queue_id=queue_id, offset=1
            )

    def named(self, group: str) -> str:
        """Return this run's name of *group*."""
        return f"{self.run}_{group}"

    @rule(queue_id=queue_ids, body=small_bodies)
    def send(self, queue_id: int, body: bytes) -> None:
        """Send one message: its offset is the queue's size."""
        response = require_success(
            self.broker.send_message(topic=self.topic, queue_id=queue_id, body=body)
        )
        self.same("SEND-RESPONSE-003", response.fields["queueOffset"], queue_id, body)

    @rule(queue_id=queue_ids, batch=st.lists(small_bodies, min_size=1, max_size=4))
    def send_batch(self, queue_id: int, batch: list[bytes]) -> None:
        """Send a batch: the response names the offset of its first message."""
        body = batch_body([(each, {}) for each in batch])
        response = require_success(
            self.broker.send_batch(topic=self.topic, queue_id=queue_id, body=body)
        )
        self.same("SEND-BATCH-001", response.fields["queueOffset"], queue_id, *batch)

    def same(self, clause: str, found: str, queue_id: int, *sent: bytes) -> None:
        """Fail *clause* unless the broker gave *sent* the offset of the model."""
        expected = str(self.model.send(queue_id, *sent))
        expect(
            clause,
            found=found,
            expected=expected,
            what="queueOffset",
            transcript=self.broker.transcript,
        )

    @rule(queue_id=queue_ids, back=st.integers(0, 6), count=st.integers(1, 8))
    def pull(self, queue_id: int, back: int, count: int) -> None:
        """Pull from somewhere near the queue's end."""
        size = self.settled(queue_id)
        offset = max(0, size - back)
        response = self.broker.pull(
            topic=self.topic, queue_id=queue_id, offset=offset, max_count=count
        )
        expected = self.model.pull(queue_id, offset, count)
        is_empty = response.code == ResponseCode.PULL_NOT_FOUND
        records = [] if is_empty else records_of(response)
        expect(
            "PULL-FOUND-001",
            found=[
                (one.topic, one.queue_id, one.queue_offset, one.body) for one in records
            ],
            expected=[
                (self.topic, queue_id, place, body)
                for place, body in enumerate(expected, offset)
            ],
            what=f"topics, queues, offsets and bodies from offset {offset} of {size}",
            transcript=self.broker.transcript,
        )
        expect(
            "PULL-FOUND-002",
            found=response.fields["nextBeginOffset"],
            expected=str(offset + len(expected)),
            what="nextBeginOffset",
            transcript=self.broker.transcript,
        )

    @rule(group=groups, queue_id=queue_ids, offset=st.integers(0, 40))
    def commit(self, group: str, queue_id: int, offset: int) -> None:
        """Commit an offset, forwards or backwards."""
        require_success(
            self.broker.update_offset(
                group=self.named(group),
                topic=self.topic,
                queue_id=queue_id,
                offset=offset,
            )
        )
        self.model.commit(group, queue_id, offset)

    @rule(group=groups, queue_id=queue_ids, offset=st.integers(0, 40))
    def pull_and_commit(self, group: str, queue_id: int, offset: int) -> None:
        """Commit an offset with a pull."""
        require_success(
            self.broker.pull(
                topic=self.topic,
                group=self.named(group),
                queue_id=queue_id,
                offset=0,
                system_flags=COMMIT,
                commit_offset=offset,
            )
        )
        self.model.commit(group, queue_id, offset)

    @rule(group=groups, queue_id=queue_ids)
    def query(self, group: str, queue_id: int) -> None:
        """Compare what a group has committed."""
        response = self.broker.query_offset(
            group=self.named(group), topic=self.topic, queue_id=queue_id
        )
        expect(
            "OFFSET-COMMIT-001",
            found=require_success(response).fields["offset"],
            expected=str(self.model.queried(group, queue_id)),
            what=f"offset of group {group} in queue {queue_id}",
            transcript=self.broker.transcript,
        )

    def settled(self, queue_id: int) -> int:
        """Wait until the broker's queue has caught up, and return its size."""
        size = self.model.size(queue_id)
        self.broker.wait_for_max_offset(
            topic=self.topic, queue_id=queue_id, offset=size
        )
        found = require_success(
            self.broker.max_offset(topic=self.topic, queue_id=queue_id)
        )
        expect(
            "OFFSET-MAX-001",
            found=found.fields["offset"],
            expected=str(size),
            transcript=self.broker.transcript,
        )
        return size


@pytest.mark.needs(Capability.WIRE)
@pytest.mark.clause(
    "SEND-RESPONSE-003",
    "SEND-BATCH-001",
    "PULL-FOUND-001",
    "PULL-FOUND-002",
    "OFFSET-COMMIT-001",
    "OFFSET-MAX-001",
    "PULL-COMMIT-001",
)
def test_a_broker_does_what_lists_do(
    target: SharedTarget, pytestconfig: pytest.Config
) -> None:
    run_machine(pytestconfig, lambda: QueueMachine(target), examples=10, steps=20)
