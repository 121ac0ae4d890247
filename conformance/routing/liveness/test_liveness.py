"""Liveness: a silent broker leaves the routes, and a registration brings it back."""

from __future__ import annotations

import time

import pytest

from conformance.harness.client.client import require_success
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_in_time,
    expect_that,
)
from conformance.routing.fake_broker import (
    FakeBroker,
    FakeCluster,
    unregister,
    version_query,
)
from spec.routing.broker_registration import BrokerIdentity
from spec.routing.topic_config import TopicConfig
from spec.wire.remoting.response_code import ResponseCode

SCAN_S = 5.0
"""Period of the name server's checks (Java: scanNotActiveBrokerInterval)."""
LATE_S = 6.0
"""Detection delay of a busy machine."""


def registered(
    fake_cluster: FakeCluster, topic: TopicConfig, **where: str | int
) -> FakeBroker:
    """Return a broker of its own that has registered *topic*."""
    broker = fake_cluster.broker(**where)  # type: ignore[arg-type] # str and int as declared
    broker.register(topic)
    return broker


def a_topic(fake_cluster: FakeCluster) -> TopicConfig:
    """Return a topic with a name of its own."""
    return TopicConfig(topic=fake_cluster.unique("topic"))


def with_slave(
    fake_cluster: FakeCluster, topic: TopicConfig
) -> tuple[FakeBroker, FakeBroker]:
    """Return a registered master of *topic* and its registered slave."""
    master = registered(fake_cluster, topic)
    slave = fake_cluster.broker(
        name=master.name, cluster=master.identity.cluster, broker_id=1
    )
    slave.register(topic)
    return master, slave


@pytest.mark.clause("ROUTE-LIVENESS-001", "ROUTE-DATA-003")
def test_a_topic_goes_with_its_last_broker(fake_cluster: FakeCluster) -> None:
    topic = a_topic(fake_cluster)
    broker = registered(fake_cluster, topic)
    broker.unregister()
    fake_cluster.wait_until_gone(broker)
    expect(
        "ROUTE-LIVENESS-001",
        found=fake_cluster.route(topic.topic),
        expected=None,
        what="route after its only broker unregistered",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-LIVENESS-002")
def test_an_unregistration_has_taken_effect_when_it_is_answered(
    fake_cluster: FakeCluster,
) -> None:
    topic = a_topic(fake_cluster)
    broker = registered(fake_cluster, topic)
    broker.unregister()
    expect(
        "ROUTE-LIVENESS-002",
        found=fake_cluster.route(topic.topic),
        expected=None,
        what="route right after the answer",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-LIVENESS-003", "ROUTE-CLUSTER-002")
def test_other_brokers_stay_in_the_route(fake_cluster: FakeCluster) -> None:
    topic = a_topic(fake_cluster)
    stays, goes = registered(fake_cluster, topic), registered(fake_cluster, topic)
    goes.unregister()
    fake_cluster.wait_until_gone(goes)
    route = fake_cluster.route(topic.topic)
    expect(
        "ROUTE-LIVENESS-003",
        found=[q.broker_name for q in route.queue_datas] if route else None,
        expected=[stays.name],
        what="brokers in the route",
        transcript=fake_cluster.client.transcript,
    )
    clusters = fake_cluster.clusters().clusters
    expect(
        "ROUTE-CLUSTER-002",
        found=(stays.identity.cluster in clusters, goes.identity.cluster in clusters),
        expected=(True, False),
        what="cluster of the broker that stays, and of the one that went, are there",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-LIVENESS-004")
def test_a_slave_keeps_the_route_when_its_master_goes(
    fake_cluster: FakeCluster,
) -> None:
    topic = a_topic(fake_cluster)
    master, slave = with_slave(fake_cluster, topic)
    master.unregister()
    wait_until(
        lambda: 0 not in fake_cluster.clusters().brokers[master.name].addresses,
        what="the name server has forgotten the master",
    )
    route = fake_cluster.route(topic.topic)
    data = route and route.broker(master.name)
    expect(
        "ROUTE-LIVENESS-004",
        found=(
            [q.broker_name for q in route.queue_datas] if route else None,
            data and dict(data.addresses),
        ),
        expected=([master.name], {1: slave.identity.address}),
        what="brokers with queues, addresses by broker id",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-LIVENESS-005")
def test_an_unknown_broker_may_unregister(fake_cluster: FakeCluster) -> None:
    response = fake_cluster.broker().unregister()
    expect(
        "ROUTE-LIVENESS-005",
        found=response.code,
        expected=ResponseCode.SUCCESS,
        what="code of the answer",
        transcript=fake_cluster.client.transcript,
    )


def _unregister_mixed_up(
    fake_cluster: FakeCluster,
) -> tuple[dict[int, str], FakeBroker, FakeBroker]:
    """Unregister the master's address under the slave's id; return what is left."""
    topic = a_topic(fake_cluster)
    master, slave = with_slave(fake_cluster, topic)
    mixed_up = BrokerIdentity(
        cluster=master.identity.cluster,
        broker_name=master.name,
        address=master.identity.address,
        broker_id=1,
    )
    unregister(fake_cluster.client.peer, mixed_up)
    wait_until(
        lambda: len(fake_cluster.clusters().brokers[master.name].addresses) == 1,
        what="the name server has forgotten one of the two addresses",
    )
    return dict(fake_cluster.clusters().brokers[master.name].addresses), master, slave


@pytest.mark.clause("ROUTE-LIVENESS-006")
def test_an_unregistration_goes_by_broker_id(fake_cluster: FakeCluster) -> None:
    left, master, _ = _unregister_mixed_up(fake_cluster)
    expect(
        "ROUTE-LIVENESS-006",
        found=left,
        expected={0: master.identity.address},
        what="addresses that are left",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-LIVENESS-007")
def test_an_unregistration_goes_by_address(fake_cluster: FakeCluster) -> None:
    left, _, slave = _unregister_mixed_up(fake_cluster)
    expect(
        "ROUTE-LIVENESS-007",
        found=left,
        expected={1: slave.identity.address},
        what="addresses that are left",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-LIVENESS-008", "ROUTE-LIVENESS-001")
def test_a_broker_goes_when_its_connection_is_closed(fake_cluster: FakeCluster) -> None:
    topic = a_topic(fake_cluster)
    broker = registered(fake_cluster, topic)
    broker.peer.close()
    wait_until(
        lambda: fake_cluster.route(topic.topic) is None,
        what="the route is gone after the broker's connection was closed",
    )
    expect(
        "ROUTE-LIVENESS-008",
        found=(
            broker.name in fake_cluster.clusters().brokers,
            broker.identity.cluster in fake_cluster.clusters().clusters,
        ),
        expected=(False, False),
        what="broker and cluster are in the cluster information",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-LIVENESS-008", "ROUTE-LIVENESS-004")
def test_a_slave_stays_when_the_masters_connection_is_closed(
    fake_cluster: FakeCluster,
) -> None:
    topic = a_topic(fake_cluster)
    master, slave = with_slave(fake_cluster, topic)
    master.peer.close()
    wait_until(
        lambda: 0 not in fake_cluster.clusters().brokers[master.name].addresses,
        what="the name server has forgotten the master",
    )
    expect(
        "ROUTE-LIVENESS-008",
        found=dict(fake_cluster.clusters().brokers[master.name].addresses),
        expected={1: slave.identity.address},
        what="addresses that are left",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-LIVENESS-009")
def test_a_broker_on_a_new_connection_outlives_the_old_one(
    fake_cluster: FakeCluster,
) -> None:
    topic = a_topic(fake_cluster)
    moved = registered(fake_cluster, topic)
    old = moved.peer
    moved.peer = fake_cluster.connect()
    moved.register(topic)
    # A registration over the old connection shows when its end was detected.
    witness = fake_cluster.broker(peer=old)
    witness.register()
    old.close()
    fake_cluster.wait_until_gone(witness)
    expect(
        "ROUTE-LIVENESS-009",
        found=fake_cluster.route(topic.topic) is not None,
        expected=True,
        what="the route is still there",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-LIVENESS-010")
def test_closing_a_clients_connection_removes_nobody(fake_cluster: FakeCluster) -> None:
    topic = a_topic(fake_cluster)
    broker = registered(fake_cluster, topic)
    client = fake_cluster.connect()
    witness = fake_cluster.broker(peer=client)
    witness.register()
    code = client.request(
        version_query(broker.identity, broker.version, fake_cluster.release)
    ).code
    client.close()
    fake_cluster.wait_until_gone(witness)
    expect(
        "ROUTE-LIVENESS-010",
        found=(code, fake_cluster.route(topic.topic) is not None),
        expected=(ResponseCode.SUCCESS, True),
        what="code of the client's answer, the route is still there",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-LIVENESS-011")
def test_a_removed_broker_comes_back_with_the_same_version(
    fake_cluster: FakeCluster,
) -> None:
    topic = a_topic(fake_cluster)
    broker = registered(fake_cluster, topic)
    broker.unregister()
    fake_cluster.wait_until_gone(broker)
    broker.register_again(topic)
    expect(
        "ROUTE-LIVENESS-011",
        found=fake_cluster.route(topic.topic) is not None,
        expected=True,
        what="the topic has a route again",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-LIVENESS-017")
def test_a_broker_is_removed_after_the_silence_of_its_registration(
    fake_cluster: FakeCluster,
) -> None:
    clause, silence_ms = "ROUTE-LIVENESS-017", 2000
    brief, long, default = (fake_cluster.broker() for _ in range(3))
    body = brief.encode(brief.table(a_topic(fake_cluster)))
    began = time.monotonic()
    for broker, times in (
        (default, {}),
        (long, {"heartbeatTimeoutMillis": "100000"}),
        (brief, {"heartbeatTimeoutMillis": str(silence_ms)}),
    ):
        require_success(broker.send(broker.fields(body) | times, body))

    def is_left(broker: FakeBroker) -> bool:
        return broker.name in fake_cluster.clusters().brokers

    expect_in_time(
        clause,
        lambda: is_left(brief),
        expected=False,
        what="the broker with the brief silence is there",
        timeout_s=silence_ms / 1000 + SCAN_S + LATE_S,
        transcript=fake_cluster.client.transcript,
    )
    took_ms = (time.monotonic() - began) * 1000
    expect_that(
        clause,
        took_ms >= silence_ms,
        found=round(took_ms),
        expected=f"{silence_ms} or more",
        what="milliseconds until the broker was removed",
        transcript=fake_cluster.client.transcript,
    )
    expect(
        clause,
        found=(brief.peer.received_close(), is_left(long), is_left(default)),
        expected=(True, True, True),
        what="its connection was closed, the brokers with a longer silence are there",
        transcript=fake_cluster.client.transcript,
    )
