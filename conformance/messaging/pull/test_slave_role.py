"""Responses of a broker whose role is that of a slave, which stores nothing new."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.harness.client.client import Client, require_success
from conformance.harness.pytest_plugin.expectations import expect_code, expect_fields
from conformance.harness.pytest_plugin.fixtures import (
    create_group,
    create_topic,
    unique_name,
)
from conformance.harness.pytest_plugin.known_settings import changed
from conformance.harness.targets.target import Capability, Target
from spec.wire.message.transactions import Decision
from spec.wire.remoting.response_code import ResponseCode

pytestmark = pytest.mark.needs(Capability.REPLICATION)

BEYOND = 1000
"""Queue offset far behind the end of a queue."""


@pytest.fixture
def broker(configurable_target: Target) -> Iterator[Client]:
    """Yield a connection to the broker whose settings may be changed."""
    with configurable_target.connect_to_broker() as client:
        yield client


@pytest.fixture
def topic(configurable_target: Target, broker: Client) -> str:
    """Return a topic with one message."""
    name = create_topic(configurable_target, unique_name("slave"))
    require_success(broker.send_message(topic=name))
    broker.wait_for_max_offset(topic=name, offset=1)
    return name


@pytest.fixture
def group(configurable_target: Target) -> str:
    """Return a group that the broker has."""
    return create_group(configurable_target, unique_name("group"))


@pytest.mark.clause("HA-SLAVE-009")
def test_a_slave_corrects_no_offset(broker: Client, topic: str, group: str) -> None:
    with changed(broker, brokerRole="SLAVE", slaveReadEnable="true"):
        response = broker.pull(topic=topic, queue_id=0, offset=BEYOND, group=group)
        code = ResponseCode.PULL_RETRY_IMMEDIATELY
        expect_code("HA-SLAVE-009", response, code, broker.transcript)
        expect_fields(
            "HA-SLAVE-009",
            found=response.fields,
            expected={"nextBeginOffset": str(BEYOND)},
            transcript=broker.transcript,
        )


@pytest.mark.clause("HA-SLAVE-017")
def test_a_slave_that_may_not_be_read_refuses_pulls(
    broker: Client, topic: str, group: str
) -> None:
    with changed(broker, brokerRole="SLAVE", slaveReadEnable="false"):
        response = broker.pull(topic=topic, queue_id=0, offset=0, group=group)
        code = ResponseCode.SYSTEM_BUSY
        expect_code("HA-SLAVE-017", response, code, broker.transcript)


@pytest.mark.clause("TXN-END-016")
def test_a_slave_ends_no_transaction(broker: Client) -> None:
    with changed(broker, brokerRole="SLAVE"):
        response = broker.end_transaction(
            group="nobody",
            commit_log_offset=0,
            queue_offset=0,
            decision=Decision.COMMIT,
            message_id="",
        )
        code = ResponseCode.SLAVE_NOT_AVAILABLE
        expect_code("TXN-END-016", response, code, broker.transcript)
