"""
Members of the reference's client share queues by each rule, at real brokers.

The brokers have names as the rule of machine rooms wants them, ROOM@NAME. That the
shares are those of Java's classes is checked on recorded cases (fixtures/client).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import pytest

from conformance.harness.deadline import wait_until
from conformance.harness.target import Target, parse_target
from conformance.interop.own_session import OwnSession, own_session, texts

TARGETS = ("embedded:", "jvm:4.6.0", "jvm:5.3.3")
NAMED = {"brokerName": "near@broker-a"}
COUNT = 8
EVERY = list(range(COUNT))
BY_RULE = {
    "AVG": [EVERY[:4], EVERY[4:]],
    "AVG_BY_CIRCLE": [EVERY[::2], EVERY[1::2]],
    "MACHINE_ROOM": [EVERY[:4], EVERY[4:]],
}
"""What two members have; by the rule of rooms all queues are near."""
PATIENCE_S = 60


@pytest.fixture(scope="module", params=TARGETS)
def target(request: pytest.FixtureRequest) -> Iterator[Target]:
    """Yield a broker in the room near."""
    with parse_target(request.param, conf=NAMED) as started:
        yield started


@pytest.fixture
def own(target: Target) -> Iterator[OwnSession]:
    """Yield the client."""
    with own_session(target) as session:
        yield session


def shared(own: OwnSession, *options: dict[str, object]) -> list[list[int]]:
    """Let members with these options divide a topic; return what each has.

    A message of every queue is sent, and must be read once.
    """
    topic, group = own.topic(queue_count=COUNT), own.name("sharing")
    members = [own.push_consumer(topic, group=group, options=one) for one in options]

    def divided() -> bool:
        found = own.shares(group, topic)
        return (
            len(found) == len(members) and sorted(chain.from_iterable(found)) == EVERY
        )

    wait_until(divided, what="every queue is one member's", timeout_s=PATIENCE_S)
    producer = own.producer()
    for number in EVERY:
        own.send(producer, topic, f"{number}", more={"select": number})
    wait_until(
        lambda: len(own.got(*members)) >= COUNT,
        what="all messages have come",
        timeout_s=PATIENCE_S,
    )
    assert texts(own.got(*members)) == [f"{number}" for number in EVERY]
    found = own.shares(group, topic)
    of_queues = [sorted({one["queue_id"] for one in own.got(m)}) for m in members]
    assert sorted(of_queues) == found
    return found


@pytest.mark.parametrize("rule", BY_RULE)
def test_two_members_divide_the_queues(own: OwnSession, rule: str) -> None:
    options: dict[str, object] = {"allocation": rule}
    if rule == "MACHINE_ROOM":
        options["rooms"] = ["near"]
    assert shared(own, options, options) == BY_RULE[rule]


def test_by_consistent_hash_every_queue_is_one_members(own: OwnSession) -> None:
    options: dict[str, object] = {"allocation": "CONSISTENT_HASH"}
    assert len(shared(own, options, options, options)) == 3


def test_members_take_what_they_were_told_to(own: OwnSession) -> None:
    topic, group = own.topic(queue_count=COUNT), own.name("told")
    members = []
    for numbers in EVERY[:3], EVERY[3:]:
        told = [
            {"topic": topic, "broker": own.target.broker_name, "queue_id": number}
            for number in numbers
        ]
        options = {"allocation": "CONFIG", "own_queues": told}
        members.append(own.push_consumer(topic, group=group, options=options))
    wait_until(
        lambda: own.shares(group, topic) == [EVERY[:3], EVERY[3:]],
        what="each has its queues",
        timeout_s=PATIENCE_S,
    )


def test_who_reads_only_another_room_takes_nothing_here(own: OwnSession) -> None:
    topic, group = own.topic(queue_count=1), own.name("far")
    far = own.push_consumer(
        topic, group=group, options={"allocation": "MACHINE_ROOM", "rooms": ["far"]}
    )
    own.send(own.producer(), topic, "here")
    near = own.consume(
        topic, 1, options={"allocation": "MACHINE_ROOM", "rooms": ["near"]}
    )
    assert texts(near) == ["here"]
    assert own.shares(group, topic) == [[]]
    assert own.got(far) == []
