"""Requests of a client with credentials: each of them is signed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from conformance.client.application import Application
from conformance.client.scripted.scripted_broker import ScriptedBroker
from conformance.client.scripted.scripted_cluster import ScriptedCluster
from conformance.client.scripted.scripted_server import ReceivedRequest
from conformance.harness.client.access import secret_credentials
from conformance.harness.pytest_plugin.expectations import expect, expect_that
from spec.security.signature import (
    ACCESS_KEY,
    SECURITY_TOKEN,
    SIGNATURE,
    Credentials,
    content_of,
    sign,
)
from spec.wire.remoting.request_code import RequestCode

KEYS = secret_credentials("clientaccount", "secret-of-the-client")
WITH_TOKEN = replace(KEYS, security_token="a-token")  # noqa: S106


def options(credentials: Credentials = KEYS) -> dict[str, Any]:
    """Return the option of a client with *credentials*."""
    given = {
        "access_key": credentials.access_key,
        "secret_key": credentials.secret_key,
    }
    if credentials.security_token is not None:
        given["security_token"] = credentials.security_token
    return {"credentials": given}


def received(cluster: ScriptedCluster) -> list[ReceivedRequest]:
    """Return the requests that the servers have received."""
    servers = (*cluster.name_servers, *cluster.brokers.values())
    return [one for server in servers for one in server.received]


def expect_signed(clause: str, requests: Sequence[ReceivedRequest]) -> None:
    """Fail *clause* unless each of *requests* has the signature of `KEYS`."""
    for request in requests:
        fields, body = request.command.fields, request.command.body
        expect(
            clause,
            found=(fields.get(ACCESS_KEY), fields.get(SIGNATURE)),
            expected=(
                KEYS.access_key,
                sign(content_of(fields, body), KEYS.secret_key),
            ),
            what=f"access key and signature of request code {request.command.code}",
        )


@pytest.mark.clause("CLIENT-ACL-001", "CLIENT-ACL-004")
@pytest.mark.parametrize("body", [b"hello", bytes(range(256)), b"large" * 2000])
def test_requests_of_a_producer_are_signed(
    application: Application,
    cluster: ScriptedCluster,
    broker: ScriptedBroker,
    topic: str,
    body: bytes,
) -> None:
    application.need("acl")
    producer = application.producer(**options())
    producer.send(topic, body, properties={"größe": "消息"}, keys="k1 k2")
    expect_that(
        "CLIENT-ACL-001",
        len(broker.sends) == 1 and bool(cluster.name_server.received),
        found=len(broker.sends),
        expected="requests at name server and broker",
    )
    expect_signed("CLIENT-ACL-001", received(cluster))
    sent = b"".join(
        "".join(one.command.fields.values()).encode() + one.command.body
        for one in received(cluster)
    )
    found = KEYS.secret_key.encode() in sent
    expect("CLIENT-ACL-004", found=found, expected=False, what="the secret was sent")


@pytest.mark.clause("CLIENT-ACL-002")
def test_a_oneway_send_is_signed(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    application.need("acl")
    application.producer(**options()).send(topic, mode="oneway")
    expect_signed("CLIENT-ACL-002", broker.wait_for_sends())


@pytest.mark.clause("CLIENT-ACL-002")
def test_requests_of_a_consumer_are_signed(
    application: Application,
    cluster: ScriptedCluster,
    broker: ScriptedBroker,
    topic: str,
) -> None:
    application.need("acl", "push")
    consumer = application.consumer(topic, options=options())
    broker.put(topic, b"hello")
    consumer.wait_for(1)
    consumer.stop()
    for code in (
        RequestCode.HEART_BEAT,
        RequestCode.GET_CONSUMER_LIST_BY_GROUP,
        RequestCode.PULL_MESSAGE,
        RequestCode.UNREGISTER_CLIENT,
    ):
        broker.wait_for(code)
    expect_signed("CLIENT-ACL-002", received(cluster))


@pytest.mark.clause("CLIENT-ACL-003")
def test_a_security_token_is_signed(
    application: Application, broker: ScriptedBroker, topic: str
) -> None:
    application.need("acl")
    application.producer(**options(WITH_TOKEN)).send(topic)
    (request,) = broker.sends
    found = request.command.fields.get(SECURITY_TOKEN)
    expect(
        "CLIENT-ACL-003",
        found=found,
        expected=WITH_TOKEN.security_token,
        what="SecurityToken",
    )
    expect_signed("CLIENT-ACL-003", [request])
