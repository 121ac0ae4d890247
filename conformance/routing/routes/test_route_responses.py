"""The response to GET_ROUTEINFO_BY_TOPIC: its dialect, its fields, its absence."""

from __future__ import annotations

import json
import re

import pytest

from conformance.harness.pytest_plugin.expectations import expect
from conformance.routing.fake_broker import FakeBroker, FakeCluster
from spec.routing.topic_config import TopicConfig
from spec.wire.remoting.command import Command
from spec.wire.remoting.frame import SerializeType
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

V4_9_3 = 399
V4_9_4 = 401
"""Ordinals of the last release before, and the first of, quoted keys."""


def raw_route(
    fake_cluster: FakeCluster, topic: str, version: int = 0, **fields: str
) -> Command:
    """Return the response to a request for a route of this version."""
    return fake_cluster.client.peer.request(
        Command(
            code=RequestCode.GET_ROUTEINTO_BY_TOPIC,
            version=version,
            fields={"topic": topic, **fields},
        )
    )


def registered(fake_cluster: FakeCluster) -> tuple[FakeBroker, TopicConfig]:
    """Return a registered master and its topic."""
    broker = fake_cluster.broker()
    topic = TopicConfig(topic=fake_cluster.unique("topic"), topic_flags=2)
    broker.register(topic)
    return broker, topic


@pytest.mark.clause("ROUTE-DATA-003")
def test_an_unknown_topic_is_answered_with_code_17(fake_cluster: FakeCluster) -> None:
    response = fake_cluster.client.route(fake_cluster.unique("nobody_has_it"))
    expect(
        "ROUTE-DATA-003",
        found=response.code,
        expected=ResponseCode.TOPIC_NOT_EXIST,
        what="code of the answer",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.parametrize(
    ("clause", "fields"),
    [
        pytest.param(
            "ROUTE-DATA-003",
            {"topic": ""},
            marks=pytest.mark.clause("ROUTE-DATA-003"),
            id="empty",
        ),
        pytest.param(
            "WIRE-COMMAND-007",
            {},
            marks=pytest.mark.clause("WIRE-COMMAND-007"),
            id="absent",
        ),
    ],
)
def test_a_topic_without_name_is_unknown(
    fake_cluster: FakeCluster, clause: str, fields: dict[str, str]
) -> None:
    code = RequestCode.GET_ROUTEINTO_BY_TOPIC
    response = fake_cluster.client.peer.request(Command(code=code, fields=fields))
    expect(
        clause,
        found=response.code,
        expected=ResponseCode.TOPIC_NOT_EXIST,
        what="code of the answer",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-DATA-004")
@pytest.mark.parametrize("version", [0, V4_9_3, V4_9_4, 10_000])
def test_broker_ids_are_bare(fake_cluster: FakeCluster, version: int) -> None:
    broker, topic = registered(fake_cluster)
    body = raw_route(fake_cluster, topic.topic, version).body
    expect(
        "ROUTE-DATA-004",
        found=b'"brokerAddrs":{0:"%s"}' % broker.identity.address.encode() in body,
        expected=True,
        what="the key 0 of brokerAddrs has no quotes",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-DATA-005")
@pytest.mark.parametrize("version", [0, V4_9_3])
def test_broker_ids_are_bare_for_an_old_client(
    fake_cluster: FakeCluster, version: int
) -> None:
    broker, topic = registered(fake_cluster)
    body = raw_route(fake_cluster, topic.topic, version).body
    expect(
        "ROUTE-DATA-005",
        found=b'"brokerAddrs":{0:"%s"}' % broker.identity.address.encode() in body,
        expected=True,
        what="the key 0 of brokerAddrs has no quotes",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-DATA-006")
@pytest.mark.parametrize(
    ("version", "fields"),
    [(V4_9_4, {}), (10_000, {}), (0, {"acceptStandardJsonOnly": "true"})],
    ids=["4.9.4", "newest", "asked for"],
)
def test_broker_ids_are_quoted_for_a_new_client(
    fake_cluster: FakeCluster, version: int, fields: dict[str, str]
) -> None:
    broker, topic = registered(fake_cluster)
    body = raw_route(fake_cluster, topic.topic, version, **fields).body
    route = json.loads(body)
    expect(
        "ROUTE-DATA-006",
        found=route["brokerDatas"][0]["brokerAddrs"],
        expected={"0": broker.identity.address},
        what="brokerAddrs, read as plain JSON",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-DATA-007")
def test_flags_are_called_topic_syn_flag(fake_cluster: FakeCluster) -> None:
    _, topic = registered(fake_cluster)
    expect(
        "ROUTE-DATA-007",
        found=b'"topicSynFlag":2' in raw_route(fake_cluster, topic.topic).body,
        expected=True,
        what="topicSynFlag is the topic's flags",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-DATA-008")
def test_flags_are_called_topic_sys_flag(fake_cluster: FakeCluster) -> None:
    _, topic = registered(fake_cluster)
    expect(
        "ROUTE-DATA-008",
        found=b'"topicSysFlag":2' in raw_route(fake_cluster, topic.topic).body,
        expected=True,
        what="topicSysFlag is the topic's flags",
        transcript=fake_cluster.client.transcript,
    )


WITHOUT_A_VALUE = re.compile(rb'(?:"[^"]*":)?null|"?orderTopicConf[^,}]*')
"""Members of a route's JSON that are null; also the orders, which no topic has here."""


@pytest.mark.clause("ROUTE-DATA-009")
def test_a_route_has_no_nulls(fake_cluster: FakeCluster) -> None:
    _, topic = registered(fake_cluster)
    body = raw_route(fake_cluster, topic.topic).body
    expect(
        "ROUTE-DATA-009",
        found=[member.decode() for member in WITHOUT_A_VALUE.findall(body)],
        expected=[],
        what="members of the route without a value",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-DATA-010")
def test_filter_servers_are_listed_until_a_registration_without(
    fake_cluster: FakeCluster,
) -> None:
    broker, topic = registered(fake_cluster)
    servers = ("127.0.0.1:7001", "127.0.0.1:7002")
    broker.register(topic, filter_servers=servers)
    listed = fake_cluster.route(topic.topic)
    broker.register(topic)
    cleared = fake_cluster.route(topic.topic)
    assert listed is not None
    assert cleared is not None
    expect(
        "ROUTE-DATA-010",
        found=(
            listed.filter_servers.get(broker.identity.address),
            cleared.filter_servers.get(broker.identity.address, ()),
        ),
        expected=(servers, ()),
        what="filter servers with, and after a registration without them",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-DATA-011")
def test_registering_often_gives_one_queue_data(fake_cluster: FakeCluster) -> None:
    broker, topic = registered(fake_cluster)
    for _ in range(3):
        broker.register(topic)
    route = fake_cluster.route(topic.topic)
    expect(
        "ROUTE-DATA-011",
        found=[q.broker_name for q in route.queue_datas] if route else None,
        expected=[broker.name],
        what="broker names in the queue data",
        transcript=fake_cluster.client.transcript,
    )


@pytest.mark.clause("ROUTE-REG-022")
def test_a_binary_header_asks_for_a_route_as_well(fake_cluster: FakeCluster) -> None:
    broker, topic = registered(fake_cluster)
    response = fake_cluster.client.peer.request(
        Command(
            code=RequestCode.GET_ROUTEINTO_BY_TOPIC,
            fields={"topic": topic.topic},
            serialize_type=SerializeType.ROCKETMQ,
        )
    )
    expect(
        "ROUTE-REG-022",
        found=(response.code, broker.identity.address.encode() in response.body),
        expected=(ResponseCode.SUCCESS, True),
        what="code, address is in the body",
        transcript=fake_cluster.client.transcript,
    )
