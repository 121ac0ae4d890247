"""Groups: their members, and the notification of a change to the other members."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from conformance.harness.client.address import in_one_form
from conformance.harness.client.client import (
    Client,
    body_of,
    consumer_data,
    json_body,
    require_success,
    tags_subscription,
)
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_fields,
)
from conformance.harness.pytest_plugin.fixtures import create_group
from conformance.harness.targets.target import Target
from conformance.messaging.groups.members import (
    QUIET_S,
    expect_notification,
    id_of,
    ids_of,
    join,
    members,
    need_open,
)
from conformance.messaging.stored_messages import offset_of, topic_of
from spec.routing.topic_config import TopicConfig
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode


@pytest.mark.clause("GROUP-MEMBER-001", "GROUP-MEMBER-003")
def test_members_are_listed_and_told_of_each_other(broker: Client, group: str) -> None:
    join(broker, group, "first")
    expect_notification(broker, group, "GROUP-MEMBER-003")
    expect(
        "GROUP-MEMBER-001",
        found=members(broker, group),
        expected=ids_of(group, "first"),
        transcript=broker.transcript,
    )
    with broker.another() as second:
        join(second, group, "second")
        expect_notification(second, group, "GROUP-MEMBER-003")
        expect_notification(broker, group, "GROUP-MEMBER-003")
        found = members(second, group)
    expect(
        "GROUP-MEMBER-001",
        found=found,
        expected=ids_of(group, "first", "second"),
        what="members",
        transcript=second.transcript,
    )


@pytest.mark.clause("GROUP-MEMBER-004")
def test_a_second_heartbeat_is_told_to_nobody(
    broker: Client, group: str, topic: str
) -> None:
    join(broker, group, "first", topic)
    expect_notification(broker, group, "GROUP-MEMBER-003")
    need_open(broker)
    with broker.another() as other:
        join(other, group, "second", topic)
        expect_notification(broker, group, "GROUP-MEMBER-003")
        for _ in range(3):
            join(broker, group, "first", topic)
            join(other, group, "second", topic)
        silent = broker.peer.is_silent(QUIET_S)
    expect(
        "GROUP-MEMBER-004",
        found=silent,
        expected=True,
        what="silence",
        transcript=broker.transcript,
    )


@pytest.mark.clause("GROUP-MEMBER-005")
def test_a_client_that_unregisters_is_gone(broker: Client, group: str) -> None:
    join(broker, group, "first")
    expect_notification(broker, group, "GROUP-MEMBER-003")
    with broker.another() as second:
        join(second, group, "second")
        expect_notification(broker, group, "GROUP-MEMBER-003")
        need_open(broker)
        require_success(
            second.unregister_client(
                client_id=id_of("second", group), consumer_group=group
            )
        )
        expect_notification(broker, group, "GROUP-MEMBER-005", cause=second.transcript)
        expect(
            "GROUP-MEMBER-005",
            found=members(second, group),
            expected=ids_of(group, "first"),
            what="client ids of the members",
            transcript=second.transcript,
        )


@pytest.mark.clause("GROUP-MEMBER-016")
def test_a_client_that_leaves_an_unknown_group_configures_it(
    broker: Client, group: str
) -> None:
    require_success(
        broker.unregister_client(client_id=id_of("first", group), consumer_group=group)
    )
    table = body_of(broker.all_groups())
    assert isinstance(table, Mapping)
    expect(
        "GROUP-MEMBER-016",
        found=group in table["subscriptionGroupTable"],
        expected=True,
        what="whether the group is configured",
        transcript=broker.transcript,
    )


@pytest.mark.clause("GROUP-MEMBER-006")
def test_a_client_whose_connection_closes_is_gone(broker: Client, group: str) -> None:
    join(broker, group, "first")
    expect_notification(broker, group, "GROUP-MEMBER-003")
    with broker.another() as second:
        join(second, group, "second")
        expect_notification(broker, group, "GROUP-MEMBER-003")
        need_open(broker)
    expect_notification(broker, group, "GROUP-MEMBER-006")
    wait_until(
        lambda: members(broker, group) == ids_of(group, "first"),
        what="the closed client is no member any more",
    )


@pytest.mark.clause("GROUP-MEMBER-007")
def test_a_new_subscription_is_told(broker: Client, group: str, topic: str) -> None:
    join(broker, group, "first", topic)
    expect_notification(broker, group, "GROUP-MEMBER-003")
    need_open(broker)
    join(broker, group, "first", topic, f"{topic}_more")
    expect_notification(broker, group, "GROUP-MEMBER-007")


@pytest.mark.clause("GROUP-MEMBER-014")
def test_a_group_may_be_left_without_notifications(
    target: Target, broker: Client, group: str
) -> None:
    create_group(target, group, notifyConsumerIdsChangedEnable=False)
    join(broker, group, "first")
    with broker.another() as second:
        join(second, group, "second")
        client_id = id_of("second", group)
        require_success(
            second.unregister_client(client_id=client_id, consumer_group=group)
        )
        silent = [one.peer.is_silent(QUIET_S) for one in (broker, second)]
    expect(
        "GROUP-MEMBER-014",
        found=silent,
        expected=[True, True],
        what="silence of both members",
        transcript=broker.transcript,
    )


@pytest.mark.clause("GROUP-MEMBER-002")
def test_a_group_without_members_is_an_error(broker: Client, group: str) -> None:
    expect(
        "GROUP-MEMBER-002",
        found=broker.consumer_list(group=group).code,
        expected=ResponseCode.SYSTEM_ERROR,
        what="code",
        transcript=broker.transcript,
    )


@pytest.mark.clause("GROUP-HEARTBEAT-002")
@pytest.mark.parametrize(
    ("consume_type", "message_model", "consume_from"),
    [
        ("CONSUME_ACTIVELY", "BROADCASTING", "CONSUME_FROM_FIRST_OFFSET"),
        ("CONSUME_PASSIVELY", "CLUSTERING", "CONSUME_FROM_TIMESTAMP"),
        ("CONSUME_PASSIVELY", "BROADCASTING", "CONSUME_FROM_LAST_OFFSET"),
    ],
)
def test_a_heartbeats_words_are_told_as_they_were_said(
    broker: Client,
    group: str,
    consume_type: str,
    message_model: str,
    consume_from: str,
) -> None:
    consumer = consumer_data(
        group=group,
        consume_type=consume_type,
        message_model=message_model,
        consume_from=consume_from,
    )
    beaten = broker.heartbeat(client_id=id_of("client", group), consumers=[consumer])
    response = broker.consumer_connections(group=group)
    found = body_of(response) if response.code == ResponseCode.SUCCESS else {}
    assert isinstance(found, dict)
    names = ("consumeType", "messageModel", "consumeFromWhere")
    expect(
        "GROUP-HEARTBEAT-002",
        found=(beaten.code, *map(found.get, names)),
        expected=(ResponseCode.SUCCESS, consume_type, message_model, consume_from),
        what="code of the heartbeat, and the words that tools are told",
        transcript=broker.transcript,
    )


@pytest.mark.clause("GROUP-HEARTBEAT-001")
@pytest.mark.parametrize("more", [{}, {"heartbeatFingerprint": 0, "withoutSub": False}])
def test_a_heartbeat_of_any_release_counts(
    broker: Client, group: str, more: dict[str, object]
) -> None:
    body = {
        "clientID": id_of("client", group),
        "consumerDataSet": [consumer_data(group=group)],
        "producerDataSet": [],
        **more,
    }
    beaten = broker.invoke(RequestCode.HEART_BEAT, body=json_body(body))
    expect(
        "GROUP-HEARTBEAT-001",
        found=(beaten.code, members(broker, group)),
        expected=(ResponseCode.SUCCESS, ids_of(group, "client")),
        what="code of the heartbeat, and the members of the group",
        transcript=broker.transcript,
    )


def first_connection(listed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the first connection of a list, its address in one form."""
    first = listed["connectionSet"][0]
    return {**first, "clientAddr": in_one_form(f"{first.get('clientAddr')}")}


ENUMERATIONS = ("consumeType", "messageModel", "consumeFromWhere")


@pytest.mark.parametrize(
    ("clause", "written", "expected"),
    [
        pytest.param(
            "GROUP-HEARTBEAT-005",
            (0, 0, 4),
            ("CONSUME_ACTIVELY", "BROADCASTING", "CONSUME_FROM_FIRST_OFFSET"),
            marks=pytest.mark.clause("GROUP-HEARTBEAT-005"),
            id="ordinals",
        ),
        pytest.param(
            "GROUP-HEARTBEAT-006",
            (None, None, None),
            (None, None, None),
            marks=pytest.mark.clause("GROUP-HEARTBEAT-006"),
            id="absent",
        ),
        pytest.param(
            "GROUP-HEARTBEAT-006",
            ("NO_NAME", "NO_NAME", "NO_NAME"),
            (None, None, None),
            marks=pytest.mark.clause("GROUP-HEARTBEAT-006"),
            id="unknown",
        ),
    ],
)
def test_enumerations_that_are_no_names(
    broker: Client,
    group: str,
    clause: str,
    written: tuple[object, ...],
    expected: tuple[str | None, ...],
) -> None:
    consumer = {**consumer_data(group=group)}
    for name, value in zip(ENUMERATIONS, written, strict=True):
        del consumer[name]
        if value is not None:
            consumer[name] = value
    require_success(
        broker.heartbeat(client_id=id_of("first", group), consumers=[consumer])
    )
    shown = body_of(broker.consumer_connections(group=group))
    assert isinstance(shown, Mapping)
    expect(
        clause,
        found=tuple(shown.get(name) for name in ENUMERATIONS),
        expected=expected,
        what=f"{', '.join(ENUMERATIONS)} of the group",
        transcript=broker.transcript,
    )


@pytest.mark.clause("GROUP-CONNECTION-001", "GROUP-CONNECTION-005")
def test_a_groups_connections_are_listed(
    broker: Client, group: str, topic: str
) -> None:
    subscription = tags_subscription(topic=topic, tags=["a"], version=5)
    consumer = consumer_data(group=group, subscriptions=[subscription])
    require_success(
        broker.heartbeat(client_id=id_of("client", group), consumers=[consumer])
    )
    found = body_of(broker.consumer_connections(group=group))
    assert isinstance(found, dict)
    own = broker.peer.local_address
    expect_fields(
        "GROUP-CONNECTION-001",
        found=first_connection(found),
        expected={
            "clientId": id_of("client", group),
            "clientAddr": str(own),
            "language": "OTHER",
            "version": 333,
        },
        transcript=broker.transcript,
    )
    expect_fields(
        "GROUP-CONNECTION-005",
        found=found,
        expected={
            "consumeType": "CONSUME_PASSIVELY",
            "messageModel": "CLUSTERING",
            "consumeFromWhere": "CONSUME_FROM_LAST_OFFSET",
        },
        transcript=broker.transcript,
    )
    count = len(found["connectionSet"])
    expect(
        "GROUP-CONNECTION-001",
        found=count,
        expected=1,
        what="connections",
        transcript=broker.transcript,
    )
    topics = sorted(found["subscriptionTable"])
    expect(
        "GROUP-CONNECTION-001",
        found=topics,
        expected=[topic],
        what="topics",
        transcript=broker.transcript,
    )
    expect_fields(
        "GROUP-CONNECTION-001",
        found=found["subscriptionTable"][topic],
        expected=subscription,
        transcript=broker.transcript,
    )


@pytest.mark.clause("GROUP-CONNECTION-002")
def test_a_group_without_members_is_not_online(broker: Client, group: str) -> None:
    found = broker.consumer_connections(group=group).code
    expected = ResponseCode.CONSUMER_NOT_ONLINE
    expect(
        "GROUP-CONNECTION-002",
        found=found,
        expected=expected,
        what="code",
        transcript=broker.transcript,
    )


@pytest.mark.clause("GROUP-CONNECTION-003", "GROUP-CONNECTION-004")
def test_a_producer_groups_connections_are_listed(broker: Client, group: str) -> None:
    found_code = broker.producer_connections(group=group).code
    expected = ResponseCode.SYSTEM_ERROR
    expect(
        "GROUP-CONNECTION-004",
        found=found_code,
        expected=expected,
        what="code",
        transcript=broker.transcript,
    )
    require_success(
        broker.heartbeat(client_id=id_of("producer", group), producer_groups=[group])
    )
    found = body_of(broker.producer_connections(group=group))
    assert isinstance(found, dict)
    own = broker.peer.local_address
    expect_fields(
        "GROUP-CONNECTION-003",
        found=first_connection(found),
        expected={
            "clientId": id_of("producer", group),
            "clientAddr": str(own),
            "language": "OTHER",
            "version": 333,
        },
        transcript=broker.transcript,
    )
    count = len(found["connectionSet"])
    expect(
        "GROUP-CONNECTION-003",
        found=count,
        expected=1,
        what="connections",
        transcript=broker.transcript,
    )


@pytest.mark.clause("GROUP-CONNECTION-009")
def test_a_producer_unregisters_from_one_group(broker: Client, group: str) -> None:
    groups = [group, f"{group}_other"]
    require_success(
        broker.heartbeat(client_id=id_of("producer", group), producer_groups=groups)
    )
    require_success(
        broker.unregister_client(
            client_id=id_of("producer", group), producer_group=group
        )
    )
    expect(
        "GROUP-CONNECTION-009",
        found=[broker.producer_connections(group=one).code for one in groups],
        expected=[ResponseCode.SYSTEM_ERROR, ResponseCode.SUCCESS],
        what="codes of the connections of the group, and of the other",
        transcript=broker.transcript,
    )


@pytest.mark.settings(autoCreateSubscriptionGroup="true")
@pytest.mark.clause("GROUP-RETRY-001")
def test_a_groups_first_heartbeat_creates_its_retry_topic(
    broker: Client, group: str
) -> None:
    join(broker, group, "first")
    response = broker.pull(topic=f"%RETRY%{group}", offset=0, group=group)
    expect(
        "GROUP-RETRY-001",
        found=response.code,
        expected=ResponseCode.PULL_NOT_FOUND,
        what="code of a pull from the retry topic",
        transcript=broker.transcript,
    )


@pytest.mark.clause("GROUP-RETRY-002")
@pytest.mark.parametrize("by", ["a heartbeat", "a message sent back"])
@pytest.mark.parametrize(("is_unit", "flags"), [(False, 0), (True, 2)])
def test_a_retry_topic_is_created_by_the_groups_settings(
    broker: Client, topic: str, group: str, is_unit: bool, flags: int, by: str
) -> None:
    require_success(broker.update_group(group=group, settings={"retryQueueNums": 3}))
    if by == "a heartbeat":
        consumer = consumer_data(group=group, unit_mode=is_unit)
        require_success(
            broker.heartbeat(client_id=id_of("one", group), consumers=[consumer])
        )
    else:
        offset = offset_of(broker.send_message(topic=topic))
        require_success(
            broker.send_back(
                group=group,
                commit_log_offset=offset,
                max_reconsume_times=16,
                unit_mode=is_unit,
            )
        )
    name = f"%RETRY%{group}"
    expect(
        "GROUP-RETRY-002",
        found=topic_of(broker, name),
        expected=TopicConfig(
            topic=name,
            read_queue_count=3,
            write_queue_count=3,
            permission=6,
            topic_flags=flags,
        ),
        what=f"retry topic that {by} creates",
        transcript=broker.transcript,
    )
