"""Registrations of the target's own broker, at the start and when topics change."""

from __future__ import annotations

import pytest

from conformance.harness.client.address import Address
from conformance.harness.client.client import Client, body_of, require_success
from conformance.harness.client.peer import Peer
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.targets.target import Target
from conformance.routing.fake_broker import FakeCluster
from spec.routing.route_data import QueueData
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode

pytestmark = pytest.mark.usefixtures("registered_broker")


def queues_of(
    fake_cluster: FakeCluster, target: Target, topic: str
) -> QueueData | None:
    """Return the queues of *topic* on the target's broker, from the route."""
    route = fake_cluster.route(topic)
    return route.queues_of(target.broker_name) if route else None


def counts(queues: QueueData | None) -> tuple[int, int, int] | None:
    """Return read queues, write queues and permission."""
    if queues is None:
        return None
    return queues.read_queue_count, queues.write_queue_count, queues.permission


@pytest.mark.clause("ROUTE-BROKER-001")
def test_a_running_broker_is_registered_where_it_listens(
    fake_cluster: FakeCluster, target: Target
) -> None:
    info = fake_cluster.clusters()
    own = target.broker_name
    rows = {name: row for name, row in info.brokers.items() if row.broker_name == own}
    clusters = [cluster for cluster, names in info.clusters.items() if own in names]
    expect(
        "ROUTE-BROKER-001",
        found=(sorted(rows), clusters),
        expected=([own], [target.cluster]),
        what="broker's rows, and the clusters that list it",
        transcript=fake_cluster.client.transcript,
    )
    data = rows[own]
    Peer(Address.parse(data.addresses[0])).close()


@pytest.mark.clause("ROUTE-LIST-001")
def test_the_topics_of_a_running_broker_are_listed(
    fake_cluster: FakeCluster, target: Target
) -> None:
    own = {"SELF_TEST_TOPIC", "BenchmarkTest", target.cluster, target.broker_name}
    found = body_of(fake_cluster.client.topic_list())
    assert isinstance(found, dict)
    expect(
        "ROUTE-LIST-001",
        found=sorted(own.difference(found["topicList"])),
        expected=[],
        what="topics of the broker that are not listed",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-BROKER-002")
@pytest.mark.settings(
    defaultTopicQueueNums="8", autoCreateTopicEnable="true", brokerPermission="6"
)
def test_the_template_topic_is_inherited_from(
    fake_cluster: FakeCluster, target: Target
) -> None:
    count = int(target.conf.get("defaultTopicQueueNums", "8"))
    expect(
        "ROUTE-BROKER-002",
        found=counts(queues_of(fake_cluster, target, "TBW102")),
        expected=(count, count, 7),
        what="read queues, write queues and permission of TBW102",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.parametrize(
    ("topic", "expected"),
    [
        pytest.param(
            "SELF_TEST_TOPIC",
            (1, 1, 6),
            marks=pytest.mark.clause("ROUTE-BROKER-003"),
        ),
        pytest.param(
            "OFFSET_MOVED_EVENT",
            (1, 1, 6),
            marks=pytest.mark.clause("ROUTE-BROKER-003"),
        ),
        pytest.param(
            "BenchmarkTest",
            (1024, 1024, 6),
            marks=pytest.mark.clause("ROUTE-BROKER-004"),
        ),
        pytest.param(
            "{cluster}", (16, 16, 7), marks=pytest.mark.clause("ROUTE-BROKER-005")
        ),
        pytest.param(
            "{broker}", (1, 1, 7), marks=pytest.mark.clause("ROUTE-BROKER-006")
        ),
        pytest.param(
            "{cluster}_REPLY_TOPIC",
            (1, 1, 6),
            marks=pytest.mark.clause("ROUTE-BROKER-007"),
        ),
    ],
)
@pytest.mark.settings(brokerPermission="6")
def test_a_broker_has_topics_of_its_own(
    fake_cluster: FakeCluster,
    target: Target,
    topic: str,
    expected: tuple[int, int, int],
    request: pytest.FixtureRequest,
) -> None:
    name = topic.format(cluster=target.cluster, broker=target.broker_name)
    clause = request.node.get_closest_marker("clause").args[0]
    expect(
        clause,
        found=counts(queues_of(fake_cluster, target, name)),
        expected=expected,
        what=f"read queues, write queues and permission of {name}",
        transcript=fake_cluster.client.transcript,
    )


def create(
    broker: Client, topic: str, counts: tuple[int, int, int], flags: int
) -> None:
    """Create or change *topic* at the broker."""
    read, write, permission = counts
    fields = {
        "topic": topic,
        "defaultTopic": "TBW102",
        "readQueueNums": str(read),
        "writeQueueNums": str(write),
        "perm": str(permission),
        "topicFilterType": "SINGLE_TAG",
        "topicSysFlag": str(flags),
        "order": "false",
    }
    code = RequestCode.UPDATE_AND_CREATE_TOPIC
    require_success(broker.peer.request(Command(code=code, fields=fields)))


@pytest.mark.clause("ROUTE-BROKER-008", "ROUTE-BROKER-009", "ROUTE-BROKER-010")
@pytest.mark.settings(brokerPermission="6")
def test_a_created_and_changed_topic_is_in_the_route(
    fake_cluster: FakeCluster, target: Target, broker: Client
) -> None:
    topic = fake_cluster.unique("topic")
    create(broker, topic, (5, 3, 6), 2)
    fake_cluster.client.wait_for_route(topic)
    queues = queues_of(fake_cluster, target, topic)
    expect(
        "ROUTE-BROKER-008",
        found=counts(queues),
        expected=(5, 3, 6),
        what="read queues, write queues and permission",
        transcript=fake_cluster.client.transcript,
    )
    expect(
        "ROUTE-BROKER-010",
        found=queues and queues.topic_flags,
        expected=2,
        what="flags",
        transcript=fake_cluster.client.transcript,
    )
    create(broker, topic, (7, 9, 4), 2)
    wait_until(
        lambda: counts(queues_of(fake_cluster, target, topic)) != (5, 3, 6),
        what="the route has changed",
    )
    expect(
        "ROUTE-BROKER-009",
        found=counts(queues_of(fake_cluster, target, topic)),
        expected=(7, 9, 4),
        what="read queues, write queues and permission after the change",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-BROKER-011")
@pytest.mark.settings(brokerPermission="6")
def test_a_topic_deleted_at_its_broker_keeps_its_route(
    fake_cluster: FakeCluster, target: Target, broker: Client
) -> None:
    topic = fake_cluster.unique("topic")
    create(broker, topic, (4, 4, 6), 0)
    fake_cluster.client.wait_for_route(topic)
    code = RequestCode.DELETE_TOPIC_IN_BROKER
    require_success(broker.peer.request(Command(code=code, fields={"topic": topic})))
    # Another topic's registration, which follows, does not take it away either.
    later = fake_cluster.unique("topic")
    create(broker, later, (4, 4, 6), 0)
    fake_cluster.client.wait_for_route(later)
    expect(
        "ROUTE-BROKER-011",
        found=counts(queues_of(fake_cluster, target, topic)),
        expected=(4, 4, 6),
        what="read queues, write queues and permission of the deleted topic",
        transcript=fake_cluster.client.transcript,
    )
    fake_cluster.client.delete_topic_in_namesrv(topic)
