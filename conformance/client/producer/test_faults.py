"""Queue selection after a broker failed, with a table of faults and without."""

from __future__ import annotations

import pytest

from conformance.client.application import Application
from conformance.client.producer.sends import all_sends, meet_sends, two_brokers
from conformance.client.scripted.scripted_cluster import ScriptedCluster
from conformance.client.scripted.scripted_server import each
from conformance.harness.pytest_plugin.expectations import expect
from spec.wire.remoting.response_code import ResponseCode

ROUNDS = 8


@pytest.mark.clause("CLIENT-FAULT-001")
def test_without_the_table_a_broker_that_failed_gets_new_messages(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    first, _ = two_brokers(cluster, topic)
    code = ResponseCode.MESSAGE_ILLEGAL
    meet_sends(first, lambda request: request.respond(code, remark="no"))
    producer = application.producer(retries=0)
    for _ in range(ROUNDS):
        producer.send(topic)
    expect(
        "CLIENT-FAULT-001",
        found=len(first.sends),
        expected=ROUNDS // 2,
        what=f"of {ROUNDS} messages, those to the broker that refuses",
    )


@pytest.mark.clause("CLIENT-FAULT-005", "CLIENT-FAULT-006", "CLIENT-FAULT-010")
def test_with_the_table_a_broker_that_failed_is_passed_over(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    application.need("latency")
    first, second = two_brokers(cluster, topic)
    code = ResponseCode.SYSTEM_ERROR
    meet_sends(
        first, each(lambda request: request.respond(code, remark="no"), first.store)
    )
    producer = application.producer(latency=True, retries=0)
    outcomes = [producer.send(topic).word for _ in range(ROUNDS)]
    expect(
        "CLIENT-FAULT-010",
        found=len(first.sends),
        expected=1,
        what=f"of {ROUNDS} messages, those to the broker that failed once",
    )
    expect(
        "CLIENT-FAULT-010",
        found=len(second.sends),
        expected=ROUNDS - outcomes.count(int(code)),
        what="messages to the other",
    )


@pytest.mark.clause("CLIENT-FAULT-004")
def test_with_the_table_fast_brokers_share_the_messages(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    application.need("latency")
    brokers = two_brokers(cluster, topic)
    producer = application.producer(latency=True)
    for _ in range(ROUNDS):
        producer.send(topic)
    slow = [one for one in all_sends(cluster) if one.server.name == "broker-a"]
    expect(
        "CLIENT-FAULT-004",
        found=(len(slow), len(brokers[1].sends)),
        expected=(ROUNDS // 2, ROUNDS // 2),
        what="messages to either",
    )


@pytest.mark.clause("CLIENT-FAULT-011")
def test_with_the_table_and_no_good_broker_messages_are_sent_all_the_same(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    application.need("latency")
    code = ResponseCode.SYSTEM_ERROR
    for broker in two_brokers(cluster, topic):
        meet_sends(
            broker,
            each(lambda request: request.respond(code, remark="no"), broker.store),
        )
    producer = application.producer(latency=True, retries=0)
    found = [producer.send(topic).word for _ in range(4)]
    expect(
        "CLIENT-FAULT-011",
        found=sorted(map(str, found)),
        expected=["1", "1", "SEND_OK", "SEND_OK"],
        what="results after both brokers failed once",
    )


@pytest.mark.clause("CLIENT-FAULT-009")
def test_with_the_table_a_retry_stays_at_the_broker_that_failed(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    application.need("latency")
    for broker in two_brokers(cluster, topic):
        meet_sends(
            broker,
            lambda request: request.respond(ResponseCode.SYSTEM_ERROR, remark="no"),
        )
    application.producer(latency=True, retries=2).send(topic)
    names = [one.server.name for one in all_sends(cluster)]
    expect("CLIENT-FAULT-009", found=len(names), expected=3, what="attempts")
    expect("CLIENT-FAULT-009", found=len(set(names)), expected=1, what="brokers tried")
