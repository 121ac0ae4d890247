"""Requests of producers, and what they do with replies."""

from __future__ import annotations

import base64
import zlib

import pytest

from conformance.client.admin_requests import response_to
from conformance.client.application import UNHURRIED_MS, Application, Producer
from conformance.client.calls import AN_ERROR, Call
from conformance.client.scripted.scripted_broker import SENDS, ScriptedBroker, header_of
from conformance.client.scripted.scripted_cluster import ScriptedCluster
from conformance.client.scripted.scripted_server import (
    PATIENCE_S,
    ReceivedRequest,
    ignore,
    responding,
)
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_fields,
    expect_that,
)
from conformance.harness.pytest_plugin.fixtures import unique_name
from spec.store.message_record import SystemFlag
from spec.wire.message.properties import decode_properties, encode_properties
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

TIMEOUT_MS = 1000
REFUSED = ResponseCode.SYSTEM_ERROR


def pushed(
    request: ReceivedRequest,
    own_id: str,
    *,
    body: bytes = b"reply",
    flags: int = 0,
    host_prefix: str = "",
) -> Command:
    """Push a reply to the request of this id, and return the client's response."""
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
        "storeHost": f"{host_prefix}{request.server.address}",
        "storeTimestamp": "1600000000001",
    }
    return response_to(request, RequestCode.PUSH_REPLY_MESSAGE_TO_CLIENT, fields, body)


@pytest.mark.clause("CLIENT-REQUESTREPLY-001")
@pytest.mark.parametrize("is_compressed", [False, True])
def test_a_reply_that_nobody_waits_for_is_taken(
    application: Application, broker: ScriptedBroker, topic: str, is_compressed: bool
) -> None:
    application.need("request")
    application.producer().send(topic)
    body = zlib.compress(b"reply") if is_compressed else b"reply"
    flags = SystemFlag.COMPRESSED if is_compressed else 0
    response = pushed(broker.sends[0], unique_name("id"), body=body, flags=flags)
    expect("CLIENT-REQUESTREPLY-001", found=response.code, expected=0, what="code")


@pytest.mark.clause("CLIENT-REQUESTREPLY-003")
def test_a_reply_of_hosts_as_old_brokers_write_them_is_taken(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    application.need("request")
    application.producer().send(topic)
    response = pushed(broker.sends[0], unique_name("id"), host_prefix="/")
    expect("CLIENT-REQUESTREPLY-003", found=response.code, expected=0, what="code")


def properties_of(request: ReceivedRequest) -> dict[str, str]:
    """Return the properties of a message that was sent."""
    return dict(decode_properties(header_of(request)["properties"]))


def own_id_of(request: ReceivedRequest) -> str:
    """Return the id of the request that was sent."""
    return properties_of(request).get("CORRELATION_ID", "")


def expect_reply(clause_id: str, sending: Call, body: bytes) -> None:
    """Fail *clause_id* unless the application gets a reply with *body*."""
    outcome = sending.outcome()
    expect(
        clause_id, found=outcome.error_text, expected="", what="error of the request"
    )
    assert outcome.result is not None
    found = base64.b64decode(outcome.result["reply"]["body"])
    expect(clause_id, found=found, expected=body, what="body of the reply")


@pytest.mark.clause("CLIENT-REQUESTREPLY-002")
def test_a_request_says_who_waits_for_what_and_how_long(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    producer = application.producer(heartbeat_ms=200)
    begun = [
        producer.request(topic, timeout_ms=UNHURRIED_MS, lane=lane, tags="t")
        for lane in ("a", "b")
    ]
    received = broker.wait_for_sends(2)
    ids = {own_id_of(one) for one in received} - {""}
    expect("CLIENT-REQUESTREPLY-002", found=len(ids), expected=2, what="different ids")
    broker.wait_until(lambda: bool(names_of(broker, producer)), what="a heartbeat")
    expect_fields(
        "CLIENT-REQUESTREPLY-002",
        found=properties_of(received[0]),
        expected={
            "REPLY_TO_CLIENT": names_of(broker, producer)[0],
            "TTL": str(UNHURRIED_MS),
            "TAGS": "t",
        },
    )
    for one in received:
        pushed(one, own_id_of(one))
    for sending in begun:
        sending.outcome()


def names_of(broker: ScriptedBroker, producer: Producer) -> list[str]:
    """Return the client ids of a producer's heartbeats so far."""
    return [
        beat.client_id
        for beat in broker.heartbeats()
        if any(one.group == producer.group for one in beat.producers)
    ]


@pytest.mark.clause("CLIENT-REQUESTREPLY-001", "CLIENT-REQUESTREPLY-004")
@pytest.mark.parametrize("comes_first", [False, True])
def test_a_request_gets_its_own_reply(
    application: Application, broker: ScriptedBroker, topic: str, comes_first: bool
) -> None:
    if comes_first:
        for code in SENDS:
            broker.on(code, ignore)
    producer = application.producer()
    sending = producer.request(topic, timeout_ms=UNHURRIED_MS)
    (received,) = broker.wait_for_sends()
    pushed(received, unique_name("id"), body=b"of another")
    response = pushed(received, own_id_of(received), body=b"own")
    expect("CLIENT-REQUESTREPLY-001", found=response.code, expected=0, what="code")
    clause_id = "CLIENT-REQUESTREPLY-004" if comes_first else "CLIENT-REQUESTREPLY-001"
    expect_reply(clause_id, sending, b"own")


@pytest.mark.clause("CLIENT-REQUESTREPLY-004")
def test_a_request_without_a_reply_ends_in_time(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    sending = application.producer().request(topic, timeout_ms=TIMEOUT_MS)
    (received,) = broker.wait_for_sends()
    outcome = sending.outcome(PATIENCE_S)
    kind = None if outcome.error is None else outcome.error.get("kind")
    expect(
        "CLIENT-REQUESTREPLY-004", found=kind, expected="timeout", what="kind of error"
    )
    waited_ms = sending.done_at_ms() - received.at_ms
    expect_that(
        "CLIENT-REQUESTREPLY-004",
        waited_ms >= TIMEOUT_MS / 2,
        found=f"{waited_ms:.0f} ms",
        expected=f"about {TIMEOUT_MS} ms",
        what="time it waited",
    )


@pytest.mark.clause("CLIENT-REQUESTREPLY-005")
def test_a_request_that_is_refused_ends_at_once(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    for code in SENDS:
        broker.on(code, responding(REFUSED, remark="no"))
    sending = application.producer().request(topic, timeout_ms=UNHURRIED_MS)
    (received,) = broker.wait_for_sends()
    outcome = sending.outcome()
    expect(
        "CLIENT-REQUESTREPLY-005", found=outcome.ending, expected=AN_ERROR, what="end"
    )
    waited_ms = sending.done_at_ms() - received.at_ms
    expect_that(
        "CLIENT-REQUESTREPLY-005",
        waited_ms < UNHURRIED_MS / 2,
        found=f"{waited_ms:.0f} ms",
        expected="an end long before the time is over",
    )


@pytest.mark.clause("CLIENT-REQUESTREPLY-007")
def test_a_reply_goes_to_the_clusters_topic_and_names_its_request(
    application: Application, cluster: ScriptedCluster
) -> None:
    cluster.route("SomeCluster_REPLY_TOPIC", {"broker-a": 1})
    broker = cluster.broker()
    named = {
        "CORRELATION_ID": unique_name("id"),
        "REPLY_TO_CLIENT": "192.0.2.1@4711",
        "TTL": "3000",
    }
    of_request = {**named, "CLUSTER": "SomeCluster", "KEYS": "of the request"}
    outcome = application.producer().reply(of_request, b"answer")
    expect(
        "CLIENT-REQUESTREPLY-007", found=outcome.error_text, expected="", what="error"
    )
    (received,) = broker.sends
    found = properties_of(received)
    expect_fields(
        "CLIENT-REQUESTREPLY-007",
        found={
            "code": received.command.code,
            "topic": header_of(received)["topic"],
            "body": bytes(received.command.body),
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


@pytest.mark.clause("CLIENT-REQUESTREPLY-006")
def test_before_its_first_request_a_producer_sends_a_heartbeat(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    producer = application.producer()
    sending = producer.request(topic, timeout_ms=UNHURRIED_MS)
    (received,) = broker.wait_for_sends()
    before = broker.received[: broker.received.index(received)]
    expect_that(
        "CLIENT-REQUESTREPLY-006",
        any(one.command.code == RequestCode.HEART_BEAT for one in before),
        found=[one.command.code for one in before],
        expected=f"a request {int(RequestCode.HEART_BEAT)}",
        what="requests before the message",
    )
    pushed(received, own_id_of(received))
    sending.outcome()
