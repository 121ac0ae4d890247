"""Requests about ACLs since 5.3: entries are added, read and deleted."""

from __future__ import annotations

import pytest

from conformance.harness.client.address import LOOPBACK
from conformance.harness.client.client import (
    Client,
    body_of,
    require_success,
)
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.fixtures import unique_name
from conformance.security.accounts import STRANGER
from conformance.security.users import add_entries, entry, new_user
from spec.security.policies import UNKNOWN_SUBJECT
from spec.security.signature import Credentials
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode


def acl_of(admin: Client, user: Credentials) -> object:
    """Return the ACL of *user* as AUTH_GET_ACL returns it."""
    fields = {"subject": f"User:{user.access_key}"}
    response = require_success(admin.invoke(RequestCode.AUTH_GET_ACL, dict(fields)))
    return body_of(response) if response.body else None


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
    response = add_entries(admin, STRANGER, entry("Topic:*", "Pub"))
    remark = UNKNOWN_SUBJECT.format(username=STRANGER.access_key)
    expect(
        "SEC-POLICY-017",
        found=(response.code, response.remark),
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


@pytest.mark.clause("SEC-POLICY-025")
def test_acls_are_listed_by_subject_and_resource(admin: Client) -> None:
    user, other = new_user(admin), new_user(admin)
    first, second = entry("Topic:One", "Pub"), entry("Topic:Two", "Sub")
    for one in (user, other):
        require_success(add_entries(admin, one, first, second))

    def listed(**filters: str) -> object:
        fields = {"subjectFilter": f"User:{user.access_key}", **filters}
        return body_of(admin.invoke(RequestCode.AUTH_LIST_ACL, dict(fields)))

    def expected(*entries: dict[str, object]) -> object:
        policy = {"policyType": "Custom", "entries": list(entries)}
        return [{"subject": f"User:{user.access_key}", "policies": [policy]}]

    found = listed()
    what = "ACLs of one subject"
    expect("SEC-POLICY-025", found=found, expected=expected(first, second), what=what)
    found = listed(resourceFilter="Two")
    what = "ACLs of one subject and resource"
    expect("SEC-POLICY-025", found=found, expected=expected(second), what=what)


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
    response = add_entries(admin, user, entry(unique_name("Topic:T"), "Pub"), invalid)
    expect(
        "SEC-POLICY-020",
        found=(response.code, acl_of(admin, user)),
        expected=(ResponseCode.NO_PERMISSION, None),
        what="code, and the ACL afterwards",
        transcript=admin.transcript,
    )
