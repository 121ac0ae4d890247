"""
Pulls under settings of the broker: messages on disk, and short polling.

A broker takes a message for one on disk if more of the log follows it than a part of
the physical memory. With accessMessageInMemoryMaxRatio 0 every message is on disk.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from conformance.harness.client.client import Client
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_code,
    expect_that,
)
from conformance.harness.pytest_plugin.fixtures import (
    create_group,
    create_topic,
    unique_name,
)
from conformance.harness.pytest_plugin.known_settings import changed, expect_default
from conformance.harness.targets.target import Target
from conformance.messaging.stored_messages import records_of, send_bodies
from spec.store.message_record import record_size
from spec.wire.remoting.response_code import ResponseCode

ON_DISK = {"accessMessageInMemoryMaxRatio": "0"}
IN_MEMORY = {"accessMessageInMemoryMaxRatio": "40"}


@pytest.fixture
def broker(configurable_target: Target) -> Iterator[Client]:
    """Yield a connection to the broker whose settings may be changed."""
    with configurable_target.connect_to_broker() as client:
        yield client


@pytest.fixture
def topic(configurable_target: Target) -> str:
    """Return a topic of the test's own on that broker."""
    return create_topic(configurable_target, unique_name("settings"))


def count_pulled(broker: Client, topic: str, max_count: int = 32) -> int:
    """Return the number of messages in a response to a pull from offset 0."""
    return len(records_of(broker.pull(topic=topic, offset=0, max_count=max_count)))


@pytest.mark.clause("PULL-COUNT-005")
def test_a_response_has_8_messages_from_disk_at_most(
    configurable_target: Target, broker: Client, topic: str
) -> None:
    clause, name = "PULL-COUNT-005", "maxTransferCountOnMessageInDisk"
    expect_default(clause, broker, configurable_target, name, "8")
    send_bodies(broker, topic, [b"%d" % number for number in range(10)])
    for limit in (8, 3):
        with changed(broker, **ON_DISK, **{name: str(limit)}):
            counts = (limit - 1, limit, limit + 1, 32)
            expect(
                clause,
                found=[count_pulled(broker, topic, count) for count in counts],
                expected=[min(count, limit) for count in counts],
                what=f"messages of pulls for {counts} with {name}={limit}",
                transcript=broker.transcript,
            )


@pytest.mark.clause("PULL-COUNT-006")
def test_a_response_has_64_kibibytes_from_disk_at_most(
    configurable_target: Target, broker: Client, topic: str
) -> None:
    clause, name = "PULL-COUNT-006", "maxTransferBytesOnMessageInDisk"
    expect_default(clause, broker, configurable_target, name, "65536")
    send_bodies(broker, topic, [b"large" * 100, b"a", b"b"])
    sizes = [record_size(one) for one in records_of(broker.pull(topic=topic, offset=0))]
    two = sizes[0] + sizes[1]
    for limit, count in ((1, 1), (two - 1, 1), (two, 2)):
        with changed(broker, **ON_DISK, **{name: str(limit)}):
            expect(
                clause,
                found=count_pulled(broker, topic),
                expected=count,
                what=f"messages of {sizes} bytes with {name}={limit}",
                transcript=broker.transcript,
            )


@pytest.mark.clause("PULL-FOUND-005", "PULL-FOUND-006")
def test_a_slow_consumer_may_be_sent_to_a_slave(
    configurable_target: Target, broker: Client, topic: str
) -> None:
    ids = {"brokerId": 5, "whichBrokerWhenConsumeSlowly": 7}
    group = create_group(configurable_target, unique_name("group"), **ids)
    send_bodies(broker, topic, [b"a", b"b"])
    for clause, is_slave_read, place, expected in (
        ("PULL-FOUND-006", "true", ON_DISK, "7"),
        ("PULL-FOUND-006", "true", IN_MEMORY, "5"),
        ("PULL-FOUND-005", "false", ON_DISK, "0"),
        ("PULL-FOUND-005", "false", IN_MEMORY, "0"),
    ):
        with changed(broker, slaveReadEnable=is_slave_read, **place):
            response = broker.pull(topic=topic, offset=0, group=group)
            expect(
                clause,
                found=response.fields.get("suggestWhichBrokerId"),
                expected=expected,
                what=f"suggestWhichBrokerId with slaveReadEnable={is_slave_read}",
                transcript=broker.transcript,
            )


@pytest.mark.clause("OFFSET-QUERY-005")
def test_a_new_group_has_no_offset_where_messages_are_on_disk(
    configurable_target: Target, broker: Client, topic: str
) -> None:
    group = create_group(configurable_target, unique_name("group"))
    send_bodies(broker, topic, [b"a"])
    with changed(broker, **ON_DISK):
        response = broker.query_offset(group=group, topic=topic)
        code = ResponseCode.QUERY_NOT_FOUND
        expect_code("OFFSET-QUERY-005", response, code, broker.transcript)


@pytest.mark.clause("PULL-HOLD-006")
def test_with_short_polling_the_broker_chooses_the_time(
    broker: Client, topic: str
) -> None:
    clause, polling_ms = "PULL-HOLD-006", 700
    settings = {"longPollingEnable": "false", "shortPollingTimeMills": str(polling_ms)}
    with changed(broker, **settings):
        for suspend_ms in (1, 20_000):
            began = time.monotonic()
            opaque = broker.begin_pull(topic=topic, offset=0, suspend_ms=suspend_ms)
            response = broker.peer.receive_response(opaque, timeout_s=10)
            took_ms = (time.monotonic() - began) * 1000
            code = ResponseCode.PULL_NOT_FOUND
            expect_code(clause, response, code, broker.transcript)
            expect_that(
                clause,
                took_ms >= polling_ms,
                found=round(took_ms),
                expected=f"{polling_ms} or more",
                what=f"milliseconds with suspendTimeoutMillis {suspend_ms}",
                transcript=broker.transcript,
            )
