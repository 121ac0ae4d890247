"""Heartbeats of a client, and its responses to requests of brokers."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import pytest

from conformance.client.application import Application
from conformance.client.scripted.scripted_broker import ScriptedBroker
from conformance.client.scripted.scripted_cluster import (
    ScriptedCluster,
    with_slave,
)
from conformance.client.scripted.scripted_server import ReceivedRequest
from conformance.client.timing import SOON_MS
from conformance.harness.pytest_plugin.expectations import expect, expect_that
from spec.wire.remoting.command import Command, encode_command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

HEARTBEAT = RequestCode.HEART_BEAT
LEAVE = RequestCode.UNREGISTER_CLIENT
UNKNOWN_CODE = 24_679


def fields(request: ReceivedRequest) -> Mapping[str, str]:
    """Return the header fields of *request*."""
    return request.command.fields


@pytest.mark.clause("CLIENT-HEARTBEAT-001")
def test_a_producer_sends_heartbeats_to_masters(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    master, slave = with_slave(cluster, topic)
    producer = application.producer(heartbeat_ms=SOON_MS)
    producer.send(topic)
    master.wait_for(HEARTBEAT, count=2)
    groups = {one.group for beat in master.heartbeats() for one in beat.producers}
    expect_that(
        "CLIENT-HEARTBEAT-001",
        producer.group in groups,
        found=sorted(groups),
        expected=f"the group {producer.group}",
        what="groups of the heartbeats",
    )
    beats = len(slave.requests(HEARTBEAT))
    expect(
        "CLIENT-HEARTBEAT-001", found=beats, expected=0, what="heartbeats at a slave"
    )


@pytest.mark.clause("CLIENT-HEARTBEAT-001")
def test_a_consumer_sends_heartbeats_to_slaves_too(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    master, slave = with_slave(cluster, topic)
    consumer = application.consumer(topic, expression="A || B")
    for broker in (master, slave):
        broker.wait_for(HEARTBEAT)
        found = [
            (one.group, one.message_model, one.consume_type)
            for beat in broker.heartbeats()
            for one in beat.consumers
        ]
        expect(
            "CLIENT-HEARTBEAT-001",
            found=found[0] if found else None,
            expected=(consumer.group, "CLUSTERING", "CONSUME_PASSIVELY"),
            what=f"group, model and kind at {broker.name}",
        )


@pytest.mark.clause("CLIENT-HEARTBEAT-002")
def test_a_client_that_ends_says_so_to_every_broker(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    master, slave = with_slave(cluster, topic)
    producer = application.producer()
    producer.send(topic)
    producer.stop()
    for broker in (master, slave):
        left = broker.wait_for(LEAVE)[0].command.fields
        expect(
            "CLIENT-HEARTBEAT-002",
            found=left.get("producerGroup"),
            expected=producer.group,
            what=f"the group that is left at {broker.name}",
        )


@pytest.mark.clause("CLIENT-HEARTBEAT-002")
def test_a_consumer_that_ends_leaves_its_group_at_every_broker(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    brokers = with_slave(cluster, topic)
    consumer = application.consumer(topic)
    for broker in brokers:
        broker.wait_for(HEARTBEAT)
    consumer.stop()
    for broker in brokers:
        left = broker.wait_for(LEAVE, where=lambda one: "consumerGroup" in fields(one))
        expect(
            "CLIENT-HEARTBEAT-002",
            found=fields(left[0])["consumerGroup"],
            expected=consumer.group,
            what=f"the group that is left at {broker.name}",
        )


@pytest.mark.clause("CLIENT-HEARTBEAT-003")
def test_a_clients_id_is_its_address_and_its_instance(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    producer = application.producer(instance_name="INSTANCE_A")
    producer.send(topic)
    broker.wait_for(HEARTBEAT)
    address, at_sign, instance = broker.heartbeats()[0].client_id.partition("@")
    expect(
        "CLIENT-HEARTBEAT-003",
        found=(bool(address), at_sign, instance.partition("@")[0]),
        expected=(True, "@", "INSTANCE_A"),
        what="parts of the client's id",
    )


@pytest.mark.clause("CLIENT-ADMIN-001")
def test_a_request_that_a_client_does_not_know_is_answered_3(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    producer = application.producer()
    producer.send(topic)
    connection = broker.sends[0].connection
    strange = Command(code=UNKNOWN_CODE, opaque=4242, language="JAVA")
    with suppress(OSError):  # a client that closed its connection does not respond
        connection.write(encode_command(strange))
    broker.wait_until(lambda: bool(connection.responses), what="the client answers")
    response = connection.responses[0]
    expect(
        "CLIENT-ADMIN-001",
        found=(response.code, response.opaque),
        expected=(ResponseCode.REQUEST_CODE_NOT_SUPPORTED, 4242),
        what="code and opaque",
    )
    producer.send(topic)
    expect(
        "CLIENT-ADMIN-001",
        found=broker.sends[1].connection is connection,
        expected=True,
        what="the same connection",
    )
