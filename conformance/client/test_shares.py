"""Which queues a member of a group takes, and when it looks anew."""

from __future__ import annotations

import pytest

from conformance.client.application import Application
from conformance.client.broker import Broker
from conformance.client.stage import Stage
from conformance.client.test_pulling import PULL, first_pulls, of, pulls_of
from conformance.harness.verdicts import expect, expect_that
from spec.wire.request_code import RequestCode

MEMBERS = RequestCode.GET_CONSUMER_LIST_BY_GROUP
BEFORE, AFTER = "0@first", "~@last"
"""Ids of other members, that sort before any address and after it."""
LOOKS_MS = 20_000


def with_others(stage: Stage, topic: str, count: int) -> Broker:
    """Return a broker of *count* queues that names two other members beside our own."""
    stage.route(topic, {"broker-a": count})
    broker = stage.broker()
    broker.others = [BEFORE, AFTER]
    return broker


@pytest.mark.clause("CLIENT-ALLOCATE-001", "CLIENT-ALLOCATE-008")
@pytest.mark.parametrize(("count", "own"), [(8, [3, 4, 5]), (3, [1]), (7, [3, 4])])
def test_members_take_neighbouring_queues(
    application: Application, stage: Stage, topic: str, count: int, own: list[int]
) -> None:
    broker = with_others(stage, topic, count)
    application.consumer(topic)
    expect_queues("CLIENT-ALLOCATE-001", broker, topic, own)


@pytest.mark.clause("CLIENT-ALLOCATE-002")
def test_members_take_queues_in_a_circle(
    application: Application, stage: Stage, topic: str
) -> None:
    broker = with_others(stage, topic, 8)
    application.consumer(topic, options={"allocation": "AVG_BY_CIRCLE"})
    expect_queues("CLIENT-ALLOCATE-002", broker, topic, [1, 4, 7])


@pytest.mark.clause("CLIENT-ALLOCATE-006", "CLIENT-ALLOCATE-010")
def test_who_is_no_member_takes_nothing_until_it_is_told_of_a_change(
    application: Application, stage: Stage, topic: str
) -> None:
    stage.route(topic, {"broker-a": 1})
    broker = stage.broker()
    broker.members = [BEFORE]
    consumer = application.consumer(topic)
    asked = broker.wait_for(MEMBERS)[0]
    expect(
        "CLIENT-ALLOCATE-006",
        found=len(pulls_of(broker, topic)),
        expected=0,
        what="pulls of who is no member",
    )
    broker.members = None
    count = len(broker.requests(MEMBERS))
    broker.tell_of_change(asked, consumer.group)
    looked = broker.wait_for(MEMBERS, count=count + 1)[count]
    expect_that(
        "CLIENT-ALLOCATE-010",
        looked.at_ms - asked.at_ms < LOOKS_MS,
        found=f"{looked.at_ms - asked.at_ms:.0f} ms after the first look",
        expected="a look before 20 seconds are over",
    )
    first_pulls(broker, topic, 1)


@pytest.mark.clause("CLIENT-ALLOCATE-009")
def test_who_broadcasts_takes_every_queue(
    application: Application, stage: Stage, topic: str
) -> None:
    broker = with_others(stage, topic, 4)
    application.consumer(topic, model="broadcasting")
    expect_queues("CLIENT-ALLOCATE-009", broker, topic, [0, 1, 2, 3])


def expect_queues(clause_id: str, broker: Broker, topic: str, own: list[int]) -> None:
    """Fail *clause_id* unless the queues *own* are pulled, and no other."""
    wanted = {str(number) for number in own}

    def all_or_another() -> bool:
        pulls = [one.command.fields for one in broker.requests(PULL) if of(topic, one)]
        pulled = {fields["queueId"] for fields in pulls}
        return wanted <= pulled or not pulled <= wanted

    broker.wait_until(all_or_another, what=f"queues {own}, or another, are pulled")
    found = {int(one.command.fields["queueId"]) for one in pulls_of(broker, topic)}
    expect(clause_id, found=sorted(found), expected=own, what="queues that are pulled")
