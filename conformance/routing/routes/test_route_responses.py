"""The answer to GET_ROUTEINFO_BY_TOPIC: its dialect, its fields, its absence."""

from __future__ import annotations

import json

import pytest

from conformance.harness.pytest_plugin.expectations import expect
from conformance.routing.fake_broker import FakeBroker, Stage
from spec.routing.topic_config import TopicConfig
from spec.wire.remoting.command import Command
from spec.wire.remoting.frame import SerializeType
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

V4_9_3 = 399
V4_9_4 = 401
"""Ordinals of the last release before, and the first of, quoted keys."""


def raw_route(stage: Stage, topic: str, version: int = 0, **fields: str) -> Command:
    """Return the answer to a request for a route of this version."""
    return stage.client.peer.request(
        Command(
            code=RequestCode.GET_ROUTEINTO_BY_TOPIC,
            version=version,
            fields={"topic": topic, **fields},
        )
    )


def registered(stage: Stage) -> tuple[FakeBroker, TopicConfig]:
    """Return a registered master and its topic."""
    broker = stage.broker()
    topic = TopicConfig(topic=stage.unique("topic"), topic_flags=2)
    broker.register(topic)
    return broker, topic


@pytest.mark.clause("ROUTE-DATA-003")
def test_an_unknown_topic_is_answered_with_code_17(stage: Stage) -> None:
    answer = stage.client.route(stage.unique("nobody_has_it"))
    expect(
        "ROUTE-DATA-003",
        found=answer.code,
        expected=ResponseCode.TOPIC_NOT_EXIST,
        what="code of the answer",
        transcript=stage.client.transcript,
    )


@pytest.mark.clause("ROUTE-DATA-003")
@pytest.mark.parametrize("fields", [{"topic": ""}, {}], ids=["empty", "absent"])
def test_a_topic_without_name_is_unknown(stage: Stage, fields: dict[str, str]) -> None:
    code = RequestCode.GET_ROUTEINTO_BY_TOPIC
    answer = stage.client.peer.request(Command(code=code, fields=fields))
    expect(
        "ROUTE-DATA-003",
        found=answer.code,
        expected=ResponseCode.TOPIC_NOT_EXIST,
        what="code of the answer",
        transcript=stage.client.transcript,
    )


@pytest.mark.clause("ROUTE-DATA-004")
@pytest.mark.parametrize("version", [0, V4_9_3, V4_9_4, 10_000])
def test_broker_ids_are_bare(stage: Stage, version: int) -> None:
    broker, topic = registered(stage)
    body = raw_route(stage, topic.topic, version).body
    expect(
        "ROUTE-DATA-004",
        found=b'"brokerAddrs":{0:"%s"}' % broker.identity.address.encode() in body,
        expected=True,
        what="the key 0 of brokerAddrs has no quotes",
        transcript=stage.client.transcript,
    )


@pytest.mark.clause("ROUTE-DATA-005")
@pytest.mark.parametrize("version", [0, V4_9_3])
def test_broker_ids_are_bare_for_an_old_client(stage: Stage, version: int) -> None:
    broker, topic = registered(stage)
    body = raw_route(stage, topic.topic, version).body
    expect(
        "ROUTE-DATA-005",
        found=b'"brokerAddrs":{0:"%s"}' % broker.identity.address.encode() in body,
        expected=True,
        what="the key 0 of brokerAddrs has no quotes",
        transcript=stage.client.transcript,
    )


@pytest.mark.clause("ROUTE-DATA-006")
@pytest.mark.parametrize(
    ("version", "fields"),
    [(V4_9_4, {}), (10_000, {}), (0, {"acceptStandardJsonOnly": "true"})],
    ids=["4.9.4", "newest", "asked for"],
)
def test_broker_ids_are_quoted_for_a_new_client(
    stage: Stage, version: int, fields: dict[str, str]
) -> None:
    broker, topic = registered(stage)
    body = raw_route(stage, topic.topic, version, **fields).body
    route = json.loads(body)
    expect(
        "ROUTE-DATA-006",
        found=route["brokerDatas"][0]["brokerAddrs"],
        expected={"0": broker.identity.address},
        what="brokerAddrs, read as plain JSON",
        transcript=stage.client.transcript,
    )


@pytest.mark.clause("ROUTE-DATA-007")
def test_flags_are_called_topic_syn_flag(stage: Stage) -> None:
    _, topic = registered(stage)
    expect(
        "ROUTE-DATA-007",
        found=b'"topicSynFlag":2' in raw_route(stage, topic.topic).body,
        expected=True,
        what="topicSynFlag is the topic's flags",
        transcript=stage.client.transcript,
    )


@pytest.mark.clause("ROUTE-DATA-008")
def test_flags_are_called_topic_sys_flag(stage: Stage) -> None:
    _, topic = registered(stage)
    expect(
        "ROUTE-DATA-008",
        found=b'"topicSysFlag":2' in raw_route(stage, topic.topic).body,
        expected=True,
        what="topicSysFlag is the topic's flags",
        transcript=stage.client.transcript,
    )


@pytest.mark.clause("ROUTE-DATA-009")
def test_a_route_has_no_nulls(stage: Stage) -> None:
    _, topic = registered(stage)
    body = raw_route(stage, topic.topic).body
    expect(
        "ROUTE-DATA-009",
        found=(b"null" in body, b"orderTopicConf" in body),
        expected=(False, False),
        what="body has null, body has orderTopicConf",
        transcript=stage.client.transcript,
    )


@pytest.mark.clause("ROUTE-DATA-010")
def test_filter_servers_are_listed_until_a_registration_without(stage: Stage) -> None:
    broker, topic = registered(stage)
    servers = ("127.0.0.1:7001", "127.0.0.1:7002")
    broker.register(topic, filter_servers=servers)
    listed = stage.route(topic.topic)
    broker.register(topic)
    cleared = stage.route(topic.topic)
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
        transcript=stage.client.transcript,
    )


@pytest.mark.clause("ROUTE-DATA-011")
def test_registering_often_gives_one_queue_data(stage: Stage) -> None:
    broker, topic = registered(stage)
    for _ in range(3):
        broker.register(topic)
    route = stage.route(topic.topic)
    expect(
        "ROUTE-DATA-011",
        found=[q.broker_name for q in route.queue_datas] if route else None,
        expected=[broker.name],
        what="broker names in the queue data",
        transcript=stage.client.transcript,
    )


@pytest.mark.clause("ROUTE-REG-022")
def test_a_binary_header_asks_for_a_route_as_well(stage: Stage) -> None:
    broker, topic = registered(stage)
    answer = stage.client.peer.request(
        Command(
            code=RequestCode.GET_ROUTEINTO_BY_TOPIC,
            fields={"topic": topic.topic},
            serialize_type=SerializeType.ROCKETMQ,
        )
    )
    expect(
        "ROUTE-REG-022",
        found=(answer.code, broker.identity.address.encode() in answer.body),
        expected=(ResponseCode.SUCCESS, True),
        what="code, address is in the body",
        transcript=stage.client.transcript,
    )
