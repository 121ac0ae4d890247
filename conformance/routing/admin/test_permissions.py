"""Removal of a broker's write permission, and queries of its data version."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.harness.client.client import require_success
from conformance.harness.process.deadline import comes_true
from conformance.harness.pytest_plugin.expectations import expect
from conformance.routing.fake_broker import FakeBroker, FakeCluster, version_query
from spec.routing.topic_config import DataVersion, TopicConfig, decode_data_version
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode


def permissions(fake_cluster: FakeCluster, topic: TopicConfig) -> dict[str, int]:
    """Return the permission of *topic* by broker name."""
    route = fake_cluster.route(topic.topic)
    assert route is not None
    return {queues.broker_name: queues.permission for queues in route.queue_datas}


@pytest.mark.clause("ROUTE-PERM-001", "ROUTE-PERM-002")
@pytest.mark.parametrize("permission", [2, 4, 6, 7])
def test_a_wipe_takes_the_write_bit_of_one_broker(
    fake_cluster: FakeCluster, permission: int
) -> None:
    topic = TopicConfig(topic=fake_cluster.unique("topic"), permission=permission)
    wiped, other = fake_cluster.broker(), fake_cluster.broker()
    for broker in (wiped, other):
        broker.register(topic)
    response = fake_cluster.client.wipe_write_permission(wiped.name)
    expect(
        "ROUTE-PERM-001",
        found=permissions(fake_cluster, topic),
        expected={wiped.name: permission & ~2, other.name: permission},
        what="permissions by broker",
        transcript=fake_cluster.client.transcript,
    )
    expect(
        "ROUTE-PERM-002",
        found=(response.code, response.fields.get("wipeTopicCount")),
        expected=(ResponseCode.SUCCESS, "3"),
        what="code, wipeTopicCount",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-PERM-002")
def test_an_unknown_broker_has_no_topics_to_wipe(fake_cluster: FakeCluster) -> None:
    response = fake_cluster.client.wipe_write_permission(fake_cluster.unique("nobody"))
    expect(
        "ROUTE-PERM-002",
        found=(response.code, response.fields.get("wipeTopicCount")),
        expected=(ResponseCode.SUCCESS, "0"),
        what="code, wipeTopicCount",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-PERM-003")
def test_a_wipe_lasts_until_a_new_version(fake_cluster: FakeCluster) -> None:
    topic = TopicConfig(topic=fake_cluster.unique("topic"))
    broker = fake_cluster.broker()
    broker.register(topic)
    fake_cluster.client.wipe_write_permission(broker.name)
    seen = []
    for register in (broker.register_again, broker.register):
        register(topic)
        seen.append(permissions(fake_cluster, topic)[broker.name])
    expect(
        "ROUTE-PERM-003",
        found=seen,
        expected=[4, 6],
        what="permission after the same version, and after a new one",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-PERM-004")
@pytest.mark.parametrize("permission", [1, 4, 7])
def test_adding_the_write_permission_sets_it_to_six(
    fake_cluster: FakeCluster, permission: int
) -> None:
    topic = TopicConfig(topic=fake_cluster.unique("topic"), permission=permission)
    broker = fake_cluster.broker()
    broker.register(topic)
    response = fake_cluster.client.peer.request(
        Command(
            code=RequestCode.ADD_WRITE_PERM_OF_BROKER,
            fields={"brokerName": broker.name},
        )
    )
    expect(
        "ROUTE-PERM-004",
        found=(response.fields.get("addTopicCount"), permissions(fake_cluster, topic)),
        expected=("3", {broker.name: 6}),
        what="addTopicCount, permission",
        transcript=fake_cluster.client.transcript,
    )


def query_version(
    fake_cluster: FakeCluster, broker: FakeBroker, version: DataVersion
) -> tuple[str | None, DataVersion | None]:
    """Return the response about *version*: whether it changed, and the server's own."""
    response = fake_cluster.client.peer.request(
        version_query(broker.identity, version, fake_cluster.release)
    )
    require_success(response)
    own = decode_data_version(response.body) if response.body else None
    return response.fields.get("changed"), own


@pytest.mark.clause("ROUTE-VERSION-001")
def test_an_unknown_broker_has_changed(fake_cluster: FakeCluster) -> None:
    never = fake_cluster.broker()
    expect(
        "ROUTE-VERSION-001",
        found=query_version(fake_cluster, never, never.version),
        expected=("true", None),
        what="changed, version in the body, of a broker that never registered",
        transcript=fake_cluster.client.transcript,
    )
    brokers = [fake_cluster.broker() for _ in range(2)]
    for broker in brokers:
        broker.register()
    for broker in brokers:
        require_success(broker.unregister())
        found: list[object] = []

        def is_gone(broker: FakeBroker = broker, found: list[object] = found) -> bool:
            found.append(query_version(fake_cluster, broker, broker.version))
            return found[-1] == ("true", None)

        comes_true(is_gone)  # releases since 5.0 unregister a little later
        expect(
            "ROUTE-VERSION-001",
            found=found[-1],
            expected=("true", None),
            what="changed, version in the body",
            transcript=fake_cluster.client.transcript,
        )


@pytest.mark.clause("ROUTE-VERSION-002", "ROUTE-VERSION-003")
def test_only_the_registered_version_has_not_changed(fake_cluster: FakeCluster) -> None:
    other = fake_cluster.broker()
    for _ in range(5):
        other.register()
    expect_version(fake_cluster, other, other.version, changed="false")
    broker = fake_cluster.broker()
    broker.register()
    registered = broker.version
    for version, changed in (
        (registered, "false"),
        (replace(registered, counter=registered.counter + 1), "true"),
        (replace(registered, counter=registered.counter - 1), "true"),
        (replace(registered, timestamp_ms=registered.timestamp_ms + 1), "true"),
    ):
        expect_version(fake_cluster, broker, version, changed=changed)


def expect_version(
    cluster: FakeCluster, broker: FakeBroker, version: DataVersion, *, changed: str
) -> None:
    """Query *version* of *broker*: it is *changed*, and the registered one returns."""
    is_changed, own = query_version(cluster, broker, version)
    expect(
        "ROUTE-VERSION-002",
        found=is_changed,
        expected=changed,
        what=f"changed, for {version}",
        transcript=cluster.client.transcript,
    )
    expect(
        "ROUTE-VERSION-003",
        found=own,
        expected=broker.version,
        what="the version in the body",
        transcript=cluster.client.transcript,
    )
