"""Administration: offsets and half messages set right, filter servers, access."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from conformance.harness.asks.asker import FieldValue
from conformance.harness.deadline import wait_until
from conformance.harness.fixtures import create_topic, unique_name
from conformance.harness.peer import NoAnswerError
from conformance.harness.speaker import Speaker, succeeded
from conformance.harness.target import Target
from conformance.harness.verdicts import expect, expect_code
from conformance.messaging.half import send_half
from conformance.messaging.reading import (
    records_from,
    send_bodies,
)
from spec.routing.route_data import decode_route
from spec.wire.admin_bodies import CorrectedOffsets
from spec.wire.json_body import decode_body
from spec.wire.properties import decode_properties
from spec.wire.request_code import RequestCode
from spec.wire.response_code import ResponseCode
from spec.wire.transactions import HALF_TOPIC


@pytest.mark.clause("OFFSET-CORRECTION-001", "OFFSET-CORRECTION-002")
def test_the_smallest_offset_of_all_groups(broker: Speaker, topic: str) -> None:
    send_bodies(broker, topic, [b"a", b"b", b"c"])
    groups = [unique_name("group") for _ in range(3)]
    for offset, group in enumerate(groups, 1):
        succeeded(broker.update_group(group=group))
        succeeded(broker.update_offset(group=group, topic=topic, offset=offset))
    leave_out = {"filterGroups": ",".join(groups[:2])}
    none: dict[str, str] = {}
    asked = (
        ("OFFSET-CORRECTION-001", none, 1, "of all groups"),
        ("OFFSET-CORRECTION-001", leave_out, 3, "without two groups"),
        ("OFFSET-CORRECTION-002", none, 3, "when nobody is left out again"),
    )
    for clause, fields, least, says in asked:
        expect(
            clause,
            found=smallest(broker, topic, **fields),
            expected={0: least},
            what=f"smallest offsets {says}, by queue",
            transcript=broker.transcript,
        )


def smallest(broker: Speaker, topic: str, **fields: str) -> dict[int, int]:
    """Ask for the smallest offsets of a topic's queues."""
    answer = broker.ask(
        RequestCode.QUERY_CORRECTION_OFFSET,
        {"topic": topic, "compareGroup": "nobody", **fields},
    )
    return dict(decode_body(CorrectedOffsets, succeeded(answer).body).offsets)


@pytest.mark.clause("TXN-RESUME-001")
def test_a_half_message_is_asked_about_anew(
    broker: Speaker, topic: str, group: str
) -> None:
    half = send_half(broker, topic, group=group)
    fields = {"msgId": half.answer.fields["msgId"]}
    answer = broker.ask(RequestCode.RESUME_CHECK_HALF_MESSAGE, fields)
    expect_code("TXN-RESUME-001", answer, ResponseCode.SUCCESS, broker.transcript)
    # Nobody can pull the topic of half messages before the broker has looked at it.
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
    target: Target, broker: Speaker, namesrv: Speaker, topic: str
) -> None:
    def told() -> list[str]:
        # A broker registers at once when a topic is created.
        create_topic(target, unique_name("topic"))
        route = decode_route(succeeded(namesrv.route(topic)).body)
        return [name for names in route.filter_servers.values() for name in names]

    address = unique_name("127.0.0.1:1")
    with Speaker.connect(broker.address) as filter_server:
        answer = filter_server.ask(
            RequestCode.REGISTER_FILTER_SERVER, {"filterServerAddr": address}
        )
        expect(
            "ADMIN-FILTER-001",
            found=dict(succeeded(answer).fields),
            expected={"brokerId": "0", "brokerName": target.broker_name},
            what="fields of the answer",
            transcript=filter_server.transcript,
        )
        wait_until(lambda: address in told(), what="the filter server is in the route")
    wait_until(lambda: address not in told(), what="it is gone from the route")


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
    broker: Speaker, code: RequestCode
) -> None:
    fields, refused = CHANGES[code]
    expect_code("ADMIN-ACL-001", broker.ask(code, fields), refused, broker.transcript)


@pytest.mark.clause("ADMIN-ACL-002")
@pytest.mark.parametrize(
    "code",
    [
        RequestCode.GET_BROKER_CLUSTER_ACL_INFO,
        RequestCode.GET_BROKER_CLUSTER_ACL_CONFIG,
    ],
    ids=lambda code: code.name,
)
def test_access_is_not_told_while_it_is_off(broker: Speaker, code: RequestCode) -> None:
    with pytest.raises(NoAnswerError):
        broker.ask(code, timeout_s=1.0)
    found = succeeded(broker.broker_config()).code
    expect("ADMIN-ACL-002", found=found, expected=0, what="the next request's code")
