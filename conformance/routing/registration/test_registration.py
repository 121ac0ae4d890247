"""Effects of a registration on the routes of a name server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from conformance.harness.client.client import require_success
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_code,
    expect_fields,
)
from conformance.routing.fake_broker import FakeBroker, FakeCluster, unregister
from spec.routing.topic_config import TopicConfig, TopicTable
from spec.wire.remoting.frame import SerializeType
from spec.wire.remoting.response_code import ResponseCode


def expect_addresses(
    clause_id: str,
    fake_cluster: FakeCluster,
    topic: TopicConfig,
    broker: FakeBroker,
    expected: Mapping[int, str],
) -> None:
    """Fail *clause_id* unless a route has these addresses of the broker's name."""
    route = fake_cluster.route(topic.topic)
    data = route and route.broker(broker.name)
    expect(
        clause_id,
        found=data and dict(data.addresses),
        expected=expected,
        what="addresses by broker id",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-REG-001", "ROUTE-DATA-001", "ROUTE-DATA-002")
def test_a_registration_makes_a_route_before_it_is_answered(
    fake_cluster: FakeCluster,
) -> None:
    broker = fake_cluster.broker()
    topic = TopicConfig(
        topic=fake_cluster.unique("topic"), read_queue_count=5, write_queue_count=3
    )
    response = broker.register(topic)
    route = fake_cluster.route(topic.topic)
    expect(
        "ROUTE-REG-001",
        found=(response.code, route is not None),
        expected=(ResponseCode.SUCCESS, True),
        what="answer's code, topic has a route",
        transcript=fake_cluster.client.transcript,
    )
    assert route is not None
    queues = route.queues_of(broker.name)
    expect(
        "ROUTE-DATA-001",
        found=queues and (queues.read_queue_count, queues.write_queue_count),
        expected=(5, 3),
        what="read and write queues of the broker",
        transcript=fake_cluster.client.transcript,
    )
    data = route.broker(broker.name)
    expect(
        "ROUTE-DATA-002",
        found=data and (data.cluster, dict(data.addresses)),
        expected=(broker.identity.cluster, {0: broker.identity.address}),
        what="cluster and addresses of the broker",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-REG-019", "ROUTE-DATA-002")
def test_brokers_of_two_clusters_share_a_topic(fake_cluster: FakeCluster) -> None:
    topic = TopicConfig(topic=fake_cluster.unique("topic"))
    brokers = [fake_cluster.broker(), fake_cluster.broker()]
    for count, broker in enumerate(brokers, start=1):
        broker.register(replace(topic, write_queue_count=count))
    route = fake_cluster.route(topic.topic)
    assert route is not None
    expect(
        "ROUTE-REG-019",
        found={q.broker_name: q.write_queue_count for q in route.queue_datas},
        expected={brokers[0].name: 1, brokers[1].name: 2},
        what="write queues by broker",
        transcript=fake_cluster.client.transcript,
    )
    expect(
        "ROUTE-DATA-002",
        found={data.broker_name: data.cluster for data in route.broker_datas},
        expected={broker.name: broker.identity.cluster for broker in brokers},
        what="clusters by broker",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-REG-009", "ROUTE-DATA-002")
def test_a_slave_learns_its_master_and_joins_the_route(
    fake_cluster: FakeCluster,
) -> None:
    for _ in range(2):  # each slave has a master of its own
        master = fake_cluster.broker()
        slave = fake_cluster.broker(
            name=master.name, cluster=master.identity.cluster, broker_id=1
        )
        topic = TopicConfig(topic=fake_cluster.unique("topic"))
        master.register(topic)
        response = slave.register(topic)
        expect(
            "ROUTE-REG-009",
            found=(
                response.fields.get("masterAddr"),
                response.fields.get("haServerAddr"),
            ),
            expected=(master.identity.address, master.identity.ha_address),
            what="masterAddr and haServerAddr in the answer to the slave",
            transcript=slave.peer.transcript,
        )
    addresses = {0: master.identity.address, 1: slave.identity.address}
    expect_addresses("ROUTE-DATA-002", fake_cluster, topic, master, addresses)


@pytest.mark.clause("ROUTE-REG-010")
def test_a_master_and_an_orphaned_slave_learn_no_master(
    fake_cluster: FakeCluster,
) -> None:
    master = fake_cluster.broker()
    orphan = fake_cluster.broker(broker_id=1)
    for broker in (master, orphan):
        expect_fields(
            "ROUTE-REG-010",
            found=broker.register().fields,
            expected={"masterAddr": "(absent)", "haServerAddr": "(absent)"},
            transcript=broker.peer.transcript,
        )


@pytest.mark.clause("ROUTE-REG-011", "ROUTE-LIVENESS-012")
def test_a_slaves_topics_make_no_route(fake_cluster: FakeCluster) -> None:
    slave = fake_cluster.broker(broker_id=1)
    topic = TopicConfig(topic=fake_cluster.unique("topic"))
    slave.register(topic)
    expect(
        "ROUTE-REG-011",
        found=fake_cluster.route(topic.topic),
        expected=None,
        what="route of a topic that only a slave registered",
        transcript=fake_cluster.client.transcript,
    )
    data = fake_cluster.clusters().brokers.get(slave.name)
    expect(
        "ROUTE-LIVENESS-012",
        found=data and dict(data.addresses),
        expected={1: slave.identity.address},
        what="addresses of the slave's name in the cluster information",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-REG-024")
@pytest.mark.parametrize(("enabled", "permission"), [("false", 6), ("true", 4)])
def test_the_first_slave_makes_routes_if_it_may_act_as_master(
    fake_cluster: FakeCluster, enabled: str, permission: int
) -> None:
    name = fake_cluster.unique("broker")
    found = []
    for broker_id in (2, 1, 3):
        slave = fake_cluster.broker(name=name, broker_id=broker_id)
        topic = TopicConfig(topic=fake_cluster.unique("topic"))
        body = slave.encode(slave.table(topic))
        slave.topics_seen |= {topic.topic, *(one.topic for one in slave.own_topics)}
        fields = {**slave.fields(body), "enableActingMaster": enabled}
        require_success(slave.send(fields, body))
        route = fake_cluster.route(topic.topic)
        queues = route and route.queues_of(name)
        found.append(queues and queues.permission)
    expect(
        "ROUTE-REG-024",
        found=found,
        expected=[permission, permission, None],
        what="permissions in the routes of slaves 2, 1 and 3",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-REG-012")
def test_a_changed_topic_is_not_seen_without_a_new_version(
    fake_cluster: FakeCluster,
) -> None:
    broker = fake_cluster.broker()
    topic = TopicConfig(topic=fake_cluster.unique("topic"), write_queue_count=4)
    broker.register(topic)
    broker.register_again(replace(topic, write_queue_count=8))
    route = fake_cluster.route(topic.topic)
    expect(
        "ROUTE-REG-012",
        found=[q.write_queue_count for q in route.queue_datas] if route else None,
        expected=[4],
        what="write queues after a registration with the same version",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-REG-013")
def test_a_new_topic_is_not_seen_without_a_new_version(
    fake_cluster: FakeCluster,
) -> None:
    broker = fake_cluster.broker()
    topic = TopicConfig(topic=fake_cluster.unique("topic"))
    broker.register()
    broker.register_again(topic)
    expect(
        "ROUTE-REG-013",
        found=fake_cluster.route(topic.topic),
        expected=None,
        what="route of a topic that came with the same version",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-REG-014")
def test_a_new_topic_is_seen_also_without_a_new_version(
    fake_cluster: FakeCluster,
) -> None:
    broker = fake_cluster.broker()
    topic = TopicConfig(topic=fake_cluster.unique("topic"))
    broker.register()
    broker.register_again(topic)
    expect(
        "ROUTE-REG-014",
        found=fake_cluster.route(topic.topic) is not None,
        expected=True,
        what="a topic that came with the same version has a route",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-REG-015", "ROUTE-DATA-011")
@pytest.mark.parametrize("step", [1, -1], ids=["newer", "older"])
def test_another_version_replaces_a_topic(fake_cluster: FakeCluster, step: int) -> None:
    broker = fake_cluster.broker()
    topic = TopicConfig(topic=fake_cluster.unique("topic"))
    broker.register(topic)
    changed = replace(
        topic, write_queue_count=2, read_queue_count=7, permission=4, topic_flags=1
    )
    counter = broker.version.counter + step
    broker.version = replace(broker.version, counter=counter)
    broker.register_again(changed)
    route = fake_cluster.route(topic.topic)
    expect(
        "ROUTE-REG-015",
        found=[
            (q.write_queue_count, q.read_queue_count, q.permission, q.topic_flags)
            for q in (route.queue_datas if route else ())
        ],
        expected=[(2, 7, 4, 1)],
        what="write queues, read queues, permission and flags",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-REG-016")
def test_a_topic_that_is_left_out_keeps_its_route(fake_cluster: FakeCluster) -> None:
    broker = fake_cluster.broker()
    topic = TopicConfig(topic=fake_cluster.unique("topic"))
    broker.register(topic)
    broker.register()
    expect(
        "ROUTE-REG-016",
        found=fake_cluster.route(topic.topic) is not None,
        expected=True,
        what="a topic has a route after a registration without it",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-REG-017")
def test_an_address_has_one_broker_id(fake_cluster: FakeCluster) -> None:
    master = fake_cluster.broker()
    slave = fake_cluster.broker(
        name=master.name, cluster=master.identity.cluster, broker_id=2
    )
    topic = TopicConfig(topic=fake_cluster.unique("topic"))
    master.register(topic)
    slave.register(topic)
    # The slave becomes a second slave: same address, another id.
    moved = fake_cluster.broker(
        name=master.name,
        cluster=master.identity.cluster,
        broker_id=3,
        address=slave.identity.address,
    )
    moved.register(topic)
    addresses = {0: master.identity.address, 3: slave.identity.address}
    expect_addresses("ROUTE-REG-017", fake_cluster, topic, master, addresses)


@pytest.mark.clause("ROUTE-REG-018")
def test_a_broker_id_has_one_address(fake_cluster: FakeCluster) -> None:
    first = fake_cluster.broker()
    topic = TopicConfig(topic=fake_cluster.unique("topic"))
    first.register(topic)
    second = _elsewhere(fake_cluster, first)
    second.register(topic)
    addresses = {0: second.identity.address}
    expect_addresses("ROUTE-REG-018", fake_cluster, topic, first, addresses)
    unregister(first.peer, first.identity)


@pytest.mark.clause("ROUTE-REG-025")
def test_an_address_of_an_earlier_state_is_ignored(fake_cluster: FakeCluster) -> None:
    first = fake_cluster.broker()
    topic = TopicConfig(topic=fake_cluster.unique("topic"))
    first.version = replace(first.version, state_version=2)
    first.register(topic)
    second = _elsewhere(fake_cluster, first)
    second.version = replace(second.version, state_version=1)
    response = second.register(topic)
    transcript = second.peer.transcript
    expect_code("ROUTE-REG-025", response, ResponseCode.SUCCESS, transcript)
    addresses = {0: first.identity.address}
    expect_addresses("ROUTE-REG-025", fake_cluster, topic, first, addresses)


def _elsewhere(fake_cluster: FakeCluster, first: FakeBroker) -> FakeBroker:
    """Return a broker with the names and the id of *first*, at another address."""
    return fake_cluster.broker(
        name=first.name,
        cluster=first.identity.cluster,
        address="127.0.0.1:" + first.identity.address.rpartition(":")[2],
    )


@pytest.mark.clause("ROUTE-REG-020")
def test_a_first_registration_of_one_topic_is_refused(
    fake_cluster: FakeCluster,
) -> None:
    broker, code, _ = _register_one_topic(fake_cluster)
    expect(
        "ROUTE-REG-020",
        found=code,
        expected=ResponseCode.SYSTEM_ERROR,
        what="code of the answer",
        transcript=broker.peer.transcript,
    )


@pytest.mark.clause("ROUTE-REG-021")
def test_a_first_registration_of_one_topic_is_taken(fake_cluster: FakeCluster) -> None:
    broker, code, known = _register_one_topic(fake_cluster)
    expect(
        "ROUTE-REG-021",
        found=(code, known),
        expected=(ResponseCode.SUCCESS, True),
        what="code of the answer, topic has a route",
        transcript=broker.peer.transcript,
    )


def _register_one_topic(fake_cluster: FakeCluster) -> tuple[FakeBroker, int, bool]:
    """Register one topic; return its broker, the code and whether it has a route."""
    broker = fake_cluster.broker()
    topic = TopicConfig(topic=fake_cluster.unique("topic"))
    broker.topics_seen.add(topic.topic)
    table = TopicTable.of(topic, version=broker.version)
    data = broker.encode(table)
    response = broker.send(broker.fields(data), data)
    return broker, response.code, fake_cluster.route(topic.topic) is not None


@pytest.mark.clause("ROUTE-REG-022")
def test_a_binary_header_registers_as_well(fake_cluster: FakeCluster) -> None:
    broker = fake_cluster.broker()
    topic = TopicConfig(topic=fake_cluster.unique("topic"))
    response = broker.register(topic, serialize_type=SerializeType.ROCKETMQ)
    expect(
        "ROUTE-REG-022",
        found=(response.code, fake_cluster.route(topic.topic) is not None),
        expected=(ResponseCode.SUCCESS, True),
        what="code of the answer, topic has a route",
        transcript=broker.peer.transcript,
    )
