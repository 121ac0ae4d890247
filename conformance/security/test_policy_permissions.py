"""Permissions since 5.3: what each request needs of a policy."""

from __future__ import annotations

import pytest

from conformance.harness.client.client import (
    Client,
    batch_body,
    consumer_data,
    queue_data,
    require_success,
    subscription_data,
)
from conformance.harness.client.requests.invoker import FieldValue
from conformance.harness.pytest_plugin.expectations import expect, expect_code
from conformance.security.guard import Guard
from conformance.security.reasons import Act, expect_acts, no_policy, send
from conformance.security.users import add_entries, entry, new_user
from spec.security.signature import Credentials
from spec.wire.message.message_id import decode_message_id
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode


@pytest.fixture
def narrow(admin: Client) -> Credentials:
    """Return a user with Pub and Sub on one topic each, and Sub on one group."""
    user = new_user(admin)
    entries = [
        entry("Topic:PolicyPub", "Pub"),
        entry("Topic:PolicySub", "Sub"),
        entry("Group:policy_sub", "Sub"),
    ]
    require_success(add_entries(admin, user, *entries))
    return user


@pytest.mark.clause("SEC-POLICY-010")
def test_sends_need_pub(guard: Guard, narrow: Credentials) -> None:
    codes = (RequestCode.SEND_MESSAGE, RequestCode.SEND_MESSAGE_V2)
    acts = [(send("PolicyPub", code), "") for code in codes]
    acts += [(send("PolicySub", code), "Topic:PolicySub") for code in codes]
    batch = batch_body([(b"one", {})])
    acts += [
        (lambda one: one.send_batch(topic="PolicyPub", body=batch), ""),
        (lambda one: one.send_batch(topic="PolicySub", body=batch), "Topic:PolicySub"),
    ]
    expect_acts("SEC-POLICY-010", guard, narrow, acts)


def send_to_retry_topic(retry_group: str, producer_group: str) -> Act:
    """Return a send of *producer_group* to the retry topic of *retry_group*."""
    topic = f"%RETRY%{retry_group}"
    return lambda one: one.send_message(topic=topic, group=producer_group)


@pytest.mark.clause("SEC-POLICY-021")
def test_up_to_5_3_a_retry_topic_needs_sub_on_the_producer_group(
    guard: Guard, narrow: Credentials
) -> None:
    acts = [
        (send_to_retry_topic("policy_any", "policy_sub"), ""),
        (send_to_retry_topic("policy_sub", "policy_none"), "Group:policy_none"),
    ]
    expect_acts("SEC-POLICY-021", guard, narrow, acts)


@pytest.mark.clause("SEC-POLICY-022")
def test_from_5_4_on_a_retry_topic_needs_sub_on_its_group(
    guard: Guard, narrow: Credentials
) -> None:
    acts = [
        (send_to_retry_topic("policy_any", "policy_sub"), "Group:policy_any"),
        (send_to_retry_topic("policy_sub", "policy_none"), ""),
    ]
    expect_acts("SEC-POLICY-022", guard, narrow, acts)


def pull(topic: str, group: str) -> Act:
    """Return a pull of *group* from *topic*."""
    return lambda one: one.pull(topic=topic, group=group, offset=0)


@pytest.mark.clause("SEC-POLICY-011")
def test_a_pull_needs_sub(guard: Guard, narrow: Credentials) -> None:
    acts = [
        (pull("PolicySub", "policy_sub"), ""),
        (pull("%RETRY%policy_sub", "policy_sub"), ""),
        (pull("PolicyPub", "policy_sub"), "Topic:PolicyPub"),
        (pull("PolicySub", "policy_none"), "Group:policy_none"),
    ]
    expect_acts("SEC-POLICY-011", guard, narrow, acts)


def heartbeat(group: str, topic: str) -> Act:
    """Return the heartbeat of a consumer."""
    subscriptions = [subscription_data(topic=topic)]
    consumer = consumer_data(group=group, subscriptions=subscriptions)
    return lambda one: one.heartbeat(client_id="policy", consumers=[consumer])


def lock(group: str, topic: str) -> Act:
    """Return the lock of a queue."""
    queue = queue_data(topic=topic, broker_name="broker-a", queue_id=0)
    return lambda one: one.lock_queues(group=group, client_id="c", queues=[queue])


@pytest.mark.clause("SEC-POLICY-012")
def test_requests_of_members_need_sub(guard: Guard, narrow: Credentials) -> None:
    def send_back(group: str) -> Act:
        return lambda one: one.send_back(group=group, commit_log_offset=0)

    def unregister(group: str) -> Act:
        return lambda one: one.unregister_client(client_id="c", consumer_group=group)

    acts = [
        (heartbeat("policy_sub", "PolicySub"), ""),
        (heartbeat("policy_none", "PolicySub"), "Group:policy_none"),
        (heartbeat("policy_sub", "PolicyPub"), "Topic:PolicyPub"),
        (lock("policy_sub", "PolicySub"), ""),
        (lock("policy_none", "PolicySub"), "Group:policy_none"),
        (lock("policy_sub", "PolicyPub"), "Topic:PolicyPub"),
        (send_back("policy_sub"), ""),
        (send_back("policy_none"), "Group:policy_none"),
        (unregister("policy_sub"), ""),
        (unregister("policy_none"), "Group:policy_none"),
    ]
    expect_acts("SEC-POLICY-012", guard, narrow, acts)


@pytest.mark.clause("SEC-POLICY-013")
def test_reads_need_sub_or_get(guard: Guard, admin: Client) -> None:
    def query(topic: str) -> Act:
        return lambda one: one.query_message(topic=topic, key="k")

    def offset(topic: str) -> Act:
        return lambda one: one.query_offset(group="policy_read", topic=topic)

    def commit(topic: str) -> Act:
        return lambda one: one.update_offset(group="policy_read", topic=topic, offset=0)

    user = new_user(admin)
    entries = [
        entry("Topic:ReadSub", "Sub"),
        entry("Topic:ReadGet", "Get"),
        entry("Topic:ReadUpdate", "Update"),
        entry("Group:policy_read", "Sub"),
    ]
    require_success(add_entries(admin, user, *entries))
    acts = [
        *((query("ReadSub"), ""), (query("ReadGet"), "")),
        *((query("ReadUpdate"), "Topic:ReadUpdate"),),
        *((offset("ReadSub"), ""), (offset("ReadGet"), "")),
        *((offset("ReadUpdate"), "Topic:ReadUpdate"),),
        *((commit("ReadSub"), ""), (commit("ReadUpdate"), "")),
        *((commit("ReadGet"), "Topic:ReadGet"),),
    ]
    expect_acts("SEC-POLICY-013", guard, user, acts)


@pytest.mark.clause("SEC-POLICY-014")
def test_users_and_acls_belong_to_the_cluster(guard: Guard, admin: Client) -> None:
    reader, other = new_user(admin), new_user(admin)
    cluster = f"Cluster:{guard.target.cluster}"
    require_success(add_entries(admin, reader, entry(cluster, "Get")))
    get = {"username": reader.access_key}

    def read(one: Client) -> Command:
        return one.invoke(RequestCode.AUTH_GET_USER, dict(get))

    def write(one: Client) -> Command:
        return one.invoke(RequestCode.AUTH_DELETE_USER, dict(get))

    acts: list[tuple[Act, str]] = [(read, ""), (write, cluster)]
    expect_acts("SEC-POLICY-014", guard, reader, acts)
    acts = [(read, cluster), (write, cluster)]
    expect_acts("SEC-POLICY-014", guard, other, acts)


@pytest.mark.clause("SEC-POLICY-015")
def test_a_view_without_topic_is_not_checked(guard: Guard, admin: Client) -> None:
    require_success(admin.create_topic(topic="PolicyPrivate"))
    sent = require_success(admin.send_message(topic="PolicyPrivate", body=b"private"))
    _, offset = decode_message_id(sent.fields["msgId"])
    user = new_user(admin)
    code = RequestCode.VIEW_MESSAGE_BY_ID
    with guard.client(user) as client:
        fields: dict[str, FieldValue] = {"offset": offset, "topic": "PolicyPrivate"}
        named = client.invoke(code, fields)
        refused = no_policy(user, "Topic:PolicyPrivate")
        expect("SEC-POLICY-015", found=named.remark, expected=refused, what="remark")
        response = client.invoke(code, {"offset": offset})
        expect_code("SEC-POLICY-015", response, ResponseCode.SUCCESS, client.transcript)
