"""Administrators' requests about lite topics."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.harness.client.client import require_success
from conformance.harness.client.requests.invoker import FieldValue
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_code,
    expect_fields,
)
from conformance.harness.pytest_plugin.fixtures import create_group, create_topic
from conformance.harness.targets.target import Target
from conformance.messaging.lite.conftest import EXPIRATION_MIN
from conformance.messaging.lite.requests import LiteClient
from conformance.messaging.stored_messages import mapping_of
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

TOPIC_FIELD = {
    RequestCode.GET_PARENT_TOPIC_INFO: "topic",
    RequestCode.GET_LITE_TOPIC_INFO: "parentTopic",
}
OF_GROUPS = (
    RequestCode.GET_LITE_CLIENT_INFO,
    RequestCode.GET_LITE_GROUP_INFO,
    RequestCode.TRIGGER_LITE_DISPATCH,
)


@pytest.mark.clause("LITE-INFO-001", "LITE-INFO-003")
def test_a_parent_topic_has_groups_and_lite_topics(lite: LiteClient) -> None:
    lite.send("a", b"0")
    lite.send("b", b"0")
    response = lite.query(RequestCode.GET_PARENT_TOPIC_INFO, topic=lite.parent)
    expect_fields(
        "LITE-INFO-001",
        found=mapping_of(require_success(response)),
        expected={
            "topic": lite.parent,
            "ttl": EXPIRATION_MIN,
            "groups": [lite.group],
            "liteTopicCount": 2,
        },
        transcript=lite.broker.transcript,
    )
    whole = mapping_of(require_success(lite.query(RequestCode.GET_BROKER_LITE_INFO)))
    expect_fields(
        "LITE-INFO-003",
        found={
            "topicMeta": whole["topicMeta"].get(lite.parent),
            "groupMeta": whole["groupMeta"].get(lite.parent),
        },
        expected={"topicMeta": EXPIRATION_MIN, "groupMeta": [lite.group]},
        transcript=lite.broker.transcript,
    )


@pytest.mark.clause("LITE-INFO-002")
def test_a_lite_topic_has_subscribers_and_offsets(lite: LiteClient) -> None:
    lite.subscribe("a")
    lite.send("a", b"0", b"1")
    for lite_topic, subscribers, end in (
        ("a", [{"clientId": lite.client_id, "group": lite.group}], 2),
        ("unknown", [], 0),
    ):
        response = lite.query(
            RequestCode.GET_LITE_TOPIC_INFO,
            parentTopic=lite.parent,
            liteTopic=lite_topic,
        )
        found = mapping_of(require_success(response))
        expect_fields(
            "LITE-INFO-002",
            found={**found, **found["topicOffset"]},
            expected={"subscriber": subscribers, "minOffset": 0, "maxOffset": end},
            transcript=lite.broker.transcript,
        )


@pytest.mark.clause("LITE-INFO-004")
def test_a_group_has_offsets_and_lag_of_a_lite_topic(lite: LiteClient) -> None:
    lite.send("a", b"0", b"1", b"2")
    lite.subscribe("a")
    popped = require_success(lite.response(maxMsgNum=1))
    require_success(lite.acknowledge("a", 0, popped))
    response = lite.query(
        RequestCode.GET_LITE_GROUP_INFO, group=lite.group, liteTopic="a"
    )
    found = mapping_of(require_success(response))
    expect_fields(
        "LITE-INFO-004",
        found={**found, **found.get("liteTopicOffsetWrapper", {})},
        expected={"totalLagCount": 2, "brokerOffset": 3, "consumerOffset": 1},
        transcript=lite.broker.transcript,
    )
    none = lite.query(
        RequestCode.GET_LITE_GROUP_INFO, group=lite.group, liteTopic="unknown"
    )
    lag = mapping_of(require_success(none)).get("totalLagCount")
    expect(
        "LITE-INFO-004",
        found=lag,
        expected=-1,
        what="totalLagCount of nothing",
        transcript=lite.broker.transcript,
    )


@pytest.mark.clause("LITE-INFO-005")
@pytest.mark.parametrize("code", TOPIC_FIELD)
def test_questions_about_other_topics_are_refused(
    lite: LiteClient, light: Target, unique: Callable[[str], str], code: RequestCode
) -> None:
    plain = create_topic(light, unique("plain"))
    for topic, refusal in (
        (unique("unknown"), ResponseCode.TOPIC_NOT_EXIST),
        (plain, ResponseCode.INVALID_PARAMETER),
    ):
        fields: dict[str, FieldValue] = {TOPIC_FIELD[code]: topic, "liteTopic": "a"}
        response = lite.query(code, **fields)
        expect_code("LITE-INFO-005", response, refusal, lite.broker.transcript)


@pytest.mark.clause("LITE-INFO-005", "LITE-TRIGGER-001")
@pytest.mark.parametrize("code", OF_GROUPS)
def test_questions_about_other_groups_are_refused(
    lite: LiteClient, light: Target, unique: Callable[[str], str], code: RequestCode
) -> None:
    response = lite.query(
        code,
        parentTopic=lite.parent,
        group=create_group(light, unique("plain")),
        clientId=lite.client_id,
    )
    expect_code(
        "LITE-INFO-005",
        response,
        ResponseCode.INVALID_PARAMETER,
        lite.broker.transcript,
    )
    lite.subscribe("a")
    for client_id in (None, lite.client_id):
        triggered = lite.query(
            RequestCode.TRIGGER_LITE_DISPATCH, group=lite.group, clientId=client_id
        )
        expect_code(
            "LITE-TRIGGER-001",
            triggered,
            ResponseCode.SUCCESS,
            lite.broker.transcript,
        )
