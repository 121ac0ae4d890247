"""Replication wait of a SYNC_MASTER: a scripted slave reports offsets or not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from conformance.harness.client.client import Client, require_success
from conformance.harness.client.peer import Peer
from conformance.harness.client.requests.messages import plain_send
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.fixtures import another_target, need, unique_name
from conformance.harness.pytest_plugin.known_settings import configured
from conformance.harness.targets.target import Capability, Target
from conformance.store.replication.fake_slave import FakeSlave
from spec.store.message_record import decode_record, record_size
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode

FALL_BEHIND_MAX = 50_000
SETTINGS = {
    "brokerRole": "SYNC_MASTER",
    "syncFlushTimeout": "1000",
    "slaveTimeout": "1000",  # the name in 4.9
    "inSyncReplicas": "2",  # required since 5.0: the default waits for no slave
    "haSlaveFallbehindMax": str(FALL_BEHIND_MAX),
    "haHousekeepingInterval": "60000",
}
pytestmark = [
    pytest.mark.needs(Capability.REPLICATION, Capability.CONFIG),
    pytest.mark.settings(enableControllerMode="false"),  # It has another protocol.
    pytest.mark.restores,
]


@pytest.fixture(scope="module")
def master(pytestconfig: pytest.Config, target: Target) -> Iterator[Target]:
    """Return a master that waits for its slaves."""
    if Capability.CONFIG in target.capabilities:
        need(target, Capability.REPLICATION)
        with another_target(pytestconfig, SETTINGS) as own:
            yield own
        return
    with target.connect_for_admin() as client:
        known = client.broker_settings().keys()
    with configured(target, {k: v for k, v in SETTINGS.items() if k in known}):
        yield target


@pytest.fixture
def broker(master: Target) -> Iterator[Client]:
    """Yield a connection to that master."""
    with master.connect_to_broker() as client:
        yield client


@pytest.fixture
def topic(broker: Client) -> str:
    """Return a topic of the test's own."""
    name = unique_name("waiting")
    require_success(broker.create_topic(topic=name, queue_count=1))
    return name


@pytest.fixture
def slave(master: Target, broker: Client, topic: str) -> Iterator[FakeSlave]:
    """Yield a slave that has reported all of the log to the master."""
    with closing(FakeSlave(master)) as one:
        end = end_of(broker, send_unwaited(broker, topic, b"so far"))
        one.report_ends(end)
        # The master confirms a report by transferring the next message.
        later = send_unwaited(broker, topic, b"pushed")
        while one.piece().end_offset < end_of(broker, later):
            pass
        yield one


def send_unwaited(broker: Client, topic: str, body: bytes) -> Command:
    """Send a message that does not wait for a slave."""
    response = broker.send_message(topic=topic, body=body, properties={"WAIT": "false"})
    return require_success(response)


def end_of(broker: Client, response: Command) -> int:
    """Return the offset of the log behind the message that *response* is about."""
    viewed = require_success(broker.view_message_by_id(response.fields["msgId"]))
    record = decode_record(viewed.body)
    return record.physical_offset + record_size(record)


@pytest.mark.clause("SEND-STATE-012")
def test_a_slave_that_stops_reading_is_late(
    broker: Client, slave: FakeSlave, topic: str
) -> None:
    del slave
    response = broker.send_message(topic=topic, body=b"late")
    code = ResponseCode.FLUSH_SLAVE_TIMEOUT
    expect("SEND-STATE-012", found=response.code, expected=code, what="code")
    viewed = require_success(broker.view_message_by_id(response.fields["msgId"]))
    body = decode_record(viewed.body).body
    expect("SEND-STATE-012", found=body, expected=b"late", what="stored body")


@pytest.mark.clause("HA-WAIT-001")
def test_a_master_answers_when_a_slave_has_the_message(
    master: Target, slave: FakeSlave, topic: str
) -> None:
    assert master.broker is not None
    with closing(Peer(master.broker, master.access)) as producer:
        producer.send(plain_send(topic, body=b"followed"))
        piece = slave.piece()
        while b"followed" not in piece.data:
            piece = slave.piece()
        slave.report_ends(piece.end_offset)
        response = producer.receive()
    expect("HA-WAIT-001", found=response.code, expected=0, what="code")


@pytest.mark.clause("HA-WAIT-002")
def test_a_slave_that_says_nothing_is_waited_for(
    master: Target, broker: Client, topic: str
) -> None:
    def code() -> int:
        return broker.send_message(topic=topic, body=b"is anybody there").code

    with closing(FakeSlave(master)):
        # The master may take a moment to detect the connection.
        wait_until(
            lambda: code() != ResponseCode.SLAVE_NOT_AVAILABLE,
            what="the master has noticed a slave",
        )
        found, expected = code(), ResponseCode.FLUSH_SLAVE_TIMEOUT
    expect("HA-WAIT-002", found=found, expected=expected, what="code")


@pytest.mark.clause("HA-WAIT-003")
def test_a_slave_that_is_far_behind_is_not_waited_for(
    broker: Client, slave: FakeSlave, topic: str
) -> None:
    for _ in range(2):
        send_unwaited(broker, topic, bytes(FALL_BEHIND_MAX // 2))
    response = broker.send_message(topic=topic, body=b"too far")
    code = ResponseCode.SLAVE_NOT_AVAILABLE
    expect("HA-WAIT-003", found=response.code, expected=code, what="code")
    slave.report_ends(end_of(broker, response))
