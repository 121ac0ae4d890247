"""Consumers with a subscription in their heartbeat, which their pulls use."""

from __future__ import annotations

from conformance.harness.client.client import (
    Client,
    consumer_data,
    require_success,
    subscription_data,
)
from conformance.messaging.stored_messages import bodies_of
from spec.wire.consumer.sql_filter import SQL92
from spec.wire.remoting.response_code import ResponseCode


def subscribe(broker: Client, topic: str, group: str, sql: str) -> None:
    """Join a group with an expression.

    Real brokers may forget the first heartbeat of a topic: see PULL-SQL-019.
    """
    require_success(broker.update_group(group=group))
    subscription = subscription_data(
        topic=topic, expression=sql, expression_type=SQL92, version=1
    )
    member = consumer_data(group=group, subscriptions=[subscription])
    for _ in range(2):
        require_success(broker.heartbeat(client_id=f"{group}@1", consumers=[member]))


def chosen(broker: Client, topic: str, group: str, *, offset: int = 0) -> list[bytes]:
    """Return the bodies that a pull by that expression gets."""
    response = broker.pull(
        topic=topic, offset=offset, group=group, system_flags=0, subscription=None
    )
    if response.code == ResponseCode.PULL_RETRY_IMMEDIATELY:
        return []
    return bodies_of(response)
