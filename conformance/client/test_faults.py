"""Where messages go after a broker failed, with a table of faults and without."""

from __future__ import annotations

import pytest

from conformance.client.application import Application
from conformance.client.player import each
from conformance.client.stage import Stage
from conformance.client.test_attempts import all_sends, meet_sends, two_brokers
from conformance.harness.verdicts import expect
from spec.wire.response_code import ResponseCode

ROUNDS = 8


@pytest.mark.clause("CLIENT-FAULT-001")
def test_without_the_table_a_broker_that_failed_gets_new_messages(
    application: Application, stage: Stage, topic: str
) -> None:
    first, _ = two_brokers(stage, topic)
    code = ResponseCode.MESSAGE_ILLEGAL
    meet_sends(first, lambda asked: asked.answer(code, remark="no"))
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
    application: Application, stage: Stage, topic: str
) -> None:
    application.need("latency")
    first, second = two_brokers(stage, topic)
    code = ResponseCode.SYSTEM_ERROR
    meet_sends(first, each(lambda asked: asked.answer(code, remark="no"), first.store))
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
    application: Application, stage: Stage, topic: str
) -> None:
    application.need("latency")
    brokers = two_brokers(stage, topic)
    producer = application.producer(latency=True)
    for _ in range(ROUNDS):
        producer.send(topic)
    slow = [one for one in all_sends(stage) if one.player.name == "broker-a"]
    expect(
        "CLIENT-FAULT-004",
        found=(len(slow), len(brokers[1].sends)),
        expected=(ROUNDS // 2, ROUNDS // 2),
        what="messages to either",
    )


@pytest.mark.clause("CLIENT-FAULT-011")
def test_with_the_table_and_no_good_broker_messages_are_sent_all_the_same(
    application: Application, stage: Stage, topic: str
) -> None:
    application.need("latency")
    code = ResponseCode.SYSTEM_ERROR
    for broker in two_brokers(stage, topic):
        meet_sends(
            broker, each(lambda asked: asked.answer(code, remark="no"), broker.store)
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
    application: Application, stage: Stage, topic: str
) -> None:
    application.need("latency")
    for broker in two_brokers(stage, topic):
        meet_sends(
            broker,
            lambda asked: asked.answer(ResponseCode.SYSTEM_ERROR, remark="no"),
        )
    application.producer(latency=True, retries=2).send(topic)
    names = [one.player.name for one in all_sends(stage)]
    expect("CLIENT-FAULT-009", found=len(names), expected=3, what="attempts")
    expect("CLIENT-FAULT-009", found=len(set(names)), expected=1, what="brokers tried")
