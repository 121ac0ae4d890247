"""Queues assigned to a member of a group, and the times of a rebalance."""

from __future__ import annotations

import hashlib

import pytest

from conformance.client.application import Application
from conformance.client.consumer.pulls import first_pulls, pulls_of
from conformance.client.scripted.scripted_broker import ScriptedBroker
from conformance.client.scripted.scripted_cluster import ScriptedCluster
from conformance.harness.pytest_plugin.expectations import expect, expect_that
from spec.wire.remoting.request_code import RequestCode

MEMBERS = RequestCode.GET_CONSUMER_LIST_BY_GROUP
BEFORE, AFTER = "0@first", "~@last"
"""Ids of other members, that sort before any address and after it."""
LOOKS_MS = 20_000


def with_others(cluster: ScriptedCluster, topic: str, count: int) -> ScriptedBroker:
    """Return a broker of *count* queues that names two other members beside our own."""
    cluster.route(topic, {"broker-a": count})
    broker = cluster.broker()
    broker.others = [BEFORE, AFTER]
    return broker


@pytest.mark.clause("CLIENT-ALLOCATE-001", "CLIENT-ALLOCATE-008")
@pytest.mark.parametrize(("count", "own"), [(8, [3, 4, 5]), (3, [1]), (7, [3, 4])])
def test_members_take_neighbouring_queues(
    application: Application,
    cluster: ScriptedCluster,
    topic: str,
    count: int,
    own: list[int],
) -> None:
    broker = with_others(cluster, topic, count)
    application.consumer(topic)
    expect_queues("CLIENT-ALLOCATE-001", broker, topic, own)


@pytest.mark.clause("CLIENT-ALLOCATE-002")
def test_members_take_queues_in_a_circle(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = with_others(cluster, topic, 8)
    application.consumer(topic, options={"allocation": "AVG_BY_CIRCLE"})
    expect_queues("CLIENT-ALLOCATE-002", broker, topic, [1, 4, 7])


@pytest.mark.clause("CLIENT-ALLOCATE-003")
def test_a_member_takes_the_queues_that_it_was_told(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = with_others(cluster, topic, 8)
    own_queues = [
        {"topic": topic, "broker": "broker-a", "queue_id": number} for number in (1, 6)
    ]
    options = {"allocation": "CONFIG", "own_queues": own_queues}
    application.consumer(topic, options=options)
    expect_queues("CLIENT-ALLOCATE-003", broker, topic, [1, 6])


@pytest.mark.clause("CLIENT-ALLOCATE-005")
def test_a_member_takes_the_queues_before_its_places_on_the_ring(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = with_others(cluster, topic, 32)
    application.consumer(topic, options={"allocation": "CONSISTENT_HASH"})
    broker.wait_for(MEMBERS)
    (own,) = {beat.client_id for beat in broker.heartbeats() if beat.consumers}
    expected = [
        number
        for number in range(32)
        if member_of(topic, number, [own, BEFORE, AFTER]) == own
    ]
    expect_queues("CLIENT-ALLOCATE-005", broker, topic, expected)


def member_of(topic: str, number: int, members: list[str]) -> str:
    """Return whose place is next on the ring from that of a queue of broker-a."""
    places = {place(f"{one}-{copy}"): one for one in members for copy in range(10)}
    name = f"MessageQueue [topic={topic}, brokerName=broker-a, queueId={number}]"
    start = place(name)
    return places[min(places, key=lambda at: (at < start, at))]


def place(text: str) -> int:
    """Return the place of *text* on the ring."""
    digest = hashlib.md5(text.encode(), usedforsecurity=False).digest()
    return int.from_bytes(digest[:4], "big")


def two_rooms(
    application: Application, cluster: ScriptedCluster, topic: str
) -> tuple[ScriptedBroker, ...]:
    """Start a consumer of the room near; return the brokers of far and of near."""
    names = ("far@broker", "near@broker")
    cluster.route(topic, dict.fromkeys(names, 4))
    brokers = tuple(map(cluster.broker, names))
    for broker in brokers:
        broker.others = [BEFORE, AFTER]
    options = {"allocation": "MACHINE_ROOM", "rooms": ["near"]}
    application.consumer(topic, options=options)
    return brokers


@pytest.mark.clause("CLIENT-ALLOCATE-004")
def test_by_machine_rooms_whole_shares_were_taken_from_the_front(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    far, near = two_rooms(application, cluster, topic)
    expect_queues("CLIENT-ALLOCATE-004", far, topic, [1])
    found = pulls_of(near, topic)
    expect("CLIENT-ALLOCATE-004", found=len(found), expected=0, what="pulls nearby")


@pytest.mark.clause("CLIENT-ALLOCATE-007")
def test_by_machine_rooms_only_queues_of_the_rooms_are_taken(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    far, near = two_rooms(application, cluster, topic)
    expect_queues("CLIENT-ALLOCATE-007", near, topic, [1])
    found = pulls_of(far, topic)
    expect("CLIENT-ALLOCATE-007", found=len(found), expected=0, what="pulls far away")


@pytest.mark.clause("CLIENT-ALLOCATE-006", "CLIENT-ALLOCATE-010")
def test_who_is_no_member_takes_nothing_until_it_is_told_of_a_change(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    cluster.route(topic, {"broker-a": 1})
    broker = cluster.broker()
    broker.members = [BEFORE]
    consumer = application.consumer(topic)
    request = broker.wait_for(MEMBERS)[0]
    expect(
        "CLIENT-ALLOCATE-006",
        found=len(pulls_of(broker, topic)),
        expected=0,
        what="pulls of who is no member",
    )
    broker.members = None
    count = len(broker.requests(MEMBERS))
    broker.notify_consumer_ids_changed(request, consumer.group)
    looked = broker.wait_for(MEMBERS, count=count + 1)[count]
    expect_that(
        "CLIENT-ALLOCATE-010",
        looked.at_ms - request.at_ms < LOOKS_MS,
        found=f"{looked.at_ms - request.at_ms:.0f} ms after the first look",
        expected="a look before 20 seconds are over",
    )
    first_pulls(broker, topic, 1)


@pytest.mark.clause("CLIENT-ALLOCATE-009")
def test_who_broadcasts_takes_every_queue(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = with_others(cluster, topic, 4)
    application.consumer(topic, model="broadcasting")
    expect_queues("CLIENT-ALLOCATE-009", broker, topic, [0, 1, 2, 3])


def expect_queues(
    clause_id: str, broker: ScriptedBroker, topic: str, own: list[int]
) -> None:
    """Fail *clause_id* unless the queues *own* are pulled, and no other."""
    wanted = {str(number) for number in own}

    def all_or_another() -> bool:
        pulls = pulls_of(broker, topic)
        pulled = {one.command.fields["queueId"] for one in pulls}
        return wanted <= pulled or not pulled <= wanted

    broker.wait_until(all_or_another, what=f"queues {own}, or another, are pulled")
    found = {int(one.command.fields["queueId"]) for one in pulls_of(broker, topic)}
    expect(clause_id, found=sorted(found), expected=own, what="queues that are pulled")
