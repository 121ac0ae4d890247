"""Locks: one client of a group at a time consumes a queue in order."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.harness.client.client import (
    Client,
    body_of,
    queue_data,
    require_success,
)
from conformance.harness.pytest_plugin.expectations import expect, expect_code
from conformance.harness.targets.shared_target import SharedTarget
from spec.wire.remoting.response_code import ResponseCode


class Locker:
    """Locks queues of one topic and returns the locked ones."""

    def __init__(self, broker: Client, broker_name: str, topic: str) -> None:
        self.broker = broker
        self.broker_name = broker_name
        self.topic = topic

    def queues(self, queue_ids: tuple[int, ...]) -> list[dict[str, object]]:
        """Return the queues of *queue_ids* as lock bodies name them."""
        return [
            queue_data(
                topic=self.topic, broker_name=self.broker_name, queue_id=queue_id
            )
            for queue_id in queue_ids
        ]

    def lock(self, group: str, client_id: str, *queue_ids: int) -> list[int]:
        """Return the ids of the queues that *client_id* holds of those it locks."""
        response = self.broker.lock_queues(
            group=group, client_id=client_id, queues=self.queues(queue_ids)
        )
        found = body_of(response)
        assert isinstance(found, dict)
        wanted = self.queues(queue_ids)
        locked = found.get("lockOKMQSet") or []
        expect(
            "GROUP-LOCK-001",
            found=[queue for queue in locked if queue not in wanted],
            expected=[],
            what="locked queues that the request does not name",
            transcript=self.broker.transcript,
        )
        return sorted(queue["queueId"] for queue in locked)

    def unlock(self, group: str, client_id: str, *queue_ids: int) -> None:
        """Unlock queues."""
        queues = self.queues(queue_ids)
        require_success(
            self.broker.unlock_queues(group=group, client_id=client_id, queues=queues)
        )


@pytest.fixture
def locker(broker: Client, target: SharedTarget, topic: str) -> Locker:
    """Return a locker of the topic's queues."""
    return Locker(broker, target.broker_name, topic)


@pytest.mark.clause("GROUP-LOCK-001")
def test_a_client_holds_what_it_locks(locker: Locker, group: str) -> None:
    for _ in range(2):
        found = locker.lock(group, "first", 0, 2)
        expect(
            "GROUP-LOCK-001",
            found=found,
            expected=[0, 2],
            what="queues",
            transcript=locker.broker.transcript,
        )


@pytest.mark.clause("GROUP-LOCK-007")
def test_a_lock_without_queues_returns_none(locker: Locker, group: str) -> None:
    locker.lock(group, "first", 0, 2)
    broker = locker.broker
    response = broker.lock_queues(group=group, client_id="first", queues=[])
    expect_code("GROUP-LOCK-007", response, ResponseCode.SUCCESS, broker.transcript)
    found = body_of(response)
    assert isinstance(found, dict)
    expect(
        "GROUP-LOCK-007",
        found=found.get("lockOKMQSet") or [],
        expected=[],
        what="lockOKMQSet",
        transcript=broker.transcript,
    )


@pytest.mark.clause("GROUP-LOCK-008")
def test_a_queue_that_is_named_twice_is_returned_once(
    locker: Locker, group: str
) -> None:
    expect(
        "GROUP-LOCK-008",
        found=locker.lock(group, "first", 0, 0),
        expected=[0],
        what="queue ids in lockOKMQSet",
        transcript=locker.broker.transcript,
    )


@pytest.mark.clause("GROUP-LOCK-001")
def test_queues_of_each_topic_are_locked_apart(
    locker: Locker, target: SharedTarget, group: str, unique: Callable[[str], str]
) -> None:
    other = Locker(locker.broker, target.broker_name, unique("other"))
    for number, one in enumerate((locker, other, locker)):
        found = one.lock(group, "first", number, number + 1)
        expect(
            "GROUP-LOCK-001",
            found=found,
            expected=[number, number + 1],
            transcript=locker.broker.transcript,
        )


@pytest.mark.clause("GROUP-LOCK-002")
def test_another_client_gets_only_what_is_free(locker: Locker, group: str) -> None:
    locker.lock(group, "first", 0, 1)
    found = locker.lock(group, "second", 0, 1, 2)
    expect(
        "GROUP-LOCK-002",
        found=found,
        expected=[2],
        what="queues",
        transcript=locker.broker.transcript,
    )
    found = locker.lock(group, "first", 0, 1, 2)
    expect(
        "GROUP-LOCK-002",
        found=found,
        expected=[0, 1],
        what="queues",
        transcript=locker.broker.transcript,
    )


@pytest.mark.clause("GROUP-LOCK-003")
def test_groups_do_not_lock_each_other_out(
    locker: Locker, unique: Callable[[str], str]
) -> None:
    found = [locker.lock(unique("group"), f"client{n}", 0) for n in range(2)]
    expect(
        "GROUP-LOCK-003",
        found=found,
        expected=[[0], [0]],
        what="queues",
        transcript=locker.broker.transcript,
    )


@pytest.mark.clause("GROUP-LOCK-004")
def test_only_its_holder_unlocks_a_queue(locker: Locker, group: str) -> None:
    locker.lock(group, "first", 0, 1)
    locker.unlock(group, "second", 0)
    found = locker.lock(group, "second", 0)
    expect(
        "GROUP-LOCK-004",
        found=found,
        expected=[],
        what="queues",
        transcript=locker.broker.transcript,
    )
    locker.unlock(group, "first", 0)
    found = locker.lock(group, "second", 0, 1)
    expect(
        "GROUP-LOCK-004",
        found=found,
        expected=[0],
        what="queues",
        transcript=locker.broker.transcript,
    )
