"""Responses of a slave to clients: it serves what came, and decides nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.harness.client.client import Client, require_success
from conformance.harness.pytest_plugin.expectations import expect, expect_fields
from conformance.harness.targets.target import Capability
from conformance.store.replication.slave_under_test import (
    LOG_FILE_SIZE,
    MESSAGES,
    TOPIC,
    Followed,
)
from spec.wire.remoting.response_code import ResponseCode

COMMIT = 8
COMMITS_OFFSET, BRINGS_SUBSCRIPTION = 1, 4
GROUP = "readers_of_the_slave"
pytestmark = pytest.mark.needs(Capability.REPLICATION, Capability.CONFIG)


@pytest.fixture
def broker(followed: Followed) -> Iterator[Client]:
    """Yield a connection to the slave."""
    with followed.target.connect_to_broker() as client:
        yield client


@pytest.mark.clause("HA-SLAVE-014")
def test_a_slave_sends_its_readers_back(broker: Client) -> None:
    broker.wait_for_max_offset(topic=TOPIC, offset=MESSAGES)
    response = broker.pull(topic=TOPIC, queue_id=0, offset=0, group=GROUP)
    expect("HA-SLAVE-014", found=response.code, expected=0, what="code of a pull")
    suggested = {"suggestWhichBrokerId": "0"}
    expect_fields("HA-SLAVE-014", found=response.fields, expected=suggested)


@pytest.mark.clause("HA-SLAVE-003")
def test_a_slave_serves_what_came(followed: Followed, broker: Client) -> None:
    broker.wait_for_max_offset(topic=TOPIC, offset=MESSAGES)
    response = broker.pull(topic=TOPIC, queue_id=0, offset=0, group=GROUP)
    expect("HA-SLAVE-003", found=response.code, expected=0, what="code of a pull")
    same = response.body.startswith(followed.first)
    expect("HA-SLAVE-003", found=same, expected=True, what="the records, unchanged")


@pytest.mark.clause("HA-SLAVE-009")
def test_a_slave_corrects_no_offset(broker: Client) -> None:
    broker.wait_for_max_offset(topic=TOPIC, offset=MESSAGES)
    response = broker.pull(topic=TOPIC, queue_id=0, offset=1000, group=GROUP)
    code = ResponseCode.PULL_RETRY_IMMEDIATELY
    expect("HA-SLAVE-009", found=response.code, expected=code, what="code")
    expect_fields(
        "HA-SLAVE-009", found=response.fields, expected={"nextBeginOffset": "1000"}
    )


@pytest.mark.clause("HA-SLAVE-017")
def test_a_slave_that_may_not_be_read_refuses_pulls(broker: Client) -> None:
    require_success(broker.update_broker_config({"slaveReadEnable": "false"}))
    response = broker.pull(topic=TOPIC, queue_id=0, offset=0, group=GROUP)
    require_success(broker.update_broker_config({"slaveReadEnable": "true"}))
    code = ResponseCode.SYSTEM_BUSY
    expect("HA-SLAVE-017", found=response.code, expected=code, what="code")


@pytest.mark.clause("HA-SLAVE-010")
def test_a_slave_commits_nothing_by_a_pull(broker: Client) -> None:
    broker.wait_for_max_offset(topic=TOPIC, offset=MESSAGES)
    flags = COMMITS_OFFSET | BRINGS_SUBSCRIPTION
    pulled = broker.pull(
        topic=TOPIC, offset=0, group=GROUP, commit_offset=3, system_flags=flags
    )
    require_success(pulled)
    response = broker.query_offset(group=GROUP, topic=TOPIC)
    found = response.fields.get("offset") == "3"
    expect("HA-SLAVE-010", found=found, expected=False, what="committed")


@pytest.mark.clause("TXN-END-016")
def test_a_slave_ends_no_transaction(broker: Client) -> None:
    response = broker.end_transaction(
        group="nobody",
        commit_log_offset=LOG_FILE_SIZE,
        queue_offset=0,
        decision=COMMIT,
        message_id="",
    )
    code = ResponseCode.SLAVE_NOT_AVAILABLE
    expect("TXN-END-016", found=response.code, expected=code, what="code")
