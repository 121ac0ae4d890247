"""Administration: subscription groups, and the offsets of deleted ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.harness.client.client import (
    Client,
    consumer_data,
    json_body,
    require_success,
)
from conformance.harness.client.requests.admin import GROUP_DEFAULTS
from conformance.harness.pytest_plugin.expectations import expect, expect_fields
from conformance.messaging.admin.data_version import version_in
from conformance.messaging.stored_messages import mapping_of, offset_of
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

DEFAULT_RETRIES = 16
"""Retries of a group that a broker creates on demand."""


@pytest.mark.clause("ADMIN-GROUP-001")
def test_a_group_is_listed_with_its_settings(broker: Client, group: str) -> None:
    settings = {
        "consumeEnable": True,
        "consumeFromMinEnable": False,
        "consumeBroadcastEnable": False,
        "retryQueueNums": 3,
        "retryMaxTimes": 5,
        "brokerId": 2,
        "whichBrokerWhenConsumeSlowly": 3,
        "notifyConsumerIdsChangedEnable": False,
    }
    changed = {
        name: not value if isinstance(value, bool) else value + 1
        for name, value in settings.items()
    }
    for wanted in (settings, changed):
        require_success(broker.update_group(group=group, settings=wanted))
        table = mapping_of(broker.all_groups())["subscriptionGroupTable"]
        expect_fields(
            "ADMIN-GROUP-001",
            found=table.get(group, {}),
            expected={"groupName": group, **wanted},
            transcript=broker.transcript,
        )


@pytest.mark.clause("ADMIN-GROUP-001")
def test_a_setting_that_a_group_leaves_out_has_its_default(
    broker: Client, group: str
) -> None:
    code = RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP
    require_success(broker.invoke(code, body=json_body({"groupName": group})))
    table = mapping_of(broker.all_groups())["subscriptionGroupTable"]
    expect_fields(
        "ADMIN-GROUP-001",
        found=table.get(group, {}),
        expected={"groupName": group, **GROUP_DEFAULTS},
        transcript=broker.transcript,
    )


@pytest.mark.clause("PULL-GROUP-005")
@pytest.mark.settings(autoCreateSubscriptionGroup="true")
@pytest.mark.parametrize("by", ["pull", "heartbeat", "send-back"])
def test_an_unknown_group_is_listed_after_its_first_request(
    broker: Client, topic: str, group: str, by: str
) -> None:
    sent = require_success(broker.send_message(topic=topic))
    broker.wait_for_max_offset(topic=topic, offset=1)
    if by == "pull":
        response = broker.pull(topic=topic, offset=0, group=group)
    elif by == "heartbeat":
        consumers = [consumer_data(group=group)]
        response = broker.heartbeat(client_id=f"{group}@1", consumers=consumers)
    else:
        response = broker.send_back(
            group=group,
            commit_log_offset=offset_of(sent),
            origin_topic=topic,
            max_reconsume_times=16,
        )
    table = mapping_of(broker.all_groups())["subscriptionGroupTable"]
    expect(
        "PULL-GROUP-005",
        found=(response.code, group in table),
        expected=(ResponseCode.SUCCESS, True),
        what=f"code of the {by}, and whether the group is listed",
        transcript=broker.transcript,
    )
    expect_fields(
        "PULL-GROUP-005",
        found=table[group],
        expected={"groupName": group, **GROUP_DEFAULTS},
        transcript=broker.transcript,
    )


@pytest.mark.clause("ADMIN-GROUP-009")
def test_each_change_of_groups_has_a_new_version(broker: Client, group: str) -> None:
    before = version_in(mapping_of(broker.all_groups()))
    for times in (5, 6):
        settings = {"retryMaxTimes": times}
        require_success(broker.update_group(group=group, settings=settings))
        after = version_in(mapping_of(broker.all_groups()))
        expect(
            "ADMIN-GROUP-009",
            found=(after[0] > before[0], after[1] >= before[1] > 0),
            expected=(True, True),
            what="a higher counter, and a time that is not earlier",
            transcript=broker.transcript,
        )
        before = after


@pytest.mark.clause("ADMIN-GROUP-007")
def test_a_deleted_group_is_not_listed(broker: Client, group: str) -> None:
    require_success(broker.update_group(group=group))
    require_success(broker.delete_group(group=group))
    table = mapping_of(broker.all_groups())["subscriptionGroupTable"]
    expect(
        "ADMIN-GROUP-007",
        found=group in table,
        expected=False,
        what="still listed",
        transcript=broker.transcript,
    )


@pytest.mark.clause("ADMIN-GROUP-008")
@pytest.mark.settings(autoCreateSubscriptionGroup="true")
def test_a_deleted_group_is_listed_with_default_settings(
    broker: Client, group: str
) -> None:
    require_success(broker.update_group(group=group, settings={"retryMaxTimes": 5}))
    require_success(broker.delete_group(group=group))
    table = mapping_of(broker.all_groups())["subscriptionGroupTable"]
    expect_fields(
        "ADMIN-GROUP-008",
        found=table.get(group, {}),
        expected={"groupName": group, "retryMaxTimes": DEFAULT_RETRIES},
        transcript=broker.transcript,
    )


def committed_after_deletion(
    broker: Client, topic: str, group: str, **fields: str
) -> dict[int, int]:
    """Return the offsets that *group* has after its deletion with *fields*."""
    require_success(broker.update_group(group=group))
    require_success(broker.send_message(topic=topic, queue_id=0))
    broker.wait_for_max_offset(topic=topic, offset=1)
    require_success(broker.update_offset(group=group, topic=topic, offset=1))
    require_success(broker.delete_group(group=group, **fields))
    table = mapping_of(broker.all_consumer_offsets())["offsetTable"]
    return {int(k): v for k, v in table.get(f"{topic}@{group}", {}).items()}


@pytest.mark.clause("ADMIN-GROUP-002")
def test_offsets_outlive_their_group(broker: Client, topic: str, group: str) -> None:
    found = committed_after_deletion(broker, topic, group)
    expect(
        "ADMIN-GROUP-002",
        found=found,
        expected={0: 1},
        what="committed offsets",
        transcript=broker.transcript,
    )


REMOVE, CLEAN = "removeOffset", "cleanOffset"
"""The field that takes a group's offsets along: its name in 4.9, and from 5.0 on."""


@pytest.mark.clause("ADMIN-GROUP-003")
def test_offsets_go_with_their_group_where_remove_offset_is_true(
    broker: Client, topic: str, unique: Callable[[str], str]
) -> None:
    for name, expected in ((REMOVE, {}), (CLEAN, {0: 1})):
        found = _committed_after(name, broker, topic, unique("group"))
        what = f"offsets after {name}"
        expect(
            "ADMIN-GROUP-003",
            found=found,
            expected=expected,
            what=what,
            transcript=broker.transcript,
        )


@pytest.mark.clause("ADMIN-GROUP-004")
def test_offsets_go_with_their_group_where_clean_offset_is_true(
    broker: Client, topic: str, unique: Callable[[str], str]
) -> None:
    for name, expected in ((CLEAN, {}), (REMOVE, {0: 1})):
        found = _committed_after(name, broker, topic, unique("group"))
        what = f"offsets after {name}"
        expect(
            "ADMIN-GROUP-004",
            found=found,
            expected=expected,
            what=what,
            transcript=broker.transcript,
        )


def _committed_after(
    name: str, broker: Client, topic: str, group: str
) -> dict[int, int]:
    return committed_after_deletion(broker, topic, group, **{name: "true"})
