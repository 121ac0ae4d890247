"""Subscriptions that a consumer reports to brokers in its heartbeats."""

from __future__ import annotations

import pytest

from conformance.client.application import Application
from conformance.client.calls import body_of
from conformance.client.consumer.pulls import first_pulls, one_queue, pulls_of
from conformance.client.scripted.scripted_broker import ScriptedBroker
from conformance.client.scripted.scripted_cluster import ScriptedCluster
from conformance.client.scripted.scripted_server import (
    ReceivedRequest,
    responding,
)
from conformance.harness.pytest_plugin.expectations import expect, expect_fields
from spec.integers import java_string_hash
from spec.wire.bodies.heartbeat import CheckClientRequestBody, SubscriptionData
from spec.wire.bodies.json_body import body_from_json, decode_body
from spec.wire.consumer.pull import PullFlag
from spec.wire.remoting.language import Version
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

HEARTBEAT = RequestCode.HEART_BEAT
CHECK = RequestCode.CHECK_CLIENT_CONFIG
SQL = "  a BETWEEN 1 AND 3 "


def describe_target(broker: ScriptedBroker, topic: str) -> SubscriptionData:
    """Return the subscription to *topic* in the first heartbeat of a consumer."""

    def found() -> list[SubscriptionData]:
        members = [one for beat in broker.heartbeats() for one in beat.consumers]
        return [
            one for each in members for one in each.subscriptions if one.topic == topic
        ]

    broker.wait_until(lambda: bool(found()), what="a heartbeat names the topic")
    return found()[0]


def expect_in_pull(clause_id: str, request: ReceivedRequest, expression: str) -> None:
    """Fail *clause_id* if a pull names another expression, where it names one."""
    fields = request.command.fields
    if int(fields["sysFlag"]) & PullFlag.SUBSCRIPTION:
        expect_fields(clause_id, found=fields, expected={"subscription": expression})


@pytest.mark.clause("CLIENT-SUBSCRIBE-002")
def test_a_heartbeat_tells_tags_and_their_hashes(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = one_queue(cluster, topic)
    application.consumer(topic, expression="A || B")
    received = describe_target(broker, topic)
    expect(
        "CLIENT-SUBSCRIBE-002",
        found=(received.expression, received.expression_type, sorted(received.tags)),
        expected=("A || B", "TAG", ["A", "B"]),
        what="expression, its type and its tags",
    )
    expect(
        "CLIENT-SUBSCRIBE-002",
        found=sorted(received.codes),
        expected=sorted(map(java_string_hash, "AB")),
        what="hashes of the tags",
    )
    (pull,) = first_pulls(broker, topic, 1)
    expect_in_pull("CLIENT-SUBSCRIBE-002", pull, "A || B")


@pytest.mark.clause("CLIENT-SUBSCRIBE-003")
def test_sql_is_told_as_it_is(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = one_queue(cluster, topic)
    broker.put(topic, b"whatever", TAGS="A", a="7")
    consumer = application.consumer(topic, expression=SQL, type="SQL92")
    received = describe_target(broker, topic)
    expect(
        "CLIENT-SUBSCRIBE-003",
        found=(
            received.expression,
            received.expression_type,
            received.tags,
            received.codes,
        ),
        expected=(SQL, "SQL92", (), ()),
        what="expression, its type, tags and their hashes",
    )
    (pull,) = first_pulls(broker, topic, 1)
    expect_fields(
        "CLIENT-SUBSCRIBE-003",
        found=pull.command.fields,
        expected={"expressionType": "SQL92"},
    )
    expect_in_pull("CLIENT-SUBSCRIBE-003", pull, SQL)
    found = body_of(consumer.wait_for()[0])
    expect("CLIENT-SUBSCRIBE-003", found=found, expected=b"whatever", what="body")


@pytest.mark.clause("CLIENT-SUBSCRIBE-005")
@pytest.mark.parametrize("code", [0, ResponseCode.SYSTEM_ERROR])
def test_a_broker_is_asked_whether_it_can_filter_so(
    application: Application, cluster: ScriptedCluster, topic: str, code: int
) -> None:
    broker = one_queue(cluster, topic)
    broker.on(CHECK, responding(code, remark="no"))
    outcome = application.try_consumer(topic, expression=SQL, type="SQL92")
    (request, *_) = broker.wait_for(CHECK)
    found = decode_body(CheckClientRequestBody, request.command.body).subscription
    assert isinstance(found, dict), "it asks about no subscription"
    received = body_from_json(SubscriptionData, found)
    expect(
        "CLIENT-SUBSCRIBE-005",
        found=(received.topic, received.expression, received.expression_type),
        expected=(topic, SQL, "SQL92"),
        what="topic, expression and its type",
    )
    error = None if outcome.error is None else outcome.error.get("code")
    expect("CLIENT-SUBSCRIBE-005", found=error, expected=code or None, what="error")


@pytest.mark.clause("CLIENT-SUBSCRIBE-004")
def test_an_old_broker_is_not_pulled_by_sql(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    application.need_adjustable("heartbeat_ms")
    broker = one_queue(cluster, topic)
    version = int(Version.V4_1_0_SNAPSHOT) - 1
    broker.on(HEARTBEAT, lambda request: request.respond(version=version))
    options = {"heartbeat_ms": 1000}
    application.consumer(topic, expression=SQL, type="SQL92", options=options)
    broker.wait_for(HEARTBEAT, count=5)
    found = len(pulls_of(broker, topic))
    expect("CLIENT-SUBSCRIBE-004", found=found, expected=0, what="pulls by SQL92")
    broker.on(HEARTBEAT, lambda request: request.respond(version=version + 1))
    first_pulls(broker, topic, 1)
