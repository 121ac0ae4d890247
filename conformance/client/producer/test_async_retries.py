"""Asynchronous sends: failures that cause a retry, and those that end the send."""

from __future__ import annotations

from itertools import pairwise
from threading import Event
from typing import Any

import pytest

from conformance.client.application import UNHURRIED_MS, Application
from conformance.client.calls import AN_ERROR
from conformance.client.producer.sends import (
    SHORT_MS,
    all_sends,
    meet_sends,
    two_brokers,
)
from conformance.client.scripted.scripted_broker import ScriptedBroker, header_of
from conformance.client.scripted.scripted_cluster import ScriptedCluster
from conformance.client.scripted.scripted_server import ignore
from conformance.client.timing import CLOCKS_MS
from conformance.harness.pytest_plugin.expectations import expect, expect_that

LOOKED_THROUGH_MS = 1000
LATE_S = (SHORT_MS + LOOKED_THROUGH_MS / 2) / 1000
"""After its time, and before it is given up."""
PRODUCERS_MAX = 20
SENDS_MAX = 40
"""A send meets the broker that is gone long before."""


@pytest.mark.clause("CLIENT-RETRY-009")
def test_an_asynchronous_send_that_cannot_connect_fails_at_once(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    first, second = two_brokers(cluster, topic)
    first.stop()
    producer = application.producer()
    words: list[object] = []
    while len(words) < SENDS_MAX and words[-1:] in ([], ["SEND_OK"]):
        received = producer.send(topic, mode="async", timeout_ms=UNHURRIED_MS)
        words.append(received.word)
    expect(
        "CLIENT-RETRY-009",
        found=(words[-1] != "SEND_OK", len(second.sends)),
        expected=(True, len(words) - 1),
        what="whether the last send fails, and what the other broker gets before it",
    )


@pytest.mark.clause("CLIENT-RETRY-010")
def test_a_response_within_a_second_after_its_time_counts(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    meet_sends(broker, ignore)
    sending = application.producer(async_retries=0).begin(
        topic, mode="async", timeout_ms=SHORT_MS
    )
    (request,) = broker.wait_for_sends()
    Event().wait(LATE_S)
    broker.store(request)
    found = sending.outcome().word
    expect("CLIENT-RETRY-010", found=found, expected="SEND_OK", what="result")


@pytest.mark.clause("CLIENT-RETRY-010")
def test_an_asynchronous_send_is_given_up_a_second_late_and_a_retry_after_one(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    meet_sends(broker, ignore)
    outcome = application.producer().send(topic, mode="async", timeout_ms=SHORT_MS)
    expect("CLIENT-RETRY-010", found=outcome.ending, expected=AN_ERROR, what="end")
    times_ms = [one.at_ms for one in broker.sends]
    gaps_ms = [after - before for before, after in pairwise(times_ms)]
    waited_ms = (SHORT_MS + LOOKED_THROUGH_MS, LOOKED_THROUGH_MS)
    expect_that(
        "CLIENT-RETRY-010",
        bool(gaps_ms)
        and all(
            least <= gap + CLOCKS_MS
            # With its 0 ms a retry may be too late before it is sent.
            for gap, least in zip(gaps_ms, waited_ms, strict=False)
        ),
        found=[f"{gap:.0f} ms" for gap in gaps_ms],
        expected=f"at least {waited_ms[0]} and {waited_ms[1]} ms",
        what="times from one attempt to the next",
    )


@pytest.mark.clause("CLIENT-RETRY-018")
@pytest.mark.parametrize("select", [None, 1], ids=["any", "chosen"])
def test_an_asynchronous_send_is_not_retried_after_its_timeout(
    application: Application, cluster: ScriptedCluster, topic: str, select: int | None
) -> None:
    brokers = two_brokers(cluster, topic)
    producer = application.producer()
    for _ in range(4):  # the route and connections take some of the short timeout
        producer.send(topic)
    before = len(all_sends(cluster))
    for broker in brokers:
        meet_sends(broker, ignore)
    how: dict[str, Any] = {} if select is None else {"select": select}
    outcome = producer.send(topic, mode="async", timeout_ms=SHORT_MS, **how)
    expect("CLIENT-RETRY-018", found=outcome.ending, expected=AN_ERROR, what="end")
    found = len(all_sends(cluster)) - before
    expect("CLIENT-RETRY-018", found=found, expected=1, what="attempts")


@pytest.mark.clause("CLIENT-RETRY-019")
def test_an_asynchronous_send_that_cannot_connect_goes_to_another_broker(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    cluster.route(topic, {"broker-a": 3, "broker-b": 1})
    cluster.broker("broker-a").stop()
    second = cluster.broker("broker-b")
    queues: set[int] = set()
    # A producer begins at a random queue, and then skips all others of the broker.
    for _ in range(PRODUCERS_MAX):
        expect(
            "CLIENT-RETRY-019",
            found=application.producer().send(topic, mode="async").word,
            expected="SEND_OK",
            what="an asynchronous send while one of two brokers is gone",
        )
        queues |= {int(header_of(one)["queueId"]) for one in second.sends}
        if queues & {1, 2}:
            break
    expect_that(
        "CLIENT-RETRY-019",
        bool(queues & {1, 2}),
        found=queues,
        expected="ids that only the other broker has",
        what="queue ids that came to the broker with one queue",
    )
