"""Name server of 5.x: the route of one topic, and the brokers of one name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from conformance.harness.client.client import (
    Client,
    body_of,
    json_body,
    require_success,
)
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_code,
    expect_fields,
)
from conformance.harness.targets.target import Target
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode


def register_topic(namesrv: Client, topic: str, *broker_names: str) -> Command:
    """Register *topic* as brokers do that have it; without a name send no body."""
    queues = [
        {
            "brokerName": name,
            "perm": 6,
            "readQueueNums": 2,
            "writeQueueNums": 3,
            "topicSysFlag": 0,
        }
        for name in broker_names
    ]
    route = {"queueDatas": queues, "brokerDatas": [], "filterServerTable": {}}
    body = json_body(route) if queues else b""
    code = RequestCode.REGISTER_TOPIC_IN_NAMESRV
    return namesrv.invoke(code, {"topic": topic}, body)


def expect_no_route(clause: str, namesrv: Client, topic: str) -> None:
    """Fail *clause* if *topic* has a route."""
    expect_code(
        clause,
        namesrv.invoke(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": topic}),
        ResponseCode.TOPIC_NOT_EXIST,
        namesrv.transcript,
    )


@pytest.mark.clause("ROUTE-SINGLETOPIC-001")
@pytest.mark.usefixtures("registered_broker")
def test_a_single_topic_has_a_route(
    namesrv: Client, target: Target, unique: Callable[[str], str]
) -> None:
    topic = unique("single")
    require_success(register_topic(namesrv, topic, target.broker_name))
    route = namesrv.invoke(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": topic})
    expect_code("ROUTE-SINGLETOPIC-001", route, 0, namesrv.transcript)
    found = body_of(route)
    assert isinstance(found, Mapping)
    (queues,) = found["queueDatas"]
    expect_fields(
        "ROUTE-SINGLETOPIC-001",
        found=queues,
        expected={
            "brokerName": target.broker_name,
            "perm": 6,
            "readQueueNums": 2,
            "writeQueueNums": 3,
        },
        transcript=namesrv.transcript,
    )
    require_success(
        namesrv.invoke(RequestCode.DELETE_TOPIC_IN_NAMESRV, {"topic": topic})
    )


@pytest.mark.clause("ROUTE-SINGLETOPIC-002")
def test_a_single_topic_of_an_unknown_broker_has_no_route(
    namesrv: Client, unique: Callable[[str], str]
) -> None:
    topic = unique("single")
    response = register_topic(namesrv, topic, unique("broker"))
    expect_code("ROUTE-SINGLETOPIC-002", response, 0, namesrv.transcript)
    expect_no_route("ROUTE-SINGLETOPIC-002", namesrv, topic)


@pytest.mark.clause("ROUTE-SINGLETOPIC-003")
def test_a_single_topic_without_queues_has_no_route(
    namesrv: Client, unique: Callable[[str], str]
) -> None:
    topic = unique("single")
    response = register_topic(namesrv, topic)
    expect_code("ROUTE-SINGLETOPIC-003", response, 0, namesrv.transcript)
    expect_no_route("ROUTE-SINGLETOPIC-003", namesrv, topic)


def members(namesrv: Client, cluster: str, broker_name: str) -> dict[int, str]:
    """Return the addresses of the brokers of one name, by broker id."""
    fields = {"clusterName": cluster, "brokerName": broker_name}
    found = body_of(namesrv.invoke(RequestCode.GET_BROKER_MEMBER_GROUP, fields))
    assert isinstance(found, Mapping)
    # The form of the keys is the subject of WIRE-FASTJSON-001.
    return {
        int(key): value
        for key, value in found["brokerMemberGroup"]["brokerAddrs"].items()
    }


@pytest.mark.read_only
@pytest.mark.clause("ROUTE-MEMBERGROUP-001", "ROUTE-MEMBERGROUP-002")
@pytest.mark.usefixtures("registered_broker")
def test_the_brokers_of_a_name_are_returned(
    namesrv: Client, target: Target, unique: Callable[[str], str]
) -> None:
    own = members(namesrv, target.cluster, target.broker_name)
    expect(
        "ROUTE-MEMBERGROUP-001",
        found=own.get(0),
        expected=str(target.admin or target.broker),
        what="address of the master",
        transcript=namesrv.transcript,
    )
    expect(
        "ROUTE-MEMBERGROUP-002",
        found=members(namesrv, target.cluster, unique("broker")),
        expected={},
        what="addresses of an unknown broker name",
        transcript=namesrv.transcript,
    )
