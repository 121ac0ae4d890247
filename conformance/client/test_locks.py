"""How a consumer in order keeps its locks, and what it does without them."""

from __future__ import annotations

import pytest

from conformance.client.application import Application, Consumer
from conformance.client.broker import Broker, locked_names
from conformance.client.player import PATIENCE_S, Asked, answering, ignore
from conformance.client.stage import Stage
from conformance.client.test_pulling import (
    SLOW_S,
    expect_bodies,
    first_pulls,
    one_queue,
    pulls_of,
)
from conformance.harness.verdicts import expect, expect_that
from spec.wire.request_code import RequestCode
from spec.wire.response_code import ResponseCode

LOCK = RequestCode.LOCK_BATCH_MQ
NO_MESSAGE = ResponseCode.PULL_NOT_FOUND
QUEUES = 3
RENEWALS = 6


def wait_for_locks(broker: Broker, count: int) -> list[Asked]:
    """Return when so many more questions for locks have come; return all of them."""
    count += len(broker.requests(LOCK))
    return broker.wait_for(LOCK, count=count, timeout_s=SLOW_S)


def refuse_locks(broker: Broker) -> None:
    """Grant no lock any more, and return when the client has heard of it."""
    broker.locks = False
    wait_for_locks(broker, 2)  # who asks for the second has heard of the first


def held_in_order(
    application: Application, stage: Stage, topic: str
) -> tuple[Broker, Consumer]:
    """Return a consumer whose application holds the first message of two."""
    broker = one_queue(stage, topic)
    broker.put(topic, b"0", KEYS="k0")
    broker.put(topic, b"1", KEYS="k1")
    consumer = application.consumer(topic, order="orderly", outcomes={"k0": ["hold"]})
    consumer.wait_for(1)
    return broker, consumer


def expect_only_the_first(clause_id: str, broker: Broker, consumer: Consumer) -> None:
    """Fail *clause_id* if a message is handled while two locks are asked for."""
    wait_for_locks(broker, 2)
    found = len(consumer.messages())
    expect(clause_id, found=found, expected=1, what="messages without the lock")


@pytest.mark.long
@pytest.mark.clause("CLIENT-ORDER-002")
def test_locks_are_asked_for_again_and_again(
    application: Application, stage: Stage, topic: str
) -> None:
    broker = one_queue(stage, topic)
    application.consumer(topic, order="orderly")
    period_ms = application.interval("lock_ms")
    patience_s = PATIENCE_S + RENEWALS * period_ms / 1000
    asked = broker.wait_for(LOCK, count=RENEWALS, timeout_s=patience_s)
    spent_ms = asked[-1].at_ms - asked[0].at_ms
    expect_that(
        "CLIENT-ORDER-002",
        spent_ms >= 2 * period_ms,  # the first few may be of its looks at the group
        found=f"{spent_ms:.0f} ms",
        expected=f"some periods of {period_ms} ms",
        what=f"time from the first of {RENEWALS} questions to the last",
    )


@pytest.mark.clause("CLIENT-ORDER-009")
def test_locks_of_a_broker_are_renewed_together(
    application: Application, stage: Stage, topic: str
) -> None:
    stage.route(topic, {"broker-a": QUEUES})
    broker = stage.broker()
    application.consumer(topic, order="orderly")

    def most() -> int:
        return max((len(locked_names(one)) for one in broker.requests(LOCK)), default=0)

    broker.wait_until(
        lambda: most() == QUEUES or len(broker.requests(LOCK)) > 3 * QUEUES,
        what="locks are asked for, together or one by one",
        timeout_s=SLOW_S,
    )
    expect("CLIENT-ORDER-009", found=most(), expected=QUEUES, what="queues named")


@pytest.mark.long
@pytest.mark.clause("CLIENT-ORDER-002", "CLIENT-ORDER-007")
def test_a_lost_lock_ends_the_handling_until_it_is_back(
    application: Application, stage: Stage, topic: str
) -> None:
    broker, consumer = held_in_order(application, stage, topic)
    refuse_locks(broker)
    consumer.release("k0")
    expect_only_the_first("CLIENT-ORDER-002", broker, consumer)
    broker.locks = True
    expect_bodies("CLIENT-ORDER-007", consumer, b"0", b"1")
    offsets = [
        int(one.command.fields["queueOffset"]) for one in pulls_of(broker, topic)
    ]
    expect(
        "CLIENT-ORDER-007",
        found=offsets,
        expected=sorted(offsets),
        what="offsets that are pulled, of which none is pulled again",
    )


@pytest.mark.long
@pytest.mark.clause("CLIENT-ORDER-007")
def test_without_the_lock_nothing_is_pulled(
    application: Application, stage: Stage, topic: str
) -> None:
    broker = one_queue(stage, topic)
    application.consumer(topic, order="orderly")
    (waiting,) = first_pulls(broker, topic, 1)
    refuse_locks(broker)
    broker.pulled(waiting, NO_MESSAGE, next_offset=0)
    wait_for_locks(broker, 2)
    found = len(pulls_of(broker, topic))
    expect("CLIENT-ORDER-007", found=found, expected=1, what="pulls without the lock")
    broker.locks = True
    first_pulls(broker, topic, 2)


@pytest.mark.long
@pytest.mark.clause("CLIENT-ORDER-008")
def test_a_renewal_that_fails_leaves_a_lock_as_it_was(
    application: Application, stage: Stage, topic: str
) -> None:
    broker, consumer = held_in_order(application, stage, topic)
    broker.on(LOCK, answering(ResponseCode.SYSTEM_ERROR, remark="busy"))
    wait_for_locks(broker, 2)
    consumer.release("k0")
    expect_bodies("CLIENT-ORDER-008", consumer, b"0", b"1")


@pytest.mark.long
@pytest.mark.clause("CLIENT-ORDER-008")
def test_a_lock_runs_out_that_no_broker_confirms(
    application: Application, stage: Stage, topic: str
) -> None:
    broker, consumer = held_in_order(application, stage, topic)
    granting = broker.scripts[LOCK]
    broker.on(LOCK, ignore)
    lives_ms = application.interval("lock_lives_ms")
    over_ms = broker.now_ms() + lives_ms + application.interval("lock_ms")
    broker.wait_for(LOCK, where=lambda one: one.at_ms > over_ms, timeout_s=SLOW_S)
    consumer.release("k0")
    expect_only_the_first("CLIENT-ORDER-008", broker, consumer)
    broker.on(LOCK, granting)
    expect_bodies("CLIENT-ORDER-008", consumer, b"0", b"1")
