"""Tables of groups for tools: producers, subscriptions, and the topics of a group."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conformance.harness.client.address import in_one_form
from conformance.harness.client.client import (
    Client,
    consumer_data,
    require_success,
    subscription_data,
)
from conformance.harness.pytest_plugin.expectations import (
    charged,
    expect,
    expect_fields,
)
from conformance.messaging.stored_messages import mapping_of, send_bodies
from spec.wire.bodies.admin_bodies import (
    ProducerTableInfo,
    QuerySubscriptionResponseBody,
)
from spec.wire.bodies.json_body import decode_body
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode


def subscription_of(
    broker: Client, group: str, topic: str
) -> QuerySubscriptionResponseBody:
    """Return the subscription of *group* to *topic* as the broker has it."""
    fields = {"group": group, "topic": topic}
    response = broker.invoke(RequestCode.QUERY_SUBSCRIPTION_BY_CONSUMER, fields)
    return decode_body(QuerySubscriptionResponseBody, require_success(response).body)


def topics_response(broker: Client, group: str) -> Command:
    """Request the topics of *group*."""
    return broker.invoke(RequestCode.QUERY_TOPICS_BY_CONSUMER, {"group": group})


@pytest.mark.clause("GROUP-CONNECTION-006")
def test_all_producers_are_returned_by_group(
    broker: Client, unique: Callable[[str], str]
) -> None:
    groups = [unique("producers"), unique("producers")]
    client_id = unique("producer")
    require_success(broker.heartbeat(client_id=client_id, producer_groups=groups))
    response = broker.invoke(RequestCode.GET_ALL_PRODUCER_INFO)
    body = require_success(response).body
    with charged("GROUP-CONNECTION-006", broker.transcript):
        found = decode_body(ProducerTableInfo, body).groups
    own = broker.peer.local_address
    expect(
        "GROUP-CONNECTION-006",
        found={
            name: [
                (one.client_id, in_one_form(one.address), one.language)
                for one in found.get(name, ())
            ]
            for name in groups
        },
        expected={name: [(client_id, f"/{own}", "OTHER")] for name in groups},
        what="client id, address and language by group",
        transcript=broker.transcript,
    )


@pytest.mark.clause("GROUP-CONNECTION-007", "GROUP-CONNECTION-008")
def test_one_subscription_is_returned_as_it_was_sent(
    broker: Client, group: str, topic: str
) -> None:
    sent = subscription_data(
        topic=topic, expression="a || b", tags=["a", "b"], codes=[97, 98], version=7
    )
    consumer = consumer_data(group=group, subscriptions=[sent])
    require_success(broker.heartbeat(client_id=f"{group}@1", consumers=[consumer]))
    fields = {"group": group, "topic": topic}
    response = broker.invoke(RequestCode.QUERY_SUBSCRIPTION_BY_CONSUMER, fields)
    body = mapping_of(response)
    found: dict[str, Any] = dict(body.get("subscriptionData") or {})
    for name in ("tagsSet", "codeSet"):
        found[name] = sorted(found.get(name, ()))
    expect_fields(
        "GROUP-CONNECTION-007",
        found={**found, "group": body.get("group")},
        expected={**sent, "group": group},
        transcript=broker.transcript,
    )
    with charged("GROUP-CONNECTION-008", broker.transcript):
        other = subscription_of(broker, group, f"{topic}_other")
    expect(
        "GROUP-CONNECTION-008",
        found=other.subscription,
        expected=None,
        what="subscriptionData for another topic",
        transcript=broker.transcript,
    )


@pytest.mark.clause("ADMIN-STATS-010")
def test_the_topics_of_a_group_are_those_with_offsets(
    broker: Client, topic: str, known_group: str
) -> None:
    for expected in ([], [topic]):
        found = mapping_of(topics_response(broker, known_group))
        expect_fields(
            "ADMIN-STATS-010",
            found=found,
            expected={"topicList": expected, "brokerAddr": str(broker.address)},
            transcript=broker.transcript,
        )
        send_bodies(broker, topic, [b"a"])
        require_success(broker.update_offset(group=known_group, topic=topic, offset=1))
