"""Queue locks of an orderly consumer, and consumption without them."""

from __future__ import annotations

import pytest

from conformance.client.application import Application, Consumer
from conformance.client.consumer.pulls import (
    expect_bodies,
    first_pulls,
    one_queue,
    pulls_of,
)
from conformance.client.scripted.scripted_broker import ScriptedBroker, locked_names
from conformance.client.scripted.scripted_cluster import ScriptedCluster
from conformance.client.scripted.scripted_server import (
    PATIENCE_S,
    ReceivedRequest,
    ignore,
    responding,
)
from conformance.client.timing import SLOW_S
from conformance.harness.pytest_plugin.expectations import expect, expect_that
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

LOCK = RequestCode.LOCK_BATCH_MQ
NO_MESSAGE = ResponseCode.PULL_NOT_FOUND
QUEUES = 3
RENEWALS = 6


def wait_for_locks(broker: ScriptedBroker, count: int) -> list[ReceivedRequest]:
    """Return when so many more questions for locks have come; return all of them."""
    count += len(broker.requests(LOCK))
    return broker.wait_for(LOCK, count=count, timeout_s=SLOW_S)


def refuse_locks(broker: ScriptedBroker) -> None:
    """Grant no more locks, and return when the client has received a refusal."""
    broker.locks = False
    wait_for_locks(broker, 2)  # the second request follows the first response


def held_in_order(
    application: Application, cluster: ScriptedCluster, topic: str
) -> tuple[ScriptedBroker, Consumer]:
    """Return a consumer whose application holds the first message of two."""
    broker = one_queue(cluster, topic)
    broker.put(topic, b"0", KEYS="k0")
    broker.put(topic, b"1", KEYS="k1")
    consumer = application.consumer(topic, order="orderly", outcomes={"k0": ["hold"]})
    consumer.wait_for(1)
    return broker, consumer


def expect_only_the_first(
    clause_id: str, broker: ScriptedBroker, consumer: Consumer
) -> None:
    """Fail *clause_id* if a message is handled while two locks are request for."""
    wait_for_locks(broker, 2)
    found = len(consumer.messages())
    expect(clause_id, found=found, expected=1, what="messages without the lock")


@pytest.mark.long
@pytest.mark.clause("CLIENT-ORDERLY-002")
def test_locks_are_asked_for_again_and_again(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = one_queue(cluster, topic)
    application.consumer(topic, order="orderly")
    period_ms = application.interval("lock_ms")
    patience_s = PATIENCE_S + RENEWALS * period_ms / 1000
    request = broker.wait_for(LOCK, count=RENEWALS, timeout_s=patience_s)
    spent_ms = request[-1].at_ms - request[0].at_ms
    expect_that(
        "CLIENT-ORDERLY-002",
        spent_ms >= 2 * period_ms,  # the first few may come from a rebalance
        found=f"{spent_ms:.0f} ms",
        expected=f"some periods of {period_ms} ms",
        what=f"time from the first of {RENEWALS} questions to the last",
    )


@pytest.mark.clause("CLIENT-ORDERLY-009")
def test_locks_of_a_broker_are_renewed_together(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    cluster.route(topic, {"broker-a": QUEUES})
    broker = cluster.broker()
    application.consumer(topic, order="orderly")

    def most() -> int:
        return max((len(locked_names(one)) for one in broker.requests(LOCK)), default=0)

    broker.wait_until(
        lambda: most() == QUEUES or len(broker.requests(LOCK)) > 3 * QUEUES,
        what="locks are request for, together or one by one",
        timeout_s=SLOW_S,
    )
    expect("CLIENT-ORDERLY-009", found=most(), expected=QUEUES, what="queues named")


@pytest.mark.long
@pytest.mark.clause("CLIENT-ORDERLY-002", "CLIENT-ORDERLY-007")
def test_a_lost_lock_ends_the_handling_until_it_is_back(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker, consumer = held_in_order(application, cluster, topic)
    refuse_locks(broker)
    consumer.release("k0")
    expect_only_the_first("CLIENT-ORDERLY-002", broker, consumer)
    broker.locks = True
    expect_bodies("CLIENT-ORDERLY-007", consumer, b"0", b"1")
    offsets = [
        int(one.command.fields["queueOffset"]) for one in pulls_of(broker, topic)
    ]
    expect(
        "CLIENT-ORDERLY-007",
        found=offsets,
        expected=sorted(offsets),
        what="offsets that are pulled, of which none is pulled again",
    )


@pytest.mark.long
@pytest.mark.clause("CLIENT-ORDERLY-007")
def test_without_the_lock_nothing_is_pulled(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = one_queue(cluster, topic)
    application.consumer(topic, order="orderly")
    (waiting,) = first_pulls(broker, topic, 1)
    refuse_locks(broker)
    broker.respond_to_pull(waiting, NO_MESSAGE, next_offset=0)
    wait_for_locks(broker, 2)
    found = len(pulls_of(broker, topic))
    expect("CLIENT-ORDERLY-007", found=found, expected=1, what="pulls without the lock")
    broker.locks = True
    first_pulls(broker, topic, 2)


@pytest.mark.long
@pytest.mark.clause("CLIENT-ORDERLY-008")
def test_a_renewal_that_fails_leaves_a_lock_as_it_was(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker, consumer = held_in_order(application, cluster, topic)
    broker.on(LOCK, responding(ResponseCode.SYSTEM_ERROR, remark="busy"))
    wait_for_locks(broker, 2)
    consumer.release("k0")
    expect_bodies("CLIENT-ORDERLY-008", consumer, b"0", b"1")


@pytest.mark.long
@pytest.mark.clause("CLIENT-ORDERLY-008")
def test_a_lock_runs_out_that_no_broker_confirms(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker, consumer = held_in_order(application, cluster, topic)
    granting = broker.scripts[LOCK]
    broker.on(LOCK, ignore)
    lives_ms = application.interval("lock_lives_ms")
    over_ms = broker.now_ms() + lives_ms + application.interval("lock_ms")
    broker.wait_for(LOCK, where=lambda one: one.at_ms > over_ms, timeout_s=SLOW_S)
    consumer.release("k0")
    expect_only_the_first("CLIENT-ORDERLY-008", broker, consumer)
    broker.on(LOCK, granting)
    expect_bodies("CLIENT-ORDERLY-008", consumer, b"0", b"1")
