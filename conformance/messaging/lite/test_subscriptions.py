"""Subscriptions to lite topics: changed in part, as a whole, and by another client."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from conformance.harness.client.client import Client, require_success
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_code,
    expect_fields,
    expect_request,
)
from conformance.harness.pytest_plugin.fixtures import create_group
from conformance.harness.targets.target import Target
from conformance.messaging.lite.requests import LiteClient
from conformance.messaging.stored_messages import mapping_of
from spec.wire.pop.lite_topics import (
    BIND_TOPIC,
    UNKNOWN_CLIENT,
    SubscriptionAction,
    lite_queue,
)
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode


def expect_lite_topics(clause: str, client: LiteClient, *expected: str) -> None:
    """Fail *clause* unless *client* has exactly the *expected* lite topics."""
    response = client.query(
        RequestCode.GET_LITE_CLIENT_INFO,
        parentTopic=client.parent,
        group=client.group,
        clientId=client.client_id,
    )
    found = mapping_of(require_success(response))
    queues = {lite_queue(client.parent, name) for name in expected}
    expect_fields(
        clause,
        found={
            "liteTopicCount": found.get("liteTopicCount"),
            "liteTopicSet": set(found.get("liteTopicSet") or ()),
        },
        expected={
            "liteTopicCount": len(queues) or UNKNOWN_CLIENT,
            "liteTopicSet": queues,
        },
        transcript=client.broker.transcript,
    )


@pytest.mark.clause("LITE-SUBSCRIBE-001")
@pytest.mark.parametrize("body", [b"", b"{}", b'{"subscriptionSet":[]}'])
def test_a_change_of_nothing_is_refused(broker: Client, body: bytes) -> None:
    response = broker.invoke(RequestCode.LITE_SUBSCRIPTION_CTL, body=body)
    expect_code(
        "LITE-SUBSCRIBE-001",
        response,
        ResponseCode.ILLEGAL_OPERATION,
        broker.transcript,
    )


@pytest.mark.clause("LITE-SUBSCRIBE-002")
def test_lite_topics_are_added_and_removed_one_by_one(lite: LiteClient) -> None:
    lite.subscribe("a", "b")
    lite.subscribe("c")
    expect_lite_topics("LITE-SUBSCRIBE-002", lite, "a", "b", "c")
    require_success(lite.change(SubscriptionAction.PARTIAL_REMOVE, "a", "b"))
    expect_lite_topics("LITE-SUBSCRIBE-002", lite, "c")


@pytest.mark.clause("LITE-SUBSCRIBE-003")
def test_a_complete_change_replaces_the_subscription(lite: LiteClient) -> None:
    lite.subscribe("a", "b")
    complete = lite.change(SubscriptionAction.COMPLETE_ADD, "b", "c", version=1)
    require_success(complete)
    expect_lite_topics("LITE-SUBSCRIBE-003", lite, "b", "c")
    require_success(lite.change(SubscriptionAction.COMPLETE_REMOVE))
    expect_lite_topics("LITE-SUBSCRIBE-003", lite)


@pytest.mark.clause("LITE-SUBSCRIBE-004")
@pytest.mark.parametrize(
    "action", [SubscriptionAction.PARTIAL_ADD, SubscriptionAction.COMPLETE_ADD]
)
def test_a_group_that_may_not_consume_does_not_subscribe(
    lite: LiteClient,
    light: Target,
    unique: Callable[[str], str],
    action: SubscriptionAction,
) -> None:
    group = create_group(
        light,
        unique("group"),
        attributes={BIND_TOPIC: lite.parent},
        consumeEnable=False,
    )
    response = replace(lite, group=group).change(action, "a")
    expect_code(
        "LITE-SUBSCRIBE-004",
        response,
        ResponseCode.ILLEGAL_OPERATION,
        lite.broker.transcript,
    )


@pytest.mark.clause("LITE-SUBSCRIBE-005")
def test_an_exclusive_subscription_ends_that_of_another(
    lite: LiteClient, exclusive_group: str, light: Target, unique: Callable[[str], str]
) -> None:
    with light.connect_to_broker() as connection:
        first = replace(lite, broker=connection, group=exclusive_group)
        first.subscribe("kept", "taken")
        second = replace(first, broker=lite.broker, client_id=unique("client"))
        second.subscribe("taken")
        notified = expect_request(
            "LITE-SUBSCRIBE-005", connection, RequestCode.NOTIFY_UNSUBSCRIBE_LITE
        )
    expect_fields(
        "LITE-SUBSCRIBE-005",
        found=notified.fields,
        expected={
            "liteTopic": "taken",
            "consumerGroup": exclusive_group,
            "clientId": first.client_id,
        },
        transcript=connection.transcript,
    )
    expect(
        "LITE-SUBSCRIBE-005",
        found=notified.is_oneway,
        expected=True,
        what="oneway",
        transcript=connection.transcript,
    )
    queried = replace(first, broker=lite.broker)
    expect_lite_topics("LITE-SUBSCRIBE-005", queried, "kept")
    expect_lite_topics("LITE-SUBSCRIBE-005", second, "taken")
