"""A slave queries the master that its name server names: a script plays the master."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing

import pytest

from conformance.harness.client.client import Client, body_of, require_success
from conformance.harness.client.lying_server import LyingServer, honest
from conformance.harness.client.peer import Peer
from conformance.harness.client.replication_link import accept, receive
from conformance.harness.process.deadline import wait_until
from conformance.harness.process.ports import port_block
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.fixtures import (
    TargetStarter,
    another_target,
    need,
)
from conformance.harness.targets.shared_target import SharedTarget
from conformance.harness.targets.target import Capability, Target, TargetError
from conformance.routing.fake_broker import FakeBroker
from spec.routing.broker_registration import BrokerIdentity
from spec.routing.topic_config import (
    DataVersion,
    TopicConfig,
    TopicTable,
    decode_topic_table,
    encode_topic_table,
)
from spec.store.config.config_files import (
    ConsumerOffsets,
    decode_delay_offsets,
    encode_consumer_offsets,
    encode_delay_offsets,
)
from spec.wire.bodies import fastjson
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode

SLAVE = {
    "brokerRole": "SLAVE",
    "brokerId": "1",
    "brokerName": "broker-of-two",
    "brokerClusterName": "cluster-of-two",
    "registerNameServerPeriod": "10000",
}
PATIENCE_S = 120.0
"""A slave registers every ten seconds. It queries every ten, since 5.0 every sixty."""
TOPIC, GROUP = "OnlyTheMasterKnows", "only_the_master_knows"
VERSION = DataVersion(timestamp_ms=1_600_000_000_000, counter=7)
pytestmark = [
    pytest.mark.long,
    pytest.mark.needs(Capability.WIRE, Capability.CONFIG, Capability.REPLICATION),
    pytest.mark.settings(enableControllerMode="false"),  # It chooses the role.
]


class Master:
    """Tables of the scripted master, and the requests it received."""

    def __init__(self) -> None:
        self.requests: list[int] = []
        self.replication = socket.create_server(("127.0.0.1", 0))

    def respond(self, command: Command) -> bytes | None:
        """Return the frame of the response to a slave's request."""
        self.requests.append(command.code)
        bodies = {
            RequestCode.GET_ALL_TOPIC_CONFIG: topics,
            RequestCode.GET_ALL_CONSUMER_OFFSET: offsets,
            RequestCode.GET_ALL_DELAY_OFFSET: delay_offsets,
            RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: groups,
        }
        body = bodies.get(RequestCode(command.code))
        return honest(command, body=body() if body else b"")


def topics() -> bytes:
    """Return the table of the master's topics."""
    topic = TopicConfig(topic=TOPIC, read_queue_count=3, write_queue_count=3)
    return encode_topic_table(TopicTable.of(topic, version=VERSION))


def offsets() -> bytes:
    """Return the committed offsets of consumers."""
    table = {(TOPIC, GROUP): {0: 11, 2: 5}}
    return encode_consumer_offsets(ConsumerOffsets(offsets=table))


def delay_offsets() -> bytes:
    """Return the delivered offsets of delay levels."""
    return encode_delay_offsets({1: 42, 18: 3})


def groups() -> bytes:
    """Return the table of the master's groups."""
    table = {GROUP: {"groupName": GROUP, "retryMaxTimes": 5}}
    version = {"counter": VERSION.counter, "timestamp": VERSION.timestamp_ms}
    return fastjson.dumps({"dataVersion": version, "subscriptionGroupTable": table})


@pytest.fixture(scope="module")
def master() -> Iterator[Master]:
    """Yield the script that plays the master."""
    one = Master()
    with closing(one.replication):
        yield one


@pytest.fixture(scope="module")
def slave(
    pytestconfig: pytest.Config, target: SharedTarget, master: Master
) -> Iterator[Target]:
    """Yield a slave whose name server names the script as its master.

    A real slave requests topics at the master's VIP port, two below its own.
    """
    need(target, Capability.WIRE, Capability.CONFIG, Capability.REPLICATION)
    with (
        port_block() as ports,
        LyingServer(master.respond, port=ports.vip),
        LyingServer(master.respond, port=ports.broker) as server,
        another_target(pytestconfig, SLAVE) as own,
    ):
        assert own.namesrv is not None
        identity = BrokerIdentity(
            cluster=SLAVE["brokerClusterName"],
            broker_name=SLAVE["brokerName"],
            address=str(server.address),
            broker_id=0,
            ha_address="{}:{}".format(*master.replication.getsockname()),
        )
        with closing(Peer(own.namesrv)) as peer:
            require_success(FakeBroker(peer, identity).register())
            yield own


@pytest.fixture
def broker(slave: Target) -> Iterator[Client]:
    """Yield a connection to the slave."""
    with slave.connect_to_broker() as client:
        yield client


@pytest.mark.clause("HA-SLAVE-016")
def test_a_slave_dials_where_its_name_server_says(
    slave: Target, master: Master
) -> None:
    del slave
    with closing(accept(master.replication, PATIENCE_S)) as link:
        report = receive(link, "the slave's first report", PATIENCE_S)
    expect("HA-SLAVE-016", found=report, expected=bytes(8), what="the end of its log")


@pytest.mark.clause("HA-SLAVE-004")
def test_a_slave_has_its_masters_topics_and_no_others(broker: Client) -> None:
    found = set(synchronized_table(broker).topics)
    expect(
        "HA-SLAVE-004",
        found=found,
        expected={TOPIC},
        what="topics",
        transcript=broker.transcript,
    )


@pytest.mark.clause("HA-SLAVE-018")
def test_a_slaves_topics_have_the_version_of_its_masters(broker: Client) -> None:
    found = synchronized_table(broker)
    expected = decode_topic_table(topics())
    expect(
        "HA-SLAVE-018",
        found=found,
        expected=expected,
        what="table",
        transcript=broker.transcript,
    )


@pytest.mark.clause("HA-SLAVE-020")
def test_a_slaves_topics_have_the_version_again(broker: Client) -> None:
    found = synchronized_table(broker).version
    expect(
        "HA-SLAVE-020",
        found=found,
        expected=VERSION,
        what="data version",
        transcript=broker.transcript,
    )


@pytest.mark.clause("HA-SLAVE-019")
def test_a_slave_counts_on_from_its_masters_version(broker: Client) -> None:
    counter = synchronized_table(broker).version.counter
    is_more = counter > VERSION.counter
    expect(
        "HA-SLAVE-019",
        found=is_more,
        expected=True,
        what=f"{counter} is more",
        transcript=broker.transcript,
    )


def synchronized_table(broker: Client) -> TopicTable:
    """Return the slave's table of topics as soon as its master's has come."""

    def table() -> TopicTable:
        return decode_topic_table(require_success(broker.all_topic_config()).body)

    wait_until(
        lambda: TOPIC in table().topics,
        what=f"the slave knows {TOPIC}",
        timeout_s=PATIENCE_S,
    )
    return table()


@pytest.mark.clause("HA-SLAVE-005")
def test_a_slave_knows_how_far_consumers_are(broker: Client) -> None:
    def offset(queue_id: int) -> str | None:
        response = broker.query_offset(group=GROUP, topic=TOPIC, queue_id=queue_id)
        return response.fields.get("offset")

    wait_until(
        lambda: offset(2) == "5",
        what="the slave knows an offset of its master",
        timeout_s=PATIENCE_S,
    )
    expect(
        "HA-SLAVE-005",
        found=offset(0),
        expected="11",
        what="offset of queue 0",
        transcript=broker.transcript,
    )


@pytest.mark.needs(Capability.STORE)
@pytest.mark.clause("HA-SLAVE-006")
def test_a_slave_keeps_how_far_delay_levels_are(slave: Target) -> None:
    assert slave.store_path is not None
    file = slave.store_path / "config" / "delayOffset.json"
    found: dict[int, int] = {}

    def has_come() -> bool:
        found.update(decode_delay_offsets(file.read_bytes()) if file.exists() else {})
        return 18 in found

    wait_until(has_come, what=f"level 18 is in {file.name}", timeout_s=PATIENCE_S)
    expected = decode_delay_offsets(delay_offsets())
    expect("HA-SLAVE-006", found=found, expected=expected, what="offsets")


@pytest.mark.clause("HA-SLAVE-007")
def test_a_slave_has_its_masters_groups(broker: Client) -> None:
    def times() -> object:
        body = body_of(require_success(broker.all_groups()))
        assert isinstance(body, dict)
        return body["subscriptionGroupTable"].get(GROUP, {}).get("retryMaxTimes")

    wait_until(
        lambda: times() is not None,
        what=f"the slave knows {GROUP}",
        timeout_s=PATIENCE_S,
    )
    expect(
        "HA-SLAVE-007",
        found=times(),
        expected=5,
        what="retryMaxTimes",
        transcript=broker.transcript,
    )


@pytest.mark.clause("HA-SLAVE-008")
def test_a_slave_asks_again_and_again(slave: Target, master: Master) -> None:
    del slave
    questions = (
        RequestCode.GET_ALL_TOPIC_CONFIG,
        RequestCode.GET_ALL_CONSUMER_OFFSET,
        RequestCode.GET_ALL_DELAY_OFFSET,
        RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG,
    )
    wait_until(
        lambda: master.requests.count(questions[-1]) >= 2,
        what="the slave has asked twice",
        timeout_s=PATIENCE_S,
    )
    requests = {int(code) for code in questions} <= set(master.requests)
    expect("HA-SLAVE-008", found=requests, expected=True, what="every question")


@pytest.mark.needs(Capability.RESTART)
@pytest.mark.clause("HA-SLAVE-012")
def test_a_slave_has_an_id_of_its_own(start_target: TargetStarter) -> None:
    started = True
    try:
        start_target({"brokerRole": "SLAVE", "brokerId": "0"})
    except TargetError:
        started = False
    expect("HA-SLAVE-012", found=started, expected=False, what="started")
