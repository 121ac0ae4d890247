"""A name server as a program: its settings, its files, and its silent failures."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.harness.blocked.preconditions import precondition
from conformance.harness.client.client import require_success
from conformance.harness.pytest_plugin.expectations import expect, expect_fields
from conformance.harness.pytest_plugin.fixtures import another_target
from conformance.harness.pytest_plugin.known_settings import need_defaults
from conformance.harness.targets.shared_target import SharedTarget
from conformance.harness.targets.target import Capability, Target
from conformance.routing.fake_broker import FakeCluster
from spec.routing.name_server import KNOWN_REQUESTS
from spec.routing.topic_config import TopicConfig
from spec.wire.remoting.command import Command, CommandFlag
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

QUIET_S = 0.3
SETTINGS = {
    "ROUTE-CONFIG-004": {
        "productEnvName": "center",
        "clusterTest": "false",
        "orderMessageEnable": "false",
    },
    "ROUTE-CONFIG-005": {
        "serverWorkerThreads": "8",
        "serverCallbackExecutorThreads": "0",
        "serverSelectorThreads": "3",
        "serverOnewaySemaphoreValue": "256",
        "serverAsyncSemaphoreValue": "64",
        "serverChannelMaxIdleTimeSeconds": "120",
        "serverPooledByteBufAllocatorEnable": "true",
        "useEpollNativeSelector": "false",
    },
    "ROUTE-CONFIG-006": {
        "serverSocketSndBufSize": "65535",
        "serverSocketRcvBufSize": "65535",
    },
    "ROUTE-CONFIG-007": {
        "serverSocketSndBufSize": "0",
        "serverSocketRcvBufSize": "0",
    },
}


@pytest.mark.clause("ROUTE-CODE-001")
@pytest.mark.parametrize("code", KNOWN_REQUESTS, ids=lambda code: code.name)
def test_a_name_server_answers_what_it_knows(
    fake_cluster: FakeCluster, code: RequestCode
) -> None:
    name = fake_cluster.unique("nobody")
    fields = {
        "namespace": name,
        "key": "k",
        "value": "v",
        "topic": name,
        "cluster": name,
        "brokerName": name,
        "brokerAddr": "127.0.0.1:1",
        "clusterName": name,
    }
    # Without brokerId a registration fails: any response is enough.
    peer = fake_cluster.connect()
    response = peer.request(Command(code=code, fields=fields))
    expect(
        "ROUTE-CODE-001",
        found=response.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED,
        expected=False,
        what=f"{code.name} is not supported",
        transcript=peer.transcript,
    )
    fake_cluster.client.delete_kv(namespace=name, key="k")


def check_settings(fake_cluster: FakeCluster, target: Target, clause: str) -> None:
    """Fail *clause* unless *target*'s name server reports the settings that it has."""
    found = fake_cluster.client.namesrv_settings()
    need_defaults(target, SETTINGS[clause], found)
    expect_fields(
        clause,
        found=found,
        expected=SETTINGS[clause],
        transcript=fake_cluster.client.transcript,
    )


@pytest.fixture
def unchanged(
    request: pytest.FixtureRequest, target: SharedTarget
) -> Iterator[tuple[FakeCluster, Target]]:
    """Yield a name server whose settings no other test changes at the same time."""
    if Capability.CONFIG not in target.capabilities:
        yield request.getfixturevalue("fake_cluster"), target
        return
    own = request.getfixturevalue("start_target")()
    with FakeCluster(own.namesrv, lambda name: name, own.release) as fake_cluster:
        yield fake_cluster, own


@pytest.mark.clause("ROUTE-CONFIG-004")
def test_a_name_server_is_set_as_usual(unchanged: tuple[FakeCluster, Target]) -> None:
    check_settings(*unchanged, "ROUTE-CONFIG-004")


@pytest.mark.clause("ROUTE-CONFIG-005")
def test_a_name_server_has_its_usual_threads(
    unchanged: tuple[FakeCluster, Target],
) -> None:
    check_settings(*unchanged, "ROUTE-CONFIG-005")


@pytest.mark.clause("ROUTE-CONFIG-006")
def test_buffers_have_a_size(fake_cluster: FakeCluster, target: SharedTarget) -> None:
    check_settings(fake_cluster, target, "ROUTE-CONFIG-006")


@pytest.mark.clause("ROUTE-CONFIG-007")
def test_buffers_are_left_to_the_system(
    fake_cluster: FakeCluster, target: SharedTarget
) -> None:
    check_settings(fake_cluster, target, "ROUTE-CONFIG-007")


@pytest.mark.clause("ROUTE-KV-013")
@pytest.mark.needs("wire", "restart")
def test_key_values_outlive_a_restart(pytestconfig: pytest.Config) -> None:
    value, topic = "kept: ä", TopicConfig(topic="registered")
    with another_target(pytestconfig, own_name_server=True) as own:
        assert own.namesrv is not None
        with FakeCluster(own.namesrv, lambda name: name, own.release) as fake_cluster:
            fake_cluster.client.put_kv(namespace="n", key="k", value=value)
            require_success(fake_cluster.broker().register(topic))
            own.restart()
            with own.connect_to_namesrv() as namesrv:
                response = namesrv.get_kv(namespace="n", key="k")
                route = namesrv.route(topic.topic)
    expect(
        "ROUTE-KV-013",
        found=(response.code, response.fields.get("value"), route.code),
        expected=(ResponseCode.SUCCESS, value, ResponseCode.TOPIC_NOT_EXIST),
        what="code and value after a restart, code of the route request",
    )


@pytest.mark.clause("ROUTE-LIVENESS-014")
def test_nobody_is_told_of_a_change(fake_cluster: FakeCluster) -> None:
    topic = TopicConfig(topic=fake_cluster.unique("topic"))
    broker = fake_cluster.broker()
    broker.register(topic)
    assert fake_cluster.route(topic.topic) is not None
    broker.register(TopicConfig(topic=topic.topic, read_queue_count=3))
    broker.unregister()
    expect(
        "ROUTE-LIVENESS-014",
        found=fake_cluster.client.peer.is_silent(QUIET_S),
        expected=True,
        what="silence to the client that asked for the route",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-DATA-012")
def test_an_unknown_topic_is_named(fake_cluster: FakeCluster) -> None:
    topic = fake_cluster.unique("unknown")
    response = fake_cluster.client.route(topic)
    expect(
        "ROUTE-DATA-012",
        found=topic in (response.remark or ""),
        expected=True,
        what="the topic's name is in the remark",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-REG-023")
def test_a_oneway_registration_counts(
    fake_cluster: FakeCluster, target: SharedTarget
) -> None:
    assert target.namesrv is not None
    with precondition():
        require_success(fake_cluster.broker().register())
    broker = fake_cluster.broker()
    topic = TopicConfig(topic=fake_cluster.unique("topic"))
    broker.topics_seen.add(topic.topic)
    body = broker.encode(broker.table(topic))
    broker.peer.send(
        Command(
            code=RequestCode.REGISTER_BROKER,
            flag=CommandFlag.ONEWAY,
            fields=broker.fields(body),
            body=body,
        )
    )
    fake_cluster.client.wait_for_route(topic.topic)
    expect(
        "ROUTE-REG-023",
        found=broker.peer.is_silent(QUIET_S),
        expected=True,
        what="silence after a oneway registration",
        transcript=broker.peer.transcript,
    )
