"""Topics and groups: created as a list in one request, read one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from conformance.harness.client.client import (
    Client,
    json_body,
    require_success,
)
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_code,
    expect_fields,
)
from conformance.messaging.stored_messages import mapping_of
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

INVALID = "in valid"
"""Suffix that makes a name invalid: it has a space."""
COUNTS = ("writeQueueNums", "readQueueNums", "perm")


def topic_config(
    name: str, *, write: int = 3, read: int = 2, perm: int = 6
) -> dict[str, object]:
    """Return a topic as the list in a request has it."""
    return {
        "topicName": name,
        "writeQueueNums": write,
        "readQueueNums": read,
        "perm": perm,
        "topicFilterType": "SINGLE_TAG",
        "topicSysFlag": 0,
        "order": False,
        "attributes": {},
    }


def create_topics(broker: Client, *topics: Mapping[str, object]) -> Command:
    """Create all *topics* in one request."""
    body = json_body({"topicConfigList": list(topics)})
    return broker.invoke(RequestCode.UPDATE_AND_CREATE_TOPIC_LIST, body=body)


def create_groups(broker: Client, *groups: Mapping[str, object]) -> Command:
    """Create all *groups* in one request."""
    body = json_body({"groupConfigList": list(groups)})
    code = RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST
    return broker.invoke(code, body=body)


def topics_of(broker: Client) -> Mapping[str, Any]:
    """Return the broker's topics by name."""
    table: Mapping[str, Any] = mapping_of(broker.all_topic_config())["topicConfigTable"]
    return table


def groups_of(broker: Client) -> Mapping[str, Any]:
    """Return the broker's groups by name."""
    table: Mapping[str, Any] = mapping_of(broker.all_groups())["subscriptionGroupTable"]
    return table


@pytest.mark.clause("ADMIN-TOPICLIST-001")
def test_all_topics_of_a_list_are_created(
    broker: Client, namesrv: Client, unique: Callable[[str], str]
) -> None:
    wanted = {
        unique("listed"): (3, 2, 6),
        unique("listed"): (1, 1, 4),
        unique("listed"): (5, 8, 2),
    }
    configs = [
        topic_config(name, write=write, read=read, perm=perm)
        for name, (write, read, perm) in wanted.items()
    ]
    require_success(create_topics(broker, *configs))
    table = topics_of(broker)
    expect(
        "ADMIN-TOPICLIST-001",
        found={
            name: tuple(table.get(name, {}).get(key) for key in COUNTS)
            for name in wanted
        },
        expected=wanted,
        what=f"{', '.join(COUNTS)} by topic",
        transcript=broker.transcript,
    )
    for name in wanted:
        namesrv.wait_for_route(name)


@pytest.mark.clause("ADMIN-TOPICLIST-002")
@pytest.mark.parametrize("bad", [INVALID, "TBW102"])
def test_a_list_with_a_bad_topic_creates_none(
    broker: Client, unique: Callable[[str], str], bad: str
) -> None:
    good = unique("listed")
    response = create_topics(broker, topic_config(good), topic_config(bad))
    expected = ResponseCode.INVALID_PARAMETER
    expect_code("ADMIN-TOPICLIST-002", response, expected, broker.transcript)
    found = good in topics_of(broker)
    expect(
        "ADMIN-TOPICLIST-002",
        found=found,
        expected=False,
        what="the other exists",
        transcript=broker.transcript,
    )


@pytest.mark.clause("ADMIN-TOPICLIST-003")
def test_a_list_with_an_unchanged_topic_creates_none(
    broker: Client, unique: Callable[[str], str]
) -> None:
    old, new = unique("listed"), unique("listed")
    require_success(create_topics(broker, topic_config(old)))
    wait_until(lambda: old in topics_of(broker), what=f"{old} is listed")
    response = create_topics(broker, topic_config(new), topic_config(old))
    expected = ResponseCode.SUCCESS
    expect_code("ADMIN-TOPICLIST-003", response, expected, broker.transcript)
    found = new in topics_of(broker)
    expect(
        "ADMIN-TOPICLIST-003",
        found=found,
        expected=False,
        what="the new one exists",
        transcript=broker.transcript,
    )


@pytest.mark.clause("ADMIN-GROUPLIST-001", "ADMIN-GROUP-005")
def test_all_groups_of_a_list_are_created(
    broker: Client, unique: Callable[[str], str]
) -> None:
    wanted: dict[str, dict[str, object]] = {
        unique("group"): {"retryMaxTimes": 3, "consumeEnable": False},
        unique("group"): {"retryMaxTimes": 5, "consumeEnable": True},
    }
    groups = [{"groupName": name, **more} for name, more in wanted.items()]
    require_success(create_groups(broker, *groups))
    table = groups_of(broker)
    for name, settings in wanted.items():
        expected = {"groupName": name, **settings}
        expect_fields(
            "ADMIN-GROUPLIST-001",
            found=table.get(name, {}),
            expected=expected,
            transcript=broker.transcript,
        )
        fields = {"group": name}
        response = broker.invoke(RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG, fields)
        expect_fields(
            "ADMIN-GROUP-005",
            found=mapping_of(response),
            expected=expected,
            transcript=broker.transcript,
        )


@pytest.mark.clause("ADMIN-GROUPLIST-002")
def test_a_list_creates_a_group_with_an_invalid_name(
    broker: Client, unique: Callable[[str], str]
) -> None:
    bad = f"{unique('group')} {INVALID}"
    require_success(create_groups(broker, {"groupName": bad}))
    found = bad in groups_of(broker)
    expect(
        "ADMIN-GROUPLIST-002",
        found=found,
        expected=True,
        what="the group exists",
        transcript=broker.transcript,
    )


@pytest.mark.clause("ADMIN-GROUPLIST-003")
def test_a_list_with_an_invalid_group_creates_none(
    broker: Client, unique: Callable[[str], str]
) -> None:
    good = unique("group")
    response = create_groups(broker, {"groupName": good}, {"groupName": INVALID})
    expected = ResponseCode.INVALID_PARAMETER
    expect_code("ADMIN-GROUPLIST-003", response, expected, broker.transcript)
    found = good in groups_of(broker)
    expect(
        "ADMIN-GROUPLIST-003",
        found=found,
        expected=False,
        what="the other exists",
        transcript=broker.transcript,
    )


@pytest.mark.clause("ADMIN-TOPIC-008")
def test_one_topic_is_returned_as_in_the_table(broker: Client, topic: str) -> None:
    found = mapping_of(broker.invoke(RequestCode.GET_TOPIC_CONFIG, {"topic": topic}))
    expect_fields(
        "ADMIN-TOPIC-008",
        found=found,
        expected=topics_of(broker)[topic],
        transcript=broker.transcript,
    )


@pytest.mark.clause("ADMIN-TOPIC-009")
def test_an_unknown_topic_is_not_returned(
    broker: Client, unique: Callable[[str], str]
) -> None:
    fields = {"topic": unique("unknown")}
    response = broker.invoke(RequestCode.GET_TOPIC_CONFIG, fields)
    expected = ResponseCode.TOPIC_NOT_EXIST
    expect_code("ADMIN-TOPIC-009", response, expected, broker.transcript)


@pytest.mark.clause("ADMIN-GROUP-006")
@pytest.mark.settings(autoCreateSubscriptionGroup="true")
def test_an_unknown_group_is_created(broker: Client, group: str) -> None:
    fields = {"group": group}
    found = mapping_of(broker.invoke(RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG, fields))
    expect_fields(
        "ADMIN-GROUP-006",
        found=found,
        expected={"groupName": group, "retryMaxTimes": 16, "consumeEnable": True},
        transcript=broker.transcript,
    )
    exists = group in groups_of(broker)
    expect(
        "ADMIN-GROUP-006",
        found=exists,
        expected=True,
        what="the group exists",
        transcript=broker.transcript,
    )
