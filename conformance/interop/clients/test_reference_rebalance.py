"""
Members of the reference's client allocate queues by each strategy, at real brokers.

Broker names have the form ROOM@NAME, which the machine room strategy needs. Recorded
cases (fixtures/client) check that results equal those of Java's classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import pytest

from conformance.harness.process.deadline import wait_until
from conformance.harness.targets.target import Target, parse_target
from conformance.interop.programs.session import ClientSession, open_session, texts

TARGETS = ("embedded:", "jvm:4.6.0", "jvm:5.3.3")
NAMED = {"brokerName": "near@broker-a"}
COUNT = 8
EVERY = list(range(COUNT))
BY_RULE = {
    "AVG": [EVERY[:4], EVERY[4:]],
    "AVG_BY_CIRCLE": [EVERY[::2], EVERY[1::2]],
    "MACHINE_ROOM": [EVERY[:4], EVERY[4:]],
}
"""Queues of two members; by machine room, all queues are near."""
PATIENCE_S = 60


@pytest.fixture(scope="module", params=TARGETS)
def target(request: pytest.FixtureRequest) -> Iterator[Target]:
    """Yield a broker in the room near."""
    with parse_target(request.param, conf=NAMED) as started:
        yield started


@pytest.fixture
def session(target: Target) -> Iterator[ClientSession]:
    """Yield the client."""
    with open_session(target) as session:
        yield session


def shared(session: ClientSession, *options: dict[str, object]) -> list[list[int]]:
    """Let members with these options divide a topic; return what each has.

    A message of every queue is sent, and must be read once.
    """
    topic, group = session.topic(queue_count=COUNT), session.name("sharing")
    members = [
        session.push_consumer(topic, group=group, options=one) for one in options
    ]

    def divided() -> bool:
        found = session.shares(group, topic)
        return (
            len(found) == len(members) and sorted(chain.from_iterable(found)) == EVERY
        )

    wait_until(divided, what="every queue is one member's", timeout_s=PATIENCE_S)
    producer = session.producer()
    for number in EVERY:
        session.send(producer, topic, f"{number}", more={"select": number})
    wait_until(
        lambda: len(session.got(*members)) >= COUNT,
        what="all messages have come",
        timeout_s=PATIENCE_S,
    )
    assert texts(session.got(*members)) == [f"{number}" for number in EVERY]
    found = session.shares(group, topic)
    of_queues = [sorted({one["queue_id"] for one in session.got(m)}) for m in members]
    assert sorted(of_queues) == found
    return found


@pytest.mark.parametrize("rule", BY_RULE)
def test_two_members_divide_the_queues(session: ClientSession, rule: str) -> None:
    options: dict[str, object] = {"allocation": rule}
    if rule == "MACHINE_ROOM":
        options["rooms"] = ["near"]
    assert shared(session, options, options) == BY_RULE[rule]


def test_by_consistent_hash_every_queue_is_one_members(session: ClientSession) -> None:
    options: dict[str, object] = {"allocation": "CONSISTENT_HASH"}
    assert len(shared(session, options, options, options)) == 3


def test_members_take_what_they_were_told_to(session: ClientSession) -> None:
    topic, group = session.topic(queue_count=COUNT), session.name("told")
    members = []
    for numbers in EVERY[:3], EVERY[3:]:
        queues = [
            {"topic": topic, "broker": session.target.broker_name, "queue_id": number}
            for number in numbers
        ]
        options = {"allocation": "CONFIG", "own_queues": queues}
        members.append(session.push_consumer(topic, group=group, options=options))
    wait_until(
        lambda: session.shares(group, topic) == [EVERY[:3], EVERY[3:]],
        what="each has its queues",
        timeout_s=PATIENCE_S,
    )


def test_who_reads_only_another_room_takes_nothing_here(session: ClientSession) -> None:
    topic, group = session.topic(queue_count=1), session.name("far")
    far = session.push_consumer(
        topic, group=group, options={"allocation": "MACHINE_ROOM", "rooms": ["far"]}
    )
    session.send(session.producer(), topic, "here")
    near = session.consume(
        topic, 1, options={"allocation": "MACHINE_ROOM", "rooms": ["near"]}
    )
    assert texts(near) == ["here"]
    assert session.shares(group, topic) == [[]]
    assert session.got(far) == []
