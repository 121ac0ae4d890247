"""Limits that administrators set to groups: forbidden topics, and cold data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from conformance.harness.client.client import (
    Client,
    consumer_data,
    require_success,
    subscription_data,
)
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_fields,
)
from conformance.harness.pytest_plugin.known_settings import need_reported
from conformance.messaging.stored_messages import mapping_of, send_bodies
from spec.wire.admin.later_requests import SUBSCRIPTION_FORBIDDEN
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode


@pytest.fixture
def member(broker: Client, topic: str, known_group: str) -> Client:
    """Return the connection of a member of the group, with a message to pull."""
    consumer = consumer_data(
        group=known_group, subscriptions=[subscription_data(topic=topic)]
    )
    require_success(
        broker.heartbeat(client_id=f"{known_group}@1", consumers=[consumer])
    )
    send_bodies(broker, topic, [b"a"])
    return broker


def forbidden(
    member: Client, topic: str, group: str, *, readable: bool | None = None
) -> Mapping[str, Any]:
    """Set whether *group* may read *topic*, or only return it."""
    fields = {"group": group, "topic": topic, "readable": readable}
    response = member.invoke(RequestCode.UPDATE_AND_GET_GROUP_FORBIDDEN, fields)
    return mapping_of(response)


def pulled(member: Client, topic: str, group: str) -> tuple[int, str | None]:
    """Pull with the subscription of the heartbeat; code and forbiddenType."""
    response = member.pull(
        topic=topic, group=group, offset=0, system_flags=0, subscription=None
    )
    return response.code, response.fields.get("forbiddenType")


@pytest.mark.clause("ADMIN-FORBIDDEN-001")
def test_a_group_may_not_pull_a_forbidden_topic(
    member: Client, topic: str, known_group: str
) -> None:
    refused = int(ResponseCode.NO_PERMISSION), str(SUBSCRIPTION_FORBIDDEN)
    for readable, expected in ((False, refused), (True, (0, None))):
        forbidden(member, topic, known_group, readable=readable)
        expect(
            "ADMIN-FORBIDDEN-001",
            found=pulled(member, topic, known_group),
            expected=expected,
            what=f"code and forbiddenType after readable={str(readable).lower()}",
            transcript=member.transcript,
        )


@pytest.mark.clause("ADMIN-FORBIDDEN-002")
def test_a_topic_is_readable_until_it_is_forbidden(
    broker: Client, topic: str, known_group: str
) -> None:
    for readable in (True, False, False):
        expected = {"group": known_group, "topic": topic, "readable": readable}
        expect_fields(
            "ADMIN-FORBIDDEN-002",
            found=forbidden(broker, topic, known_group),
            expected=expected,
            transcript=broker.transcript,
        )
        forbidden(broker, topic, known_group, readable=False)


@pytest.mark.clause("ADMIN-FORBIDDEN-003")
def test_a_pull_with_a_subscription_is_not_forbidden(
    member: Client, topic: str, known_group: str
) -> None:
    forbidden(member, topic, known_group, readable=False)
    expect(
        "ADMIN-FORBIDDEN-003",
        found=member.pull(topic=topic, group=known_group, offset=0).code,
        expected=ResponseCode.SUCCESS,
        what="code",
        transcript=member.transcript,
    )


def cold_data(broker: Client) -> Mapping[str, Any]:
    """Return the thresholds of cold data."""
    return mapping_of(broker.invoke(RequestCode.GET_COLD_DATA_FLOW_CTR_INFO))


def set_thresholds(broker: Client, text: str) -> None:
    """Set thresholds, as lines of group=bytes."""
    code = RequestCode.UPDATE_COLD_DATA_FLOW_CTR_CONFIG
    require_success(broker.invoke(code, body=text.encode()))


def expect_thresholds(
    clause: str,
    broker: Client,
    groups: Sequence[str],
    expected: Sequence[int | None],
    when: str = "",
) -> None:
    """Fail *clause* unless *groups* have the *expected* thresholds."""
    table = cold_data(broker)["configTable"]
    expect(
        clause,
        found=tuple(map(table.get, groups)),
        expected=tuple(expected),
        what=f"thresholds of both groups{when}",
        transcript=broker.transcript,
    )


@pytest.mark.clause("ADMIN-COLDDATA-001", "ADMIN-COLDDATA-003")
def test_thresholds_are_listed_until_they_are_removed(
    broker: Client, group: str
) -> None:
    other = f"{group}_other"
    both = group, other
    set_thresholds(broker, f"{group}=1000\n{other}=2000\n")
    expect_thresholds("ADMIN-COLDDATA-001", broker, both, (1000, 2000))
    code = RequestCode.REMOVE_COLD_DATA_FLOW_CTR_CONFIG
    require_success(broker.invoke(code, body=group.encode()))
    when = " after removal of the first"
    expect_thresholds("ADMIN-COLDDATA-003", broker, both, (None, 2000), when)


@pytest.mark.clause("ADMIN-COLDDATA-002")
def test_text_for_a_threshold_is_ignored(broker: Client, group: str) -> None:
    other = f"{group}_other"
    set_thresholds(broker, f"{group}=many\n{other}=2000\n")
    expect_thresholds("ADMIN-COLDDATA-002", broker, (group, other), (None, 2000))


@pytest.mark.clause("ADMIN-COLDDATA-004")
def test_the_default_thresholds_are_those_of_the_settings(broker: Client) -> None:
    names = ("cgColdReadThreshold", "globalColdReadThreshold")
    settings = broker.broker_settings()
    need_reported(names, settings)
    found = cold_data(broker)
    expect(
        "ADMIN-COLDDATA-004",
        found={name: str(found.get(name)) for name in names},
        expected={name: settings[name] for name in names},
        what="thresholds",
        transcript=broker.transcript,
    )
