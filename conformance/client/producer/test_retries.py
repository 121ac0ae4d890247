"""Retries of a send: their number, their brokers, and the result."""

from __future__ import annotations

import time
from functools import partial
from itertools import pairwise

import pytest

from conformance.client.application import Application
from conformance.client.calls import AN_ERROR
from conformance.client.producer.sends import (
    SHORT_MS,
    all_sends,
    meet_sends,
    sent_after,
    two_brokers,
)
from conformance.client.scripted.scripted_broker import ScriptedBroker, header_of
from conformance.client.scripted.scripted_cluster import ScriptedCluster
from conformance.client.scripted.scripted_server import (
    close,
    each,
    ignore,
    responding,
)
from conformance.client.timing import CLOCKS_MS
from conformance.harness.pytest_plugin.expectations import expect, expect_that
from spec.wire.remoting.response_code import ResponseCode

RETRIED = (1, 14, 16, 17, 204, 205)
FINAL = (3, 13, 24, 105)
DEFAULT_TIMEOUT_MS = 3000


@pytest.mark.clause("CLIENT-RETRY-001", "CLIENT-RETRY-002")
@pytest.mark.parametrize("code", RETRIED)
def test_after_some_codes_a_send_is_tried_again(
    application: Application, broker: ScriptedBroker, topic: str, code: int
) -> None:
    refuses = responding(code, remark="no")
    expect(
        "CLIENT-RETRY-002",
        found=sent_after(application, broker, topic, refuses),
        expected=("SEND_OK", 2),
        what=f"result and attempts after code {code}",
    )


@pytest.mark.clause("CLIENT-RETRY-002", "CLIENT-SENDRESULT-001")
@pytest.mark.parametrize("code", FINAL)
def test_after_other_codes_the_application_is_told(
    application: Application, broker: ScriptedBroker, topic: str, code: int
) -> None:
    refuses = responding(code, remark="no")
    expect(
        "CLIENT-RETRY-002",
        found=sent_after(application, broker, topic, refuses),
        expected=(code, 1),
        what=f"what the application receives, and attempts, after code {code}",
    )


@pytest.mark.clause("CLIENT-RETRY-014")
def test_a_busy_broker_is_believed(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    busy = responding(ResponseCode.SYSTEM_BUSY, remark="no")
    expect(
        "CLIENT-RETRY-014",
        found=sent_after(application, broker, topic, busy),
        expected=(int(ResponseCode.SYSTEM_BUSY), 1),
        what="what the application receives, and attempts, after SYSTEM_BUSY",
    )


@pytest.mark.clause("CLIENT-RETRY-015")
def test_after_a_broker_was_busy_a_send_is_tried_again(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    busy = responding(ResponseCode.SYSTEM_BUSY, remark="no")
    expect(
        "CLIENT-RETRY-015",
        found=sent_after(application, broker, topic, busy),
        expected=("SEND_OK", 2),
        what="result and attempts after SYSTEM_BUSY",
    )


@pytest.mark.clause("CLIENT-RETRY-001", "CLIENT-RETRY-008")
@pytest.mark.parametrize(("retries", "count"), [(None, 3), (0, 1), (4, 5)])
def test_a_send_is_tried_once_and_as_often_again_as_is_set(
    application: Application,
    broker: ScriptedBroker,
    topic: str,
    retries: int | None,
    count: int,
) -> None:
    meet_sends(broker, responding(ResponseCode.SYSTEM_ERROR, remark="no"))
    outcome = application.producer(retries=retries).send(topic)
    expect("CLIENT-RETRY-001", found=len(broker.sends), expected=count, what="attempts")
    expect(
        "CLIENT-RETRY-008",
        found=outcome.word,
        expected=int(ResponseCode.SYSTEM_ERROR),
        what="the code that the application is told",
    )


@pytest.mark.clause("CLIENT-RETRY-008")
def test_the_code_of_the_last_attempt_is_told(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    last = ResponseCode.SERVICE_NOT_AVAILABLE
    meet_sends(broker, each(responding(1), responding(16), responding(last)))
    outcome = application.producer().send(topic)
    expect("CLIENT-RETRY-008", found=outcome.word, expected=int(last), what="code")
    assert outcome.error is not None
    expect_that(
        "CLIENT-RETRY-008",
        "broker-a" in outcome.error["text"],
        found=outcome.error["text"],
        expected="the name of the broker that was tried",
    )


@pytest.mark.clause("CLIENT-RETRY-013")
def test_after_a_lost_connection_a_send_is_tried_again(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    expect(
        "CLIENT-RETRY-013",
        found=sent_after(application, broker, topic, close),
        expected=("SEND_OK", 2),
        what="result and attempts after the connection was closed",
    )


@pytest.mark.clause("CLIENT-RETRY-002", "CLIENT-SELECT-003")
def test_after_a_broker_cannot_be_reached_another_is_tried(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    first, second = two_brokers(cluster, topic)
    first.stop()
    producer = application.producer()
    for _ in range(4):
        expect(
            "CLIENT-RETRY-002",
            found=producer.send(topic).word,
            expected="SEND_OK",
            what="a send while one of two brokers is gone",
        )
    expect("CLIENT-SELECT-003", found=len(second.sends), expected=4, what="sends")


@pytest.mark.clause("CLIENT-SELECT-003", "CLIENT-RETRY-006", "CLIENT-SEND-002")
def test_a_retry_goes_to_another_broker_as_a_new_request_of_the_same_message(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    for broker in two_brokers(cluster, topic):
        meet_sends(broker, responding(ResponseCode.SYSTEM_ERROR, remark="no"))
    application.producer(retries=3).send(topic)
    sends = all_sends(cluster)
    names = [one.server.name for one in sends]
    expect(
        "CLIENT-SELECT-003",
        found=[one != following for one, following in pairwise(names)],
        expected=[True] * 3,
        what="whether each retry goes to another broker than the last attempt",
    )
    opaques = [one.command.opaque for one in sends]
    expect("CLIENT-RETRY-006", found=len(set(opaques)), expected=4, what="opaques")
    keys = {header_of(one)["properties"] for one in sends}
    expect(
        "CLIENT-SEND-002",
        found=len(keys),
        expected=1,
        what="different properties of the requests",
    )


@pytest.mark.clause("CLIENT-RETRY-003", "CLIENT-SENDRESULT-001")
@pytest.mark.parametrize(
    ("code", "status"),
    [
        (0, "SEND_OK"),
        (10, "FLUSH_DISK_TIMEOUT"),
        (11, "SLAVE_NOT_AVAILABLE"),
        (12, "FLUSH_SLAVE_TIMEOUT"),
    ],
)
def test_a_message_that_was_stored_somehow_is_not_sent_again(
    application: Application, broker: ScriptedBroker, topic: str, code: int, status: str
) -> None:
    meet_sends(broker, lambda request: broker.respond_to_send(request, code))
    outcome = application.producer().send(topic)
    expect("CLIENT-SENDRESULT-001", found=outcome.word, expected=status, what="status")
    expect("CLIENT-RETRY-003", found=len(broker.sends), expected=1, what="attempts")


@pytest.mark.clause("CLIENT-RETRY-003")
def test_where_it_is_wished_another_broker_is_to_store_it_better(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    for broker in two_brokers(cluster, topic):
        meet_sends(
            broker,
            partial(broker.respond_to_send, code=ResponseCode.FLUSH_DISK_TIMEOUT),
        )
    outcome = application.producer(retry_not_stored=True).send(topic)
    expect(
        "CLIENT-RETRY-003", found=len(all_sends(cluster)), expected=3, what="attempts"
    )
    expect(
        "CLIENT-RETRY-003",
        found=outcome.word,
        expected="FLUSH_DISK_TIMEOUT",
        what="the result of the last",
    )


@pytest.mark.clause("CLIENT-RETRY-005")
def test_an_asynchronous_send_is_not_tried_again_after_an_error(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    code = int(ResponseCode.SYSTEM_ERROR)
    refuses = responding(code, remark="no")
    expect(
        "CLIENT-RETRY-005",
        found=sent_after(application, broker, topic, refuses, mode="async"),
        expected=(code, 1),
        what="what the application receives, and attempts",
    )


@pytest.mark.clause("CLIENT-RETRY-004", "CLIENT-RETRY-011")
def test_an_asynchronous_send_without_a_response_is_tried_again_at_its_queue(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    for broker in two_brokers(cluster, topic):
        meet_sends(broker, ignore)
    outcome = application.producer().send(topic, mode="async", timeout_ms=SHORT_MS)
    sends = all_sends(cluster)
    expect("CLIENT-RETRY-004", found=outcome.ending, expected=AN_ERROR, what="end")
    expect("CLIENT-RETRY-004", found=len(sends), expected=3, what="attempts")
    queues = {header_of(one)["queueId"] for one in sends}
    expect("CLIENT-RETRY-011", found=len(queues), expected=1, what="queue ids")


@pytest.mark.clause("CLIENT-RETRY-012")
def test_a_send_to_a_chosen_queue_is_not_repeated(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    refuses = responding(ResponseCode.SYSTEM_ERROR, remark="no")
    for broker in two_brokers(cluster, topic):
        meet_sends(broker, refuses)  # in no time, so that there is time for a retry
    outcome = application.producer().send(topic, select=1)
    expect("CLIENT-RETRY-012", found=outcome.ending, expected=AN_ERROR, what="end")
    expect(
        "CLIENT-RETRY-012", found=len(all_sends(cluster)), expected=1, what="attempts"
    )


@pytest.mark.clause("CLIENT-RETRY-017")
def test_an_asynchronous_send_to_a_chosen_queue_stays_at_its_broker(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    for broker in two_brokers(cluster, topic):
        meet_sends(broker, ignore)
    producer = application.producer()
    producer.send(topic, select=1, mode="async", timeout_ms=SHORT_MS)
    names = [one.server.name for one in all_sends(cluster)]
    expect("CLIENT-RETRY-017", found=len(names), expected=3, what="attempts")
    expect("CLIENT-RETRY-017", found=len(set(names)), expected=1, what="brokers tried")


@pytest.mark.clause("CLIENT-RETRY-007")
def test_a_oneway_send_waits_for_nobody(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    meet_sends(broker, close)
    producer = application.producer()
    outcome = producer.send(topic, mode="oneway")
    expect("CLIENT-RETRY-007", found=outcome.word, expected="done", what="outcome")
    broker.wait_for_sends()
    meet_sends(broker, broker.store)
    producer.send(topic, b"after it")
    flags = [one.command.flag for one in broker.sends]
    expect("CLIENT-RETRY-007", found=flags, expected=[2, 0], what="flags of all sends")


@pytest.mark.long
@pytest.mark.clause("CLIENT-SEND-001", "CLIENT-RETRY-001")
def test_a_send_without_a_timeout_fails_after_three_seconds(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    for broker in two_brokers(cluster, topic):
        meet_sends(broker, ignore)
    producer = application.producer(send_timeout_ms=None)
    # On a busy machine a request is seen late: only our own call is surely earlier.
    begun_ms = round(time.monotonic() * 1000)
    sending = producer.begin(topic)
    outcome = sending.outcome()
    took_ms = sending.done_at_ms() - begun_ms
    expect("CLIENT-SEND-001", found=outcome.ending, expected=AN_ERROR, what="end")
    expect_that(
        "CLIENT-SEND-001",
        took_ms >= DEFAULT_TIMEOUT_MS - CLOCKS_MS,
        found=f"{took_ms} ms",
        expected="3000 ms, and no less",
    )
    expect(
        "CLIENT-RETRY-001",
        found=len(all_sends(cluster)),
        expected=1,
        what="attempts in 3000 ms of which the first took all",
    )


@pytest.mark.clause("CLIENT-SEND-001")
def test_the_time_of_a_send_is_that_of_all_its_retries(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    brokers = two_brokers(cluster, topic)
    for broker in brokers:
        meet_sends(broker, ignore)
    producer = application.producer(retries=9)
    outcome = producer.send(topic, timeout_ms=400)
    expect("CLIENT-SEND-001", found=outcome.ending, expected=AN_ERROR, what="end")
    producer.stop()
    for broker in brokers:
        broker.wait_for_end()  # then each request that it wrote has been read
    count = len(all_sends(cluster))
    expect_that(
        "CLIENT-SEND-001",
        count <= 1,
        found=count,
        expected="1 at most",
        what="attempts",
    )
