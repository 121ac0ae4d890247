"""Policies since 5.3: which entries of an ACL match, and which one decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import pytest

from conformance.harness.client.address import LOOPBACK
from conformance.harness.client.client import (
    Client,
    require_success,
)
from conformance.harness.pytest_plugin.expectations import expect
from conformance.security.accounts import OTHER_ADDRESS, WHITE_ADDRESS
from conformance.security.guard import Guard
from conformance.security.reasons import expect_acts, no_policy, reason_for, send
from conformance.security.users import add_entries, entry, new_user
from spec.security.policies import DENIED
from spec.wire.remoting.response_code import ResponseCode

Entries: TypeAlias = Sequence[Mapping[str, object]]


@pytest.mark.clause("SEC-POLICY-001")
def test_a_super_user_needs_no_policy(guard: Guard, admin: Client) -> None:
    user = new_user(admin, userType="Super")
    acts = [(send("Policy"), ""), (lambda one: one.update_group(group="policy"), "")]
    expect_acts("SEC-POLICY-001", guard, user, acts)


@pytest.mark.clause("SEC-POLICY-002")
def test_a_user_without_policies_may_do_nothing(guard: Guard, admin: Client) -> None:
    user = new_user(admin)
    with guard.client(user) as client:
        response = client.send_message(topic="Policy")
        expect(
            "SEC-POLICY-002",
            found=(response.code, response.remark),
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
