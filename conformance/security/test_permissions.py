"""Permissions: what each request needs, by plain_acl.yml."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import pytest

from conformance.harness.client.client import (
    Client,
    batch_body,
    consumer_data,
    require_success,
    subscription_data,
)
from conformance.harness.pytest_plugin.expectations import expect_code
from conformance.security.accounts import ADMIN, BARE, NARROW, WIDE
from conformance.security.guard import Guard
from conformance.security.reasons import expect_reason
from spec.security.plain_acl import NEEDS_ADMIN, NO_PERMISSION
from spec.wire.message.message_id import decode_message_id
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

Act: TypeAlias = Callable[[Client], Command]


def denied(resource: str) -> str:
    """Return the reason for a missing permission on topic:NAME or group:NAME."""
    return NO_PERMISSION.format(resource=resource)


ADMIN_ACTS: Mapping[int, Act] = {
    RequestCode.UPDATE_AND_CREATE_TOPIC: lambda one: one.create_topic(topic="AclBoth"),
    RequestCode.UPDATE_BROKER_CONFIG: lambda one: one.update_broker_config(
        {"traceOn": "true"}
    ),
    RequestCode.DELETE_TOPIC_IN_BROKER: lambda one: one.delete_topic(topic="AclGone"),
    RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP: lambda one: one.update_group(
        group="acl_sub"
    ),
    RequestCode.DELETE_SUBSCRIPTIONGROUP: lambda one: one.delete_group(
        group="acl_gone"
    ),
}


@pytest.mark.clause("SEC-PERM-001")
@pytest.mark.parametrize("code", ADMIN_ACTS)
def test_requests_of_administrators(guard: Guard, code: int) -> None:
    for account in (WIDE, NARROW, BARE):
        with guard.client(account) as client:
            response = ADMIN_ACTS[code](client)
            key = account.access_key
            reason = NEEDS_ADMIN.format(code=int(code), access_key=key)
            expect_reason("SEC-PERM-001", guard, client, response, reason)
    with guard.client(ADMIN) as client:
        expect_reason("SEC-PERM-001", guard, client, ADMIN_ACTS[code](client), "")


@pytest.mark.clause("SEC-PERM-002")
@pytest.mark.parametrize(
    "code",
    [RequestCode.UPDATE_AND_CREATE_ACL_CONFIG, RequestCode.DELETE_ACL_CONFIG],
    ids=lambda code: code.name,
)
def test_any_account_may_change_accounts(guard: Guard, code: RequestCode) -> None:
    with guard.client(BARE) as client:
        # Short keys: the processor responds, and changes nothing.
        response = client.invoke(code, {"accessKey": "short", "secretKey": "short"})
        expect_reason("SEC-PERM-002", guard, client, response, "")


def send(topic: str, code: int = RequestCode.SEND_MESSAGE_V2) -> Act:
    """Return a send to *topic*."""
    return lambda one: one.send_message(topic=topic, code=code)


def pull(topic: str, group: str) -> Act:
    """Return a pull of *group* from *topic*."""
    return lambda one: one.pull(topic=topic, group=group, offset=0)


def send_back(group: str, topic: str) -> Act:
    """Return the send back of a message of *topic* by *group*."""
    return lambda one: one.send_back(
        group=group, commit_log_offset=0, origin_topic=topic
    )


def heartbeat(group: str, topic: str) -> Act:
    """Return a heartbeat of the consumer *group*, which subscribes to *topic*."""
    consumer = consumer_data(
        group=group, subscriptions=[subscription_data(topic=topic)]
    )
    return lambda one: one.heartbeat(client_id="acl", consumers=[consumer])


def update_offset(group: str, topic: str) -> Act:
    """Return the commit of an offset."""
    return lambda one: one.update_offset(group=group, topic=topic, offset=0)


def unregister(group: str | None) -> Act:
    """Return the end of a client of *group*."""
    return lambda one: one.unregister_client(client_id="acl", consumer_group=group)


def query(topic: str) -> Act:
    """Return a query by key."""
    return lambda one: one.query_message(topic=topic, key="none")


def members(group: str) -> Act:
    """Return a request for the client ids of *group*."""
    return lambda one: one.consumer_list(group=group)


def producer_heartbeat(one: Client) -> Command:
    """Send the heartbeat of a producer."""
    return one.heartbeat(client_id="acl", producer_groups=["acl_denied"])


def expect_reasons(clause: str, guard: Guard, cases: Sequence[tuple[Act, str]]) -> None:
    """Fail *clause* unless the narrow account is refused each act for its reason."""
    for act, reason in cases:
        with guard.client(NARROW) as client:
            expect_reason(clause, guard, client, act(client), reason)


@pytest.mark.clause("SEC-PERM-003")
@pytest.mark.parametrize(
    "code", [RequestCode.SEND_MESSAGE, RequestCode.SEND_MESSAGE_V2]
)
def test_a_send_needs_pub_on_the_topic(guard: Guard, code: RequestCode) -> None:
    topics = ("AclSub", "AclDenied", "AclNone")
    cases = [(send(topic, code), denied(f"topic:{topic}")) for topic in topics]
    cases += [(send(topic, code), "") for topic in ("AclPub", "AclBoth")]
    expect_reasons("SEC-PERM-003", guard, cases)


@pytest.mark.clause("SEC-PERM-004")
def test_a_batch_needs_no_permission(guard: Guard) -> None:
    with guard.client(ADMIN) as client:
        client.create_topic(topic="AclDenied")
    with guard.client(NARROW) as client:
        body = batch_body([(b"one", {}), (b"two", {})])
        response = client.send_batch(topic="AclDenied", body=body)
        expect_code("SEC-PERM-004", response, ResponseCode.SUCCESS, client.transcript)


@pytest.mark.clause("SEC-PERM-005")
def test_up_to_4_9_3_a_send_back_needs_topic_and_group(guard: Guard) -> None:
    cases = [
        (send_back("acl_sub", "AclSub"), denied("topic:AclSub")),
        (send_back("acl_pub", "AclPub"), denied("group:acl_pub")),
        (send_back("acl_sub", "AclPub"), ""),
    ]
    expect_reasons("SEC-PERM-005", guard, cases)


@pytest.mark.clause("SEC-PERM-006")
def test_from_4_9_4_on_a_send_back_needs_the_group(guard: Guard) -> None:
    cases = [
        (send_back("acl_sub", "AclDenied"), ""),
        (send_back("acl_pub", "AclPub"), denied("group:acl_pub")),
    ]
    expect_reasons("SEC-PERM-006", guard, cases)


@pytest.mark.clause("SEC-PERM-007")
def test_a_pull_needs_sub_on_topic_and_group(guard: Guard) -> None:
    cases = [
        (pull("AclSub", "acl_sub"), ""),
        (pull("AclPub", "acl_sub"), denied("topic:AclPub")),
        (pull("AclSub", "acl_pub"), denied("group:acl_pub")),
        (pull("AclSub", "acl_none"), denied("group:acl_none")),
    ]
    expect_reasons("SEC-PERM-007", guard, cases)


@pytest.mark.clause("SEC-PERM-008")
def test_a_query_needs_sub_on_the_topic(guard: Guard) -> None:
    cases = [
        (query("AclSub"), ""),
        (query("AclPub"), denied("topic:AclPub")),
    ]
    expect_reasons("SEC-PERM-008", guard, cases)


@pytest.mark.clause("SEC-PERM-009")
def test_a_heartbeat_needs_sub_on_its_groups_and_topics(guard: Guard) -> None:
    cases = [
        (heartbeat("acl_sub", "AclSub"), ""),
        (heartbeat("acl_sub", "AclPub"), denied("topic:AclPub")),
        (heartbeat("acl_pub", "AclSub"), denied("group:acl_pub")),
        (producer_heartbeat, ""),
    ]
    expect_reasons("SEC-PERM-009", guard, cases)


@pytest.mark.clause("SEC-PERM-010")
def test_the_end_of_a_client_needs_sub_on_its_group(guard: Guard) -> None:
    cases = [
        (unregister("acl_sub"), ""),
        (unregister("acl_pub"), denied("group:acl_pub")),
        (unregister(None), ""),
    ]
    expect_reasons("SEC-PERM-010", guard, cases)


@pytest.mark.clause("SEC-PERM-011")
def test_the_members_of_a_group_need_sub(guard: Guard) -> None:
    cases = [
        (members("acl_sub"), ""),
        (members("acl_pub"), denied("group:acl_pub")),
        (members("acl_denied"), denied("group:acl_denied")),
    ]
    expect_reasons("SEC-PERM-011", guard, cases)


@pytest.mark.clause("SEC-PERM-012")
def test_a_commit_needs_sub_on_topic_and_group(guard: Guard) -> None:
    cases = [
        (update_offset("acl_sub", "AclSub"), ""),
        (update_offset("acl_sub", "AclPub"), denied("topic:AclPub")),
        (update_offset("acl_pub", "AclSub"), denied("group:acl_pub")),
    ]
    expect_reasons("SEC-PERM-012", guard, cases)


@pytest.mark.clause("SEC-PERM-013")
def test_up_to_4_9_3_a_retry_topic_needs_pub_on_the_group(guard: Guard) -> None:
    cases = [
        (send("%RETRY%acl_sub"), denied("group:acl_sub")),
        (send("%RETRY%acl_pub"), ""),
    ]
    expect_reasons("SEC-PERM-013", guard, cases)


@pytest.mark.clause("SEC-PERM-014")
def test_from_4_9_4_on_a_retry_topic_needs_sub_on_the_producer_group(
    guard: Guard,
) -> None:
    def retry(group: str) -> Act:
        return lambda one: one.send_message(topic="%RETRY%acl_none", group=group)

    cases = [(retry("acl_sub"), ""), (retry("acl_pub"), denied("group:acl_pub"))]
    expect_reasons("SEC-PERM-014", guard, cases)


@pytest.mark.clause("SEC-PERM-015")
def test_from_4_9_4_on_the_trace_topic_is_open(guard: Guard) -> None:
    expect_reasons("SEC-PERM-015", guard, [(send("RMQ_SYS_TRACE_TOPIC"), "")])


@pytest.mark.clause("SEC-PERM-016")
def test_a_message_by_its_offset_needs_no_permission(guard: Guard) -> None:
    with guard.client(ADMIN) as owner:
        owner.create_topic(topic="AclDenied")
        sent = require_success(owner.send_message(topic="AclDenied", body=b"private"))
        _, offset = decode_message_id(sent.fields["msgId"])
    with guard.client(NARROW) as client:
        response = client.view_message(commit_log_offset=offset)
        expect_code("SEC-PERM-016", response, ResponseCode.SUCCESS, client.transcript)
