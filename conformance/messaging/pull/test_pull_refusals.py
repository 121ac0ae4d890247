"""Pulls that settings of the broker or of the group forbid."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.harness.client.client import (
    Client,
    consumer_data,
    require_success,
    tags_subscription,
)
from conformance.harness.pytest_plugin.expectations import expect_code
from conformance.harness.pytest_plugin.fixtures import (
    create_group,
    create_topic,
    unique_name,
)
from conformance.harness.pytest_plugin.known_settings import changed
from conformance.harness.targets.target import Target
from spec.routing.topic_config import Permission
from spec.wire.remoting.response_code import ResponseCode

NO_SUBSCRIPTION = 0


@pytest.fixture
def broker(configurable_target: Target) -> Iterator[Client]:
    """Yield a connection to the broker whose settings may be changed."""
    with configurable_target.connect_to_broker() as client:
        yield client


@pytest.fixture
def topic(configurable_target: Target) -> str:
    """Return a topic of the test's own on that broker."""
    return create_topic(configurable_target, unique_name("refused"))


@pytest.mark.clause("PULL-PERM-003")
def test_a_broker_without_read_permission_is_not_read(
    configurable_target: Target, broker: Client, topic: str
) -> None:
    group = create_group(configurable_target, unique_name("group"))
    with changed(broker, brokerPermission=str(int(Permission.WRITE))):
        response = broker.pull(topic=topic, offset=0, group=group)
        code = ResponseCode.NO_PERMISSION
        expect_code("PULL-PERM-003", response, code, broker.transcript)


@pytest.mark.clause("PULL-GROUP-004")
def test_a_pull_creates_no_group_without_leave(broker: Client, topic: str) -> None:
    with changed(broker, autoCreateSubscriptionGroup="false"):
        response = broker.pull(topic=topic, offset=0, group=unique_name("unknown"))
        code = ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST
        expect_code("PULL-GROUP-004", response, code, broker.transcript)


@pytest.mark.clause("PULL-PERM-004")
def test_a_group_that_may_not_broadcast_reads_nothing(
    configurable_target: Target, broker: Client, topic: str
) -> None:
    group = create_group(
        configurable_target, unique_name("group"), consumeBroadcastEnable=False
    )
    consumer = consumer_data(
        group=group,
        subscriptions=[tags_subscription(topic=topic, tags=["a"], version=5)],
        message_model="BROADCASTING",
    )
    require_success(broker.heartbeat(client_id=f"{group}@1", consumers=[consumer]))
    response = broker.pull(
        topic=topic, offset=0, group=group, system_flags=NO_SUBSCRIPTION
    )
    code = ResponseCode.NO_PERMISSION
    expect_code("PULL-PERM-004", response, code, broker.transcript)
