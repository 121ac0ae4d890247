"""Offsets and state that a consumer reports to an administrator."""

from __future__ import annotations

import pytest

from conformance.client.admin_requests import (
    COUNT,
    filled,
    queue_of,
    running_info_of,
    running_info_response,
    status_of,
    status_response,
)
from conformance.client.application import Application
from conformance.client.consumer.pulls import first_commit, first_pulls, pulls_of
from conformance.client.scripted.scripted_cluster import ScriptedCluster
from conformance.client.timing import SOON_MS
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_fields,
    expect_that,
)
from conformance.harness.pytest_plugin.fixtures import unique_name
from spec.wire.bodies.json_body import decode_body
from spec.wire.bodies.running_info import ConsumerRunningInfo
from spec.wire.remoting.response_code import ResponseCode


@pytest.mark.clause("CLIENT-ADMIN-003")
def test_a_consumer_tells_its_offsets(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = filled(cluster, topic)
    consumer = application.consumer(topic, options={"persist_ms": SOON_MS})
    pull = first_commit(broker, topic, COUNT)
    response = status_response(pull, topic, consumer.group)
    expect("CLIENT-ADMIN-003", found=response.code, expected=0, what="code")
    expect(
        "CLIENT-ADMIN-003",
        found=status_of(response),
        expected={queue_of(topic): COUNT},
        what="messageQueueTable",
    )


@pytest.mark.clause("CLIENT-ADMIN-003")
def test_of_a_group_that_it_is_not_in_a_consumer_tells_no_offsets(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = filled(cluster, topic)
    application.consumer(topic, options={"persist_ms": SOON_MS})
    pull = first_commit(broker, topic, COUNT)
    response = status_response(pull, topic, unique_name("group"))
    expect(
        "CLIENT-ADMIN-003",
        found=(response.code, status_of(response)),
        expected=(0, {}),
        what="code and messageQueueTable",
    )


@pytest.mark.clause("CLIENT-ADMIN-004")
def test_a_consumer_tells_its_state(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = filled(cluster, topic)
    consumer = application.consumer(
        topic, expression="A || B", options={"persist_ms": SOON_MS}
    )
    pull = first_pulls(broker, topic, 1)
    response = running_info_response(pull[0], consumer.group)
    expect("CLIENT-ADMIN-004", found=response.code, expected=0, what="code")
    received = decode_body(ConsumerRunningInfo, response.body)
    expect_fields(
        "CLIENT-ADMIN-004",
        found=dict(received.properties),
        expected={
            "PROP_CONSUME_TYPE": "CONSUME_PASSIVELY",
            "PROP_CONSUMEORDERLY": "false",
            "consumerGroup": consumer.group,
            "messageModel": "CLUSTERING",
            "consumeFromWhere": "CONSUME_FROM_FIRST_OFFSET",
        },
    )
    servers = received.properties.get("PROP_NAMESERVER_ADDR", "").split(";")
    expect_that(
        "CLIENT-ADMIN-004",
        str(cluster.name_server.address) in servers,
        found=servers,
        expected=str(cluster.name_server.address),
        what="PROP_NAMESERVER_ADDR",
    )
    expect(
        "CLIENT-ADMIN-004",
        found={one.topic: one.expression for one in received.subscriptions},
        expected={topic: "A || B", f"%RETRY%{consumer.group}": "*"},
        what="subscriptionSet",
    )
    mine = [one for one in received.queues if one.topic == topic]
    expect("CLIENT-ADMIN-004", found=mine, expected=[queue_of(topic)], what="mqTable")


@pytest.mark.clause("CLIENT-ADMIN-004")
def test_a_consumer_tells_what_of_a_queue_is_not_handled(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = filled(cluster, topic)
    consumer = application.consumer(
        topic, outcomes={"k2": ["hold"]}, options={"persist_ms": SOON_MS}
    )
    consumer.wait_for(COUNT)
    pull = first_commit(broker, topic, 2)
    found = running_info_of(pull, consumer.group).queues[queue_of(topic)]
    expect(
        "CLIENT-ADMIN-004",
        found=(found.commit_offset, found.cached_min_offset, found.is_dropped),
        expected=(2, 2, False),
        what="commitOffset, cachedMsgMinOffset and droped",
    )
    consumer.release("k2")


@pytest.mark.clause("CLIENT-ADMIN-004")
def test_of_a_group_that_it_is_not_in_a_consumer_tells_no_state(
    application: Application, cluster: ScriptedCluster, topic: str
) -> None:
    broker = filled(cluster, topic)
    consumer = application.consumer(topic)
    consumer.wait_for(COUNT)
    code = running_info_response(pulls_of(broker, topic)[0], unique_name("group")).code
    error = ResponseCode.SYSTEM_ERROR
    expect("CLIENT-ADMIN-004", found=code, expected=error, what="code")
