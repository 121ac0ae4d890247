"""Requests of producers, and what they do with replies."""

from __future__ import annotations

import base64
import zlib

import pytest

from conformance.client.application import (
    UNHURRIED_MS,
    Application,
    Producer,
    Sending,
)
from conformance.client.broker import SENDS, Broker, header_of
from conformance.client.player import PATIENCE_S, Asked, answering, ignore
from conformance.client.questions import answer_to
from conformance.client.stage import Stage
from conformance.harness.fixtures import unique_name
from conformance.harness.verdicts import expect, expect_fields, expect_that
from spec.store.message_record import SystemFlag
from spec.wire.command import Command
from spec.wire.properties import decode_properties, encode_properties
from spec.wire.request_code import RequestCode
from spec.wire.response_code import ResponseCode

TIMEOUT_MS = 1000
REFUSED = ResponseCode.SYSTEM_ERROR


def pushed(
    asked: Asked,
    own_id: str,
    *,
    body: bytes = b"reply",
    flags: int = 0,
    host_prefix: str = "",
) -> Command:
    """Push a reply to the request of this id, and return the client's answer."""
    fields = {
        "producerGroup": "g",
        "topic": "DefaultCluster_REPLY_TOPIC",
        "defaultTopic": "TBW102",
        "defaultTopicQueueNums": "4",
        "queueId": "0",
        "sysFlag": str(int(flags)),
        "bornTimestamp": "1600000000000",
        "flag": "0",
        "properties": encode_properties({"CORRELATION_ID": own_id}),
        "reconsumeTimes": "0",
        "unitMode": "false",
        "bornHost": f"{host_prefix}127.0.0.1:1",
        "storeHost": f"{host_prefix}{asked.player.address}",
        "storeTimestamp": "1600000000001",
    }
    return answer_to(asked, RequestCode.PUSH_REPLY_MESSAGE_TO_CLIENT, fields, body)


@pytest.mark.clause("CLIENT-REQUEST-006")
@pytest.mark.parametrize("is_compressed", [False, True])
def test_a_reply_that_nobody_waits_for_is_taken(
    application: Application, broker: Broker, topic: str, is_compressed: bool
) -> None:
    application.producer().send(topic)
    body = zlib.compress(b"reply") if is_compressed else b"reply"
    flags = SystemFlag.COMPRESSED if is_compressed else 0
    answer = pushed(broker.sends[0], unique_name("id"), body=body, flags=flags)
    expect("CLIENT-REQUEST-006", found=answer.code, expected=0, what="code")


@pytest.mark.clause("CLIENT-REQUEST-009")
def test_a_reply_of_hosts_as_old_brokers_write_them_is_taken(
    application: Application, broker: Broker, topic: str
) -> None:
    application.producer().send(topic)
    answer = pushed(broker.sends[0], unique_name("id"), host_prefix="/")
    expect("CLIENT-REQUEST-009", found=answer.code, expected=0, what="code")


def properties_of(asked: Asked) -> dict[str, str]:
    """Return the properties of a message that was sent."""
    return dict(decode_properties(header_of(asked)["properties"]))


def own_id_of(asked: Asked) -> str:
    """Return the id of the request that was sent."""
    return properties_of(asked).get("CORRELATION_ID", "")


def expect_reply(clause_id: str, sending: Sending, body: bytes) -> None:
    """Fail *clause_id* unless the application gets a reply with *body*."""
    outcome = sending.outcome()
    expect(clause_id, found=outcome.error, expected=None, what="error of the request")
    assert outcome.result is not None
    found = base64.b64decode(outcome.result["reply"]["body"])
    expect(clause_id, found=found, expected=body, what="body of the reply")


@pytest.mark.clause("CLIENT-REQUEST-007")
def test_a_request_says_who_waits_for_what_and_how_long(
    application: Application, broker: Broker, topic: str
) -> None:
    producer = application.producer(heartbeat_ms=200)
    begun = [
        producer.request(topic, timeout_ms=UNHURRIED_MS, lane=lane, tags="t")
        for lane in ("a", "b")
    ]
    sent = broker.wait_for_sends(2)
    ids = {own_id_of(one) for one in sent} - {""}
    expect("CLIENT-REQUEST-007", found=len(ids), expected=2, what="different ids")
    broker.wait_until(lambda: bool(names_of(broker, producer)), what="a heartbeat")
    expect_fields(
        "CLIENT-REQUEST-007",
        found=properties_of(sent[0]),
        expected={
            "REPLY_TO_CLIENT": names_of(broker, producer)[0],
            "TTL": str(UNHURRIED_MS),
            "TAGS": "t",
        },
    )
    for one in sent:
        pushed(one, own_id_of(one))
    for sending in begun:
        sending.outcome()


def names_of(broker: Broker, producer: Producer) -> list[str]:
    """Return the client ids of a producer's heartbeats so far."""
    return [
        beat.client_id
        for beat in broker.heard()
        if any(one.group == producer.group for one in beat.producers)
    ]


@pytest.mark.clause("CLIENT-REQUEST-006", "CLIENT-REQUEST-010")
@pytest.mark.parametrize("comes_first", [False, True])
def test_a_request_gets_its_own_reply(
    application: Application, broker: Broker, topic: str, comes_first: bool
) -> None:
    if comes_first:
        for code in SENDS:
            broker.on(code, ignore)
    producer = application.producer()
    sending = producer.request(topic, timeout_ms=UNHURRIED_MS)
    (sent,) = broker.wait_for_sends()
    pushed(sent, unique_name("id"), body=b"of another")
    answer = pushed(sent, own_id_of(sent), body=b"own")
    expect("CLIENT-REQUEST-006", found=answer.code, expected=0, what="code")
    clause_id = "CLIENT-REQUEST-010" if comes_first else "CLIENT-REQUEST-006"
    expect_reply(clause_id, sending, b"own")


@pytest.mark.clause("CLIENT-REQUEST-010")
def test_a_request_without_a_reply_ends_in_time(
    application: Application, broker: Broker, topic: str
) -> None:
    sending = application.producer().request(topic, timeout_ms=TIMEOUT_MS)
    (sent,) = broker.wait_for_sends()
    outcome = sending.outcome(PATIENCE_S)
    kind = None if outcome.error is None else outcome.error.get("kind")
    expect("CLIENT-REQUEST-010", found=kind, expected="timeout", what="kind of error")
    waited_ms = sending.done_at_ms() - sent.at_ms
    expect_that(
        "CLIENT-REQUEST-010",
        waited_ms >= TIMEOUT_MS / 2,
        found=f"{waited_ms:.0f} ms",
        expected=f"about {TIMEOUT_MS} ms",
        what="time it waited",
    )


@pytest.mark.clause("CLIENT-REQUEST-011")
def test_a_request_that_is_refused_ends_at_once(
    application: Application, broker: Broker, topic: str
) -> None:
    for code in SENDS:
        broker.on(code, answering(REFUSED, remark="no"))
    sending = application.producer().request(topic, timeout_ms=UNHURRIED_MS)
    (sent,) = broker.wait_for_sends()
    outcome = sending.outcome()
    found = outcome.is_error
    expect("CLIENT-REQUEST-011", found=found, expected=True, what="ends with an error")
    waited_ms = sending.done_at_ms() - sent.at_ms
    expect_that(
        "CLIENT-REQUEST-011",
        waited_ms < UNHURRIED_MS / 2,
        found=f"{waited_ms:.0f} ms",
        expected="an end long before the time is over",
    )


@pytest.mark.clause("CLIENT-REQUEST-013")
def test_a_reply_goes_to_the_clusters_topic_and_names_its_request(
    application: Application, stage: Stage
) -> None:
    stage.route("SomeCluster_REPLY_TOPIC", {"broker-a": 1})
    broker = stage.broker()
    named = {
        "CORRELATION_ID": unique_name("id"),
        "REPLY_TO_CLIENT": "192.0.2.1@4711",
        "TTL": "3000",
    }
    of_request = {**named, "CLUSTER": "SomeCluster", "KEYS": "of the request"}
    outcome = application.producer().reply(of_request, b"answer")
    expect("CLIENT-REQUEST-013", found=outcome.error, expected=None, what="error")
    (sent,) = broker.sends
    found = properties_of(sent)
    expect_fields(
        "CLIENT-REQUEST-013",
        found={
            "code": sent.command.code,
            "topic": header_of(sent)["topic"],
            "body": bytes(sent.command.body),
            "KEYS": found.get("KEYS"),
            **{name: found.get(name) for name in (*named, "MSG_TYPE")},
        },
        expected={
            "code": RequestCode.SEND_REPLY_MESSAGE_V2,
            "topic": "SomeCluster_REPLY_TOPIC",
            "body": b"answer",
            "KEYS": None,
            **named,
            "MSG_TYPE": "reply",
        },
    )


@pytest.mark.clause("CLIENT-REQUEST-012")
def test_before_its_first_request_a_producer_sends_a_heartbeat(
    application: Application, broker: Broker, topic: str
) -> None:
    producer = application.producer()
    sending = producer.request(topic, timeout_ms=UNHURRIED_MS)
    (sent,) = broker.wait_for_sends()
    before = broker.asked[: broker.asked.index(sent)]
    expect_that(
        "CLIENT-REQUEST-012",
        any(one.command.code == RequestCode.HEART_BEAT for one in before),
        found=[one.command.code for one in before],
        expected=f"a request {int(RequestCode.HEART_BEAT)}",
        what="requests before the message",
    )
    pushed(sent, own_id_of(sent))
    sending.outcome()
