"""How a broker leaves the routes, and how it comes back."""

from __future__ import annotations

import pytest

from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import expect
from conformance.routing.fake_broker import (
    FakeBroker,
    Stage,
    unregister,
    version_query,
)
from spec.routing.broker_registration import BrokerIdentity
from spec.routing.topic_config import TopicConfig
from spec.wire.remoting.response_code import ResponseCode


def registered(stage: Stage, topic: TopicConfig, **where: str | int) -> FakeBroker:
    """Return a broker of its own that has registered *topic*."""
    broker = stage.broker(**where)  # type: ignore[arg-type] # str and int as declared
    broker.register(topic)
    return broker


def a_topic(stage: Stage) -> TopicConfig:
    """Return a topic with a name of its own."""
    return TopicConfig(topic=stage.unique("topic"))


def with_slave(stage: Stage, topic: TopicConfig) -> tuple[FakeBroker, FakeBroker]:
    """Return a registered master of *topic* and its registered slave."""
    master = registered(stage, topic)
    slave = stage.broker(name=master.name, cluster=master.identity.cluster, broker_id=1)
    slave.register(topic)
    return master, slave


@pytest.mark.clause("ROUTE-LIVENESS-001", "ROUTE-DATA-003")
def test_a_topic_goes_with_its_last_broker(stage: Stage) -> None:
    topic = a_topic(stage)
    broker = registered(stage, topic)
    broker.unregister()
    stage.wait_until_gone(broker)
    expect(
        "ROUTE-LIVENESS-001",
        found=stage.route(topic.topic),
        expected=None,
        what="route after its only broker unregistered",
        transcript=stage.client.transcript,
    )


@pytest.mark.clause("ROUTE-LIVENESS-002")
def test_an_unregistration_has_taken_effect_when_it_is_answered(stage: Stage) -> None:
    topic = a_topic(stage)
    broker = registered(stage, topic)
    broker.unregister()
    expect(
        "ROUTE-LIVENESS-002",
        found=stage.route(topic.topic),
        expected=None,
        what="route right after the answer",
        transcript=stage.client.transcript,
    )


@pytest.mark.clause("ROUTE-LIVENESS-003", "ROUTE-CLUSTER-002")
def test_other_brokers_stay_in_the_route(stage: Stage) -> None:
    topic = a_topic(stage)
    stays, goes = registered(stage, topic), registered(stage, topic)
    goes.unregister()
    stage.wait_until_gone(goes)
    route = stage.route(topic.topic)
    expect(
        "ROUTE-LIVENESS-003",
        found=[q.broker_name for q in route.queue_datas] if route else None,
        expected=[stays.name],
        what="brokers in the route",
        transcript=stage.client.transcript,
    )
    clusters = stage.clusters().clusters
    expect(
        "ROUTE-CLUSTER-002",
        found=(stays.identity.cluster in clusters, goes.identity.cluster in clusters),
        expected=(True, False),
        what="cluster of the broker that stays, and of the one that went, are there",
        transcript=stage.client.transcript,
    )


@pytest.mark.clause("ROUTE-LIVENESS-004")
def test_a_slave_keeps_the_route_when_its_master_goes(stage: Stage) -> None:
    topic = a_topic(stage)
    master, slave = with_slave(stage, topic)
    master.unregister()
    wait_until(
        lambda: 0 not in stage.clusters().brokers[master.name].addresses,
        what="the name server has forgotten the master",
    )
    route = stage.route(topic.topic)
    data = route and route.broker(master.name)
    expect(
        "ROUTE-LIVENESS-004",
        found=(
            [q.broker_name for q in route.queue_datas] if route else None,
            data and dict(data.addresses),
        ),
        expected=([master.name], {1: slave.identity.address}),
        what="brokers with queues, addresses by broker id",
        transcript=stage.client.transcript,
    )


@pytest.mark.clause("ROUTE-LIVENESS-005")
def test_an_unknown_broker_may_unregister(stage: Stage) -> None:
    answer = stage.broker().unregister()
    expect(
        "ROUTE-LIVENESS-005",
        found=answer.code,
        expected=ResponseCode.SUCCESS,
        what="code of the answer",
        transcript=stage.client.transcript,
    )


def _unregister_mixed_up(stage: Stage) -> tuple[dict[int, str], FakeBroker, FakeBroker]:
    """Unregister the master's address under the slave's id; return what is left."""
    topic = a_topic(stage)
    master, slave = with_slave(stage, topic)
    mixed_up = BrokerIdentity(
        cluster=master.identity.cluster,
        broker_name=master.name,
        address=master.identity.address,
        broker_id=1,
    )
    unregister(stage.client.peer, mixed_up)
    wait_until(
        lambda: len(stage.clusters().brokers[master.name].addresses) == 1,
        what="the name server has forgotten one of the two addresses",
    )
    return dict(stage.clusters().brokers[master.name].addresses), master, slave


@pytest.mark.clause("ROUTE-LIVENESS-006")
def test_an_unregistration_goes_by_broker_id(stage: Stage) -> None:
    left, master, _ = _unregister_mixed_up(stage)
    expect(
        "ROUTE-LIVENESS-006",
        found=left,
        expected={0: master.identity.address},
        what="addresses that are left",
        transcript=stage.client.transcript,
    )


@pytest.mark.clause("ROUTE-LIVENESS-007")
def test_an_unregistration_goes_by_address(stage: Stage) -> None:
    left, _, slave = _unregister_mixed_up(stage)
    expect(
        "ROUTE-LIVENESS-007",
        found=left,
        expected={1: slave.identity.address},
        what="addresses that are left",
        transcript=stage.client.transcript,
    )


@pytest.mark.clause("ROUTE-LIVENESS-008", "ROUTE-LIVENESS-001")
def test_a_broker_goes_when_its_connection_is_closed(stage: Stage) -> None:
    topic = a_topic(stage)
    broker = registered(stage, topic)
    broker.peer.close()
    wait_until(
        lambda: stage.route(topic.topic) is None,
        what="the route is gone after the broker's connection was closed",
    )
    expect(
        "ROUTE-LIVENESS-008",
        found=(
            broker.name in stage.clusters().brokers,
            broker.identity.cluster in stage.clusters().clusters,
        ),
        expected=(False, False),
        what="broker and cluster are in the cluster information",
        transcript=stage.client.transcript,
    )


@pytest.mark.clause("ROUTE-LIVENESS-008", "ROUTE-LIVENESS-004")
def test_a_slave_stays_when_the_masters_connection_is_closed(stage: Stage) -> None:
    topic = a_topic(stage)
    master, slave = with_slave(stage, topic)
    master.peer.close()
    wait_until(
        lambda: 0 not in stage.clusters().brokers[master.name].addresses,
        what="the name server has forgotten the master",
    )
    expect(
        "ROUTE-LIVENESS-008",
        found=dict(stage.clusters().brokers[master.name].addresses),
        expected={1: slave.identity.address},
        what="addresses that are left",
        transcript=stage.client.transcript,
    )


@pytest.mark.clause("ROUTE-LIVENESS-009")
def test_a_broker_on_a_new_connection_outlives_the_old_one(stage: Stage) -> None:
    topic = a_topic(stage)
    moved = registered(stage, topic)
    old = moved.peer
    moved.peer = stage.connect()
    moved.register(topic)
    # A registration over the old connection shows when its end was detected.
    witness = stage.broker(peer=old)
    witness.register()
    old.close()
    stage.wait_until_gone(witness)
    expect(
        "ROUTE-LIVENESS-009",
        found=stage.route(topic.topic) is not None,
        expected=True,
        what="the route is still there",
        transcript=stage.client.transcript,
    )


@pytest.mark.clause("ROUTE-LIVENESS-010")
def test_closing_a_clients_connection_removes_nobody(stage: Stage) -> None:
    topic = a_topic(stage)
    broker = registered(stage, topic)
    client = stage.connect()
    witness = stage.broker(peer=client)
    witness.register()
    code = client.request(
        version_query(broker.identity, broker.version, stage.release)
    ).code
    client.close()
    stage.wait_until_gone(witness)
    expect(
        "ROUTE-LIVENESS-010",
        found=(code, stage.route(topic.topic) is not None),
        expected=(ResponseCode.SUCCESS, True),
        what="code of the client's answer, the route is still there",
        transcript=stage.client.transcript,
    )


@pytest.mark.clause("ROUTE-LIVENESS-011")
def test_a_removed_broker_comes_back_with_the_same_version(stage: Stage) -> None:
    topic = a_topic(stage)
    broker = registered(stage, topic)
    broker.unregister()
    stage.wait_until_gone(broker)
    broker.register_again(topic)
    expect(
        "ROUTE-LIVENESS-011",
        found=stage.route(topic.topic) is not None,
        expected=True,
        what="the topic has a route again",
        transcript=stage.client.transcript,
    )
