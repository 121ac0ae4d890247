"""Administration: offsets and half messages set right, filter servers, access."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import pytest

from conformance.harness.client.client import Client, require_success
from conformance.harness.client.peer_errors import NoResponseError
from conformance.harness.client.requests.invoker import FieldValue
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import (
    charged,
    expect,
    expect_code,
    expect_that,
)
from conformance.harness.pytest_plugin.fixtures import create_topic, unique_name
from conformance.harness.pytest_plugin.known_settings import need_settings
from conformance.harness.targets.target import Target
from conformance.messaging.stored_messages import (
    records_from,
    send_bodies,
)
from conformance.messaging.transactions.half import send_half
from spec.routing.route_data import decode_route
from spec.wire.bodies.admin_bodies import QueryCorrectionOffsetBody
from spec.wire.bodies.json_body import decode_body
from spec.wire.message.properties import decode_properties
from spec.wire.message.topic_names import HALF_TOPIC
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

LONG_MAX = 2**63 - 1


@pytest.mark.clause("OFFSET-CORRECTION-001", "OFFSET-CORRECTION-002")
def test_the_smallest_offset_of_all_groups(broker: Client, topic: str) -> None:
    send_bodies(broker, topic, [b"a", b"b", b"c"])
    groups = [unique_name("group") for _ in range(3)]
    for offset, group in enumerate(groups, 1):
        require_success(broker.update_group(group=group))
        require_success(broker.update_offset(group=group, topic=topic, offset=offset))
    leave_out = {"filterGroups": ",".join(groups[:2])}
    none: dict[str, str] = {}
    cases = (
        ("OFFSET-CORRECTION-001", none, 1, "of all groups"),
        ("OFFSET-CORRECTION-001", leave_out, 3, "without two groups"),
        ("OFFSET-CORRECTION-002", none, 3, "when nobody is left out again"),
    )
    for clause, fields, least, description in cases:
        expect(
            clause,
            found=smallest(broker, topic, **fields),
            expected={0: least},
            what=f"smallest offsets {description}, by queue",
            transcript=broker.transcript,
        )


def smallest(broker: Client, topic: str, **fields: str) -> dict[int, int]:
    """Return the smallest offsets of a topic's queues, by queue id."""
    response = broker.invoke(
        RequestCode.QUERY_CORRECTION_OFFSET,
        {"topic": topic, "compareGroup": "nobody", **fields},
    )
    return dict(
        decode_body(QueryCorrectionOffsetBody, require_success(response).body).offsets
    )


def smallest_beside(broker: Client, topic: str) -> dict[int, int]:
    """Return the smallest offsets where compareGroup is below the queue's min offset.

    The group has committed -1, so that no file need be deleted. Another has 2.
    """
    groups = [unique_name("group") for _ in range(2)]
    for offset, group in zip((-1, 2), groups, strict=True):
        require_success(broker.update_group(group=group))
        require_success(broker.update_offset(group=group, topic=topic, offset=offset))
    return smallest(broker, topic, compareGroup=groups[0])


@pytest.mark.clause("OFFSET-CORRECTION-003")
def test_a_compared_group_has_no_effect(broker: Client, topic: str) -> None:
    expect(
        "OFFSET-CORRECTION-003",
        found=smallest_beside(broker, topic),
        expected={0: 2},
        what="smallest offsets, by queue",
        transcript=broker.transcript,
    )


@pytest.mark.clause("OFFSET-CORRECTION-004")
def test_a_compared_group_behind_all_others_is_reported(
    broker: Client, topic: str
) -> None:
    expect(
        "OFFSET-CORRECTION-004",
        found=smallest_beside(broker, topic),
        expected={0: LONG_MAX},
        what="smallest offsets, by queue",
        transcript=broker.transcript,
    )


@pytest.mark.clause("TXN-RESUME-001")
def test_a_half_message_is_asked_about_anew(
    broker: Client, topic: str, group: str
) -> None:
    half = send_half(broker, topic, group=group)
    fields = {"msgId": half.response.fields["msgId"]}
    response = broker.invoke(RequestCode.RESUME_CHECK_HALF_MESSAGE, fields)
    expect_code("TXN-RESUME-001", response, ResponseCode.SUCCESS, broker.transcript)
    # The topic of half messages cannot be pulled before the broker's first check.
    anew = [
        decode_properties(one.properties)
        for one in records_from(broker, half.commit_log_offset)
        if one.topic == HALF_TOPIC
        and one.queue_offset > half.queue_offset
        and half.unique_key in one.properties
    ]
    expect(
        "TXN-RESUME-001",
        found=[one.get("TRANSACTION_CHECK_TIMES") for one in anew],
        expected=["0"],
        what="TRANSACTION_CHECK_TIMES of what was stored again",
        transcript=broker.transcript,
    )


@pytest.mark.clause("ADMIN-FILTER-001")
def test_a_filter_server_is_in_the_route_while_it_is_there(
    target: Target, broker: Client, namesrv: Client, topic: str
) -> None:
    def filter_servers_of_route() -> list[str]:
        # A broker registers immediately when a topic is created.
        create_topic(target, unique_name("topic"))
        body = require_success(namesrv.route(topic)).body
        with charged("ADMIN-FILTER-001", namesrv.transcript):
            route = decode_route(body)
        return [name for names in route.filter_servers.values() for name in names]

    address = unique_name("127.0.0.1:1")
    with broker.another() as filter_server:
        response = filter_server.invoke(
            RequestCode.REGISTER_FILTER_SERVER, {"filterServerAddr": address}
        )
        fields = require_success(response).fields  # there may be others
        expect(
            "ADMIN-FILTER-001",
            found={name: fields[name] for name in ("brokerId", "brokerName")},
            expected={"brokerId": "0", "brokerName": target.broker_name},
            what="fields of the answer",
            transcript=filter_server.transcript,
        )
        wait_until(
            lambda: address in filter_servers_of_route(),
            what="the filter server is in the route",
        )
    wait_until(
        lambda: address not in filter_servers_of_route(),
        what="it is gone from the route",
    )


ACCESS_IS_OFF = {"aclEnable": "false"}
CHANGES: Mapping[RequestCode, tuple[dict[str, FieldValue], ResponseCode]] = {
    RequestCode.UPDATE_AND_CREATE_ACL_CONFIG: (
        {"accessKey": "somebody", "secretKey": "12345678", "admin": False},
        ResponseCode.UPDATE_AND_CREATE_ACL_CONFIG_FAILED,
    ),
    RequestCode.DELETE_ACL_CONFIG: (
        {"accessKey": "somebody"},
        ResponseCode.DELETE_ACL_CONFIG_FAILED,
    ),
    RequestCode.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG: (
        {"globalWhiteAddrs": "127.0.0.1"},
        ResponseCode.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG_FAILED,
    ),
}


@pytest.mark.clause("ADMIN-ACL-001")
@pytest.mark.parametrize("code", CHANGES, ids=lambda code: code.name)
def test_access_cannot_be_changed_while_it_is_off(
    target: Target, broker: Client, code: RequestCode
) -> None:
    # Otherwise the requests change the access of an operator's cluster.
    need_settings(target, ACCESS_IS_OFF)
    fields, refused = CHANGES[code]
    expect_code(
        "ADMIN-ACL-001", broker.invoke(code, fields), refused, broker.transcript
    )


@pytest.mark.clause("ADMIN-ACL-002")
@pytest.mark.parametrize(
    "code",
    [
        RequestCode.GET_BROKER_CLUSTER_ACL_INFO,
        RequestCode.GET_BROKER_CLUSTER_ACL_CONFIG,
    ],
    ids=lambda code: code.name,
)
def test_access_is_not_told_while_it_is_off(
    target: Target, broker: Client, code: RequestCode
) -> None:
    need_settings(target, ACCESS_IS_OFF)
    with suppress(NoResponseError):
        response = broker.invoke(code, timeout_s=1.0)
        expect_that(
            "ADMIN-ACL-002",
            False,
            found=f"a response with code {response.code}",
            expected="no response",
            transcript=broker.transcript,
        )
    found = require_success(broker.broker_config()).code
    expect(
        "ADMIN-ACL-002",
        found=found,
        expected=0,
        what="the next request's code",
        transcript=broker.transcript,
    )
