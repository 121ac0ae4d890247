"""Assigned queues, pops, acknowledgements and failed messages of a push consumer."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.client.application import Application, Consumer
from conformance.client.calls import body_of
from conformance.client.consumer.pulls import BACK, COMMIT, PULL, pulls_of
from conformance.client.scripted.scripted_cluster import ScriptedCluster
from conformance.client.scripted.scripted_pops import (
    ACK,
    ASSIGN,
    CHANGE,
    POP,
    ScriptedPops,
)
from conformance.client.scripted.scripted_server import Script, each, responding
from conformance.client.timing import CLOCKS_MS, SOON_MS
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_fields,
    expect_that,
)
from spec.wire.bodies.json_body import decode_body
from spec.wire.pop.pop_bodies import QueryAssignmentRequestBody
from spec.wire.pop.pop_receipt import TopicKind, encode_receipt
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

AFTER_ERROR_MS = 1_000
INVISIBLE_MS = 60_000

CONSUMER_LIST = RequestCode.GET_CONSUMER_LIST_BY_GROUP
UNREGISTER = RequestCode.UNREGISTER_CLIENT
LATE_IN_MS = 10_000
"""Invisible time that is left of a message, for a busy machine."""


@pytest.fixture
def pops(cluster: ScriptedCluster, topic: str) -> ScriptedPops:
    """Return the pops of a topic with one queue."""
    cluster.route(topic, {"broker-a": 1})
    return ScriptedPops(broker=cluster.broker(), topic=topic)


def popping(application: Application, topic: str, **given: Any) -> Consumer:
    """Return a push consumer whose queues the broker assigns."""
    application.need("pop")
    options = {"client_rebalance": False, **given.pop("options", {})}
    return application.consumer(topic, options=options, **given)


def bodies_of(consumer: Consumer) -> list[bytes]:
    """Return the bodies of the messages delivered so far, which are one or more.

    The adapter may report a delivery after its acknowledgement was received.
    """
    consumer.wait_for()
    return [body_of(one) for one in consumer.messages()]


@pytest.mark.clause("CLIENT-POP-001")
def test_a_consumer_requests_its_queues(
    application: Application, pops: ScriptedPops, topic: str
) -> None:
    consumer = popping(application, topic)
    pops.broker.wait_for(POP)
    (request, *_) = pops.broker.wait_for(
        ASSIGN, where=lambda one: topic.encode() in one.command.body
    )
    found = decode_body(QueryAssignmentRequestBody, request.command.body)
    (beat, *_) = pops.broker.heartbeats()
    for name, value, expected in (
        ("topic", found.topic, topic),
        ("consumerGroup", found.group, consumer.group),
        ("clientId", found.client_id, beat.client_id),
        ("strategyName", found.strategy, "AVG"),
        ("messageModel", found.message_model, "CLUSTERING"),
    ):
        expect("CLIENT-POP-001", found=value, expected=expected, what=name)
    lists = [one.command.fields for one in pops.broker.requests(CONSUMER_LIST)]
    expect("CLIENT-POP-001", found=lists, expected=[], what="consumer list requests")


@pytest.mark.clause("CLIENT-POP-002")
def test_the_mode_of_a_queue_decides_between_pop_and_pull(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    cluster.route(topic, {"broker-a": 4})
    broker = cluster.broker()
    modes = {0: "POP", 1: "PULL", 3: "POP"}
    ScriptedPops(broker=broker, topic=topic, modes=modes)
    popping(application, topic)
    broker.wait_for(POP, count=2)
    broker.wait_until(lambda: bool(pulls_of(broker, topic)), what="a pull")
    for code, expected in ((POP, ["0", "3"]), (PULL, ["1"])):
        found = {
            one.command.fields["queueId"]
            for one in broker.requests(code)
            if one.command.fields["topic"] == topic
        }
        what = f"queues of {RequestCode(code).name}"
        expect("CLIENT-POP-002", found=sorted(found), expected=expected, what=what)


@pytest.mark.clause("CLIENT-POP-003")
@pytest.mark.parametrize(("begin", "mode"), [("first", "0"), ("last", "1")])
def test_a_pop_has_the_settings_of_its_consumer(
    application: Application, pops: ScriptedPops, topic: str, begin: str, mode: str
) -> None:
    given = {"expression": "A || B", "from": begin}
    consumer = popping(application, topic, **given)
    fields = pops.broker.wait_for(POP)[0].command.fields
    expect_fields(
        "CLIENT-POP-003",
        found=fields,
        expected={
            "consumerGroup": consumer.group,
            "topic": topic,
            "queueId": "0",
            "maxMsgNums": "32",
            "invisibleTime": str(INVISIBLE_MS),
            "pollTime": "15000",
            "initMode": mode,
            "order": "false",
            "expType": "TAG",
            "exp": "A || B",
        },
    )


@pytest.mark.clause("CLIENT-POP-004")
def test_a_handled_message_is_acknowledged_with_its_receipt(
    application: Application, pops: ScriptedPops, topic: str
) -> None:
    receipts = [pops.put(b"%d" % number) for number in range(2)]
    consumer = popping(application, topic)
    consumer.wait_for(2)
    for receipt in receipts:
        expect_fields(
            "CLIENT-POP-004",
            found=pops.wait_for(ACK, receipt).command.fields,
            expected={
                "consumerGroup": consumer.group,
                "topic": topic,
                "queueId": "0",
                "offset": str(receipt.queue_offset),
                "extraInfo": encode_receipt(receipt),
            },
        )
        expect(
            "CLIENT-POP-004",
            found=pops.requests_about(receipt),
            expected=["ACK_MESSAGE"],
            what="requests about the message",
        )


@pytest.mark.clause("CLIENT-POP-005")
def test_a_message_popped_again_is_acknowledged_in_its_retry_topic(
    application: Application, pops: ScriptedPops, topic: str
) -> None:
    receipt = pops.put(b"again", reconsume_times=1, kind=TopicKind.RETRY)
    consumer = popping(application, topic)
    (message,) = consumer.wait_for()
    expect("CLIENT-POP-005", found=message["topic"], expected=topic, what="topic")
    expect_fields(
        "CLIENT-POP-005",
        found=pops.wait_for(ACK, receipt).command.fields,
        expected={
            "topic": f"%RETRY%{consumer.group}_{topic}",
            "extraInfo": encode_receipt(receipt),
        },
    )


@pytest.mark.clause("CLIENT-POP-006")
@pytest.mark.parametrize("word", ["later", "fail"])
def test_a_failed_message_stays_invisible(
    application: Application, pops: ScriptedPops, topic: str, word: str
) -> None:
    failed = pops.put(b"bad", KEYS="k")
    good = pops.put(b"good")
    options = {"threads": 1}
    popping(application, topic, outcomes={"k": [word]}, options=options)
    expect_fields(
        "CLIENT-POP-006",
        found=pops.wait_for(CHANGE, failed).command.fields,
        expected={
            "topic": topic,
            "queueId": "0",
            "offset": str(failed.queue_offset),
            "extraInfo": encode_receipt(failed),
        },
    )
    pops.wait_for(ACK, good)
    expect(
        "CLIENT-POP-006",
        found=pops.requests_about(failed),
        expected=["CHANGE_MESSAGE_INVISIBLETIME"],
        what="requests about the message",
    )
    found = len(pops.broker.requests(BACK))
    expect("CLIENT-POP-006", found=found, expected=0, what="send-backs")


@pytest.mark.clause("CLIENT-POP-007")
@pytest.mark.parametrize(
    ("times", "expected"), list(enumerate(("10000", "30000", "60000", "120000")))
)
def test_a_message_that_failed_before_stays_invisible_for_longer(
    application: Application,
    pops: ScriptedPops,
    topic: str,
    times: int,
    expected: str,
) -> None:
    failed = pops.put(b"bad", reconsume_times=times, KEYS="k")
    popping(application, topic, outcomes={"k": ["later"]})
    found = pops.wait_for(CHANGE, failed).command.fields["invisibleTime"]
    expect("CLIENT-POP-007", found=found, expected=expected, what="invisibleTime")


@pytest.mark.clause("CLIENT-POP-008")
def test_a_message_that_is_visible_again_is_not_delivered(
    application: Application, pops: ScriptedPops, topic: str
) -> None:
    late = pops.put(b"late", age_ms=INVISIBLE_MS + 1)
    good = pops.put(b"good")
    consumer = popping(application, topic, options={"threads": 1})
    pops.wait_for(ACK, good)
    found = bodies_of(consumer)
    expect("CLIENT-POP-008", found=found, expected=[b"good"], what="deliveries")
    found_about = pops.requests_about(late)
    expect("CLIENT-POP-008", found=found_about, expected=[], what="requests about it")


@pytest.mark.long
@pytest.mark.clause("CLIENT-POP-009")
def test_a_result_after_the_invisible_time_is_dropped(
    application: Application, pops: ScriptedPops, topic: str
) -> None:
    late = pops.put(b"late", age_ms=INVISIBLE_MS - LATE_IN_MS, KEYS="k")
    begun_ms = pops.broker.now_ms()
    outcomes = {"k": ["hold"]}
    consumer = popping(application, topic, outcomes=outcomes, options={"threads": 1})
    consumer.wait_for()
    wait_until(
        lambda: pops.broker.now_ms() - begun_ms > LATE_IN_MS + CLOCKS_MS,
        what="the invisible time is over",
        timeout_s=2 * LATE_IN_MS / 1000,
    )
    consumer.release("k")
    good = pops.put(b"good")
    pops.wait_for(ACK, good)
    found = pops.requests_about(late)
    expect("CLIENT-POP-009", found=found, expected=[], what="requests about it")


@pytest.mark.clause("CLIENT-POP-010")
def test_a_message_with_another_tag_is_acknowledged_unseen(
    application: Application, pops: ScriptedPops, topic: str
) -> None:
    other = pops.put(b"other", TAGS="B")
    good = pops.put(b"good", TAGS="A")
    consumer = popping(application, topic, expression="A")
    for receipt in (other, good):
        pops.wait_for(ACK, receipt)
    found = bodies_of(consumer)
    expect("CLIENT-POP-010", found=found, expected=[b"good"], what="deliveries")


@pytest.mark.clause("CLIENT-POP-011")
def test_a_message_that_failed_too_often_is_acknowledged_unseen(
    application: Application, pops: ScriptedPops, topic: str
) -> None:
    worst = pops.put(b"worst", reconsume_times=3)
    last = pops.put(b"last", reconsume_times=2)
    consumer = popping(application, topic, options={"max_reconsume": 2})
    for receipt in (worst, last):
        pops.wait_for(ACK, receipt)
    found = bodies_of(consumer)
    expect("CLIENT-POP-011", found=found, expected=[b"last"], what="deliveries")


@pytest.mark.clause("CLIENT-POP-012")
@pytest.mark.parametrize(
    ("code", "least_ms"),
    [
        (ResponseCode.POLLING_TIMEOUT, 0),
        (ResponseCode.POLLING_FULL, AFTER_ERROR_MS),
        (ResponseCode.SYSTEM_ERROR, AFTER_ERROR_MS),
    ],
)
def test_a_queue_without_messages_is_popped_again(
    application: Application, pops: ScriptedPops, topic: str, code: int, least_ms: int
) -> None:
    first: Script = responding(code, remark="none", fields=NOTHING)
    pops.broker.on(POP, each(first, pops.pop))
    popping(application, topic)
    one, other = pops.broker.wait_for(POP, count=2)
    found = (one.command.fields["queueId"], other.command.fields["queueId"])
    expect("CLIENT-POP-012", found=found, expected=("0", "0"), what="popped queues")
    passed_ms = other.at_ms - one.at_ms
    expect_that(
        "CLIENT-POP-012",
        passed_ms >= least_ms - CLOCKS_MS,
        found=f"{passed_ms:.0f} ms",
        expected=f"{least_ms} ms or more",
        what=f"time until the next pop after {ResponseCode(code).name}",
    )


NOTHING = {"popTime": "0", "invisibleTime": "0", "reviveQid": "0", "restNum": "0"}


@pytest.mark.clause("CLIENT-POP-013")
@pytest.mark.parametrize(
    "given", [{"order": "orderly"}, {"model": "broadcasting"}], ids=str
)
def test_an_orderly_or_broadcasting_consumer_pulls(
    application: Application, pops: ScriptedPops, topic: str, given: dict[str, str]
) -> None:
    popping(application, topic, **given)
    pops.broker.wait_until(lambda: bool(pulls_of(pops.broker, topic)), what="a pull")
    found = len(pops.broker.requests(ASSIGN, POP))
    expect("CLIENT-POP-013", found=found, expected=0, what="assignments and pops")


@pytest.mark.clause("CLIENT-POP-014")
def test_no_offset_of_a_popped_queue_is_committed(
    application: Application, pops: ScriptedPops, topic: str
) -> None:
    receipt = pops.put(b"one")
    consumer = popping(application, topic, options={"persist_ms": SOON_MS})
    pops.wait_for(ACK, receipt)
    consumer.stop()
    pops.broker.wait_for(UNREGISTER)
    found = [one.command.fields for one in pops.broker.requests(COMMIT)]
    expect("CLIENT-POP-014", found=found, expected=[], what="committed offsets")
