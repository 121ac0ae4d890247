"""Policies since 5.3: which requests an ACL admits, and the requests about ACLs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import pytest

from conformance.harness.client.client import (
    Client,
    batch_body,
    body_of,
    consumer_data,
    queue_data,
    require_success,
    subscription_data,
)
from conformance.harness.client.requests.invoker import FieldValue
from conformance.harness.pytest_plugin.expectations import expect, expect_code
from conformance.harness.pytest_plugin.fixtures import unique_name
from conformance.security.accounts import OTHER_ADDRESS, STRANGER, WHITE_ADDRESS
from conformance.security.guard import Guard
from conformance.security.users import add_entries, entry, new_user
from spec.security.policies import DENIED, NO_POLICY, UNKNOWN_SUBJECT
from spec.security.signature import Credentials
from spec.wire.message.message_id import decode_message_id
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

Act: TypeAlias = Callable[[Client], Command]
Entries: TypeAlias = Sequence[Mapping[str, object]]
LOOPBACK = "127.0.0.1"


def reason_for(guard: Guard, user: Credentials, act: Act, source: str = "") -> str:
    """Return the reason for which *act* of *user* is refused; empty if admitted."""
    with guard.client(user, source) as client:
        return guard.reason(act(client))


def send(topic: str, code: int = RequestCode.SEND_MESSAGE_V2) -> Act:
    """Return a send to *topic*."""
    return lambda one: one.send_message(topic=topic, code=code)


def no_policy(user: Credentials, resource: str) -> str:
    """Return the reason for a resource without a matching entry."""
    return NO_POLICY.format(
        username=user.access_key, resource=resource, address=LOOPBACK
    )


def expect_acts(
    clause: str, guard: Guard, user: Credentials, acts: Sequence[tuple[Act, str]]
) -> None:
    """Fail *clause* unless each act is admitted, or lacks an entry for its resource."""
    found = [reason_for(guard, user, act) for act, _ in acts]
    expected = [no_policy(user, name) if name else "" for _, name in acts]
    expect(clause, found=found, expected=expected, what="reasons")


@pytest.mark.clause("SEC-POLICY-001")
def test_a_super_user_needs_no_policy(guard: Guard, admin: Client) -> None:
    user = new_user(admin, userType="Super")
    acts = [(send("Policy"), ""), (lambda one: one.update_group(group="policy"), "")]
    expect_acts("SEC-POLICY-001", guard, user, acts)


@pytest.mark.clause("SEC-POLICY-002")
def test_a_user_without_policies_may_do_nothing(guard: Guard, admin: Client) -> None:
    user = new_user(admin)
    with guard.client(user) as client:
        answer = client.send_message(topic="Policy")
        expect(
            "SEC-POLICY-002",
            found=(answer.code, answer.remark),
            expected=(ResponseCode.NO_PERMISSION, no_policy(user, "Topic:Policy")),
            what="code and remark",
            transcript=client.transcript,
        )


@pytest.mark.clause("SEC-POLICY-003")
def test_an_entry_admits_its_actions_only(guard: Guard, admin: Client) -> None:
    user = new_user(admin)
    require_success(add_entries(admin, user, entry("Topic:PolicyPub", "Pub")))
    acts = [
        (send("PolicyPub"), ""),
        (lambda one: one.query_message(topic="PolicyPub", key="k"), "Topic:PolicyPub"),
        (send("PolicyOther"), "Topic:PolicyOther"),
    ]
    expect_acts("SEC-POLICY-003", guard, user, acts)


@pytest.mark.clause("SEC-POLICY-004")
def test_a_deny_is_the_reason(guard: Guard, admin: Client) -> None:
    user = new_user(admin)
    entries = [
        entry("Topic:PolicyDenied", "All", decision="Deny"),
        entry("Group:*", "All"),
    ]
    require_success(add_entries(admin, user, *entries))
    reason = DENIED.format(
        username=user.access_key, resource="Topic:PolicyDenied", address=LOOPBACK
    )
    found = reason_for(guard, user, send("PolicyDenied"))
    expect("SEC-POLICY-004", found=found, expected=reason, what="reason")


@pytest.mark.clause("SEC-POLICY-005")
@pytest.mark.parametrize(
    ("resource", "admitted"),
    [
        ("Topic:Pattern", ["Pattern"]),
        ("Topic:Pattern*", ["Pattern", "PatternMore"]),
        ("Topic:*", ["Pattern", "PatternMore", "Other"]),
        ("*", ["Pattern", "PatternMore", "Other"]),
        ("Group:*", []),
        ("topic:Pattern", ["Pattern"]),
    ],
)
def test_resources_match_names_prefixes_and_types(
    guard: Guard, admin: Client, resource: str, admitted: list[str]
) -> None:
    user = new_user(admin)
    require_success(add_entries(admin, user, entry(resource, "Pub")))
    topics = ("Pattern", "PatternMore", "Other", "Patter")
    found = [one for one in topics if not reason_for(guard, user, send(one))]
    if resource in {"*", "Topic:*"}:
        admitted = [*admitted, "Patter"]
    expect("SEC-POLICY-005", found=found, expected=admitted, what="admitted topics")


@pytest.mark.clause("SEC-POLICY-006")
def test_the_default_policy_is_for_the_rest(guard: Guard, admin: Client) -> None:
    user = new_user(admin)
    denied = entry("Topic:PolicyCustom", "Pub", decision="Deny")
    require_success(add_entries(admin, user, denied))
    allowed = [entry("Topic:PolicyCustom", "Pub"), entry("Topic:PolicyRest", "Pub")]
    require_success(add_entries(admin, user, *allowed, policy="Default"))
    found = [
        bool(reason_for(guard, user, send(one)))
        for one in ("PolicyCustom", "PolicyRest")
    ]
    expect("SEC-POLICY-006", found=found, expected=[True, False], what="refused")


@pytest.mark.clause("SEC-POLICY-007")
@pytest.mark.parametrize("addresses", [[WHITE_ADDRESS], ["127.0.0.2/31"]])
def test_an_entry_is_bound_to_its_addresses(
    guard: Guard, admin: Client, addresses: list[str]
) -> None:
    user = new_user(admin)
    bound = entry("Topic:*", "Pub", addresses=addresses)
    require_success(add_entries(admin, user, bound))
    found = [
        not reason_for(guard, user, send("PolicyAddress"), source)
        for source in (WHITE_ADDRESS, OTHER_ADDRESS, "127.0.0.4")
    ]
    expected = [True, len(addresses[0]) > len(WHITE_ADDRESS), False]
    expect("SEC-POLICY-007", found=found, expected=expected, what="admitted")


PREFIXES = (
    entry("Topic:Pre*", "Pub"),
    entry("Topic:Prefix*", "Pub", decision="Deny"),
)
NAME_AND_PREFIX = (
    entry("Topic:PolicyExact", "Pub"),
    entry("Topic:Policy*", "Pub", decision="Deny"),
)
"""Entries that both match a topic; the second one denies it."""


def is_refused(guard: Guard, admin: Client, entries: Entries, topic: str) -> bool:
    """Return whether a user with *entries*, added in turn, may not send to *topic*."""
    user = new_user(admin)
    for one in entries:
        require_success(add_entries(admin, user, one))
    return bool(reason_for(guard, user, send(topic)))


@pytest.mark.clause("SEC-POLICY-008")
@pytest.mark.parametrize("entries", [PREFIXES, PREFIXES[::-1]])
def test_up_to_5_3_the_shorter_prefix_decides(
    guard: Guard, admin: Client, entries: Entries
) -> None:
    found = is_refused(guard, admin, entries, "PrefixTopic")
    expect("SEC-POLICY-008", found=found, expected=False, what="refused")


@pytest.mark.clause("SEC-POLICY-023")
@pytest.mark.parametrize("entries", [PREFIXES, PREFIXES[::-1]])
def test_from_5_4_on_the_longer_prefix_decides(
    guard: Guard, admin: Client, entries: Entries
) -> None:
    found = is_refused(guard, admin, entries, "PrefixTopic")
    expect("SEC-POLICY-023", found=found, expected=True, what="refused")


@pytest.mark.clause("SEC-POLICY-009")
@pytest.mark.parametrize("is_name_first", [True, False])
def test_up_to_5_3_the_later_of_name_and_prefix_decides(
    guard: Guard, admin: Client, is_name_first: bool
) -> None:
    entries = NAME_AND_PREFIX if is_name_first else NAME_AND_PREFIX[::-1]
    found = is_refused(guard, admin, entries, "PolicyExact")
    expect("SEC-POLICY-009", found=found, expected=is_name_first, what="refused")


@pytest.mark.clause("SEC-POLICY-024")
@pytest.mark.parametrize("entries", [NAME_AND_PREFIX, NAME_AND_PREFIX[::-1]])
def test_from_5_4_on_the_name_decides(
    guard: Guard, admin: Client, entries: Entries
) -> None:
    found = is_refused(guard, admin, entries, "PolicyExact")
    expect("SEC-POLICY-024", found=found, expected=False, what="refused")


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
        answer = client.invoke(code, {"offset": offset})
        expect_code("SEC-POLICY-015", answer, ResponseCode.SUCCESS, client.transcript)


def acl_of(admin: Client, user: Credentials) -> object:
    """Return the ACL of *user* as AUTH_GET_ACL returns it."""
    fields = {"subject": f"User:{user.access_key}"}
    answer = require_success(admin.invoke(RequestCode.AUTH_GET_ACL, dict(fields)))
    return body_of(answer) if answer.body else None


def resources(acl: object) -> dict[str, object]:
    """Return the actions of all entries by resource."""
    assert isinstance(acl, dict)
    entries = [one for policy in acl["policies"] for one in policy["entries"]]
    return {one["resource"]: one["actions"] for one in entries}


@pytest.mark.clause("SEC-POLICY-016", "SEC-POLICY-018")
@pytest.mark.parametrize(
    "code",
    [RequestCode.AUTH_CREATE_ACL, RequestCode.AUTH_UPDATE_ACL],
    ids=lambda code: code.name,
)
def test_entries_are_added_to_an_acl(admin: Client, code: RequestCode) -> None:
    user = new_user(admin)
    first = [entry("Topic:One", "Pub", addresses=[LOOPBACK]), entry("Topic:Two", "Sub")]
    require_success(add_entries(admin, user, *first))
    stored = {**entry("Topic:One", "Pub"), "sourceIps": [LOOPBACK]}
    expected = {
        "subject": f"User:{user.access_key}",
        "policies": [
            {"policyType": "Custom", "entries": [stored, entry("Topic:Two", "Sub")]}
        ],
    }
    expect("SEC-POLICY-018", found=acl_of(admin, user), expected=expected, what="ACL")
    second = [entry("Topic:Two", "Pub", "Sub"), entry("Group:Three*", "Sub")]
    require_success(add_entries(admin, user, *second, code=code))
    merged = {
        "Topic:One": ["Pub"],
        "Topic:Two": ["Pub", "Sub"],
        "Group:Three*": ["Sub"],
    }
    found = resources(acl_of(admin, user))
    expect("SEC-POLICY-016", found=found, expected=merged, what="actions by resource")


@pytest.mark.clause("SEC-POLICY-017")
def test_an_acl_needs_its_user(admin: Client) -> None:
    answer = add_entries(admin, STRANGER, entry("Topic:*", "Pub"))
    remark = UNKNOWN_SUBJECT.format(username=STRANGER.access_key)
    expect(
        "SEC-POLICY-017",
        found=(answer.code, answer.remark),
        expected=(ResponseCode.NO_PERMISSION, remark),
        what="code and remark",
        transcript=admin.transcript,
    )


@pytest.mark.clause("SEC-POLICY-019")
def test_entries_and_acls_are_deleted(admin: Client) -> None:
    user = new_user(admin)
    entries = [entry("Topic:One", "Pub"), entry("Topic:Two", "Pub")]
    require_success(add_entries(admin, user, *entries))
    subject = {"subject": f"User:{user.access_key}"}
    one = {**subject, "resource": "Topic:One"}
    require_success(admin.invoke(RequestCode.AUTH_DELETE_ACL, dict(one)))
    left = list(resources(acl_of(admin, user)))
    expect("SEC-POLICY-019", found=left, expected=["Topic:Two"], what="resources")
    require_success(admin.invoke(RequestCode.AUTH_DELETE_ACL, dict(subject)))
    expect("SEC-POLICY-019", found=acl_of(admin, user), expected=None, what="ACL")


INVALID = {
    "no actions": entry("Topic:One"),
    "any": entry("Topic:One", "Any"),
    "decision": entry("Topic:One", "Pub", decision="Perhaps"),
    "address": entry("Topic:One", "Pub", addresses=["here"]),
}


@pytest.mark.clause("SEC-POLICY-020")
@pytest.mark.parametrize("invalid", INVALID.values(), ids=INVALID.keys())
def test_an_invalid_entry_is_refused(admin: Client, invalid: dict[str, object]) -> None:
    user = new_user(admin)
    answer = add_entries(admin, user, entry(unique_name("Topic:T"), "Pub"), invalid)
    expect(
        "SEC-POLICY-020",
        found=(answer.code, acl_of(admin, user)),
        expected=(ResponseCode.NO_PERMISSION, None),
        what="code, and the ACL afterwards",
        transcript=admin.transcript,
    )
