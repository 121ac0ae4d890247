"""Users and policies of a broker since 5.3, changed through its requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from conformance.harness.client.access import secret_credentials
from conformance.harness.client.client import (
    Client,
    body_of,
    json_body,
    require_success,
)
from conformance.harness.pytest_plugin.fixtures import unique_name
from spec.security.signature import Credentials
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode

USER = "user"
"""Beginning of the names that the suite gives to users."""


def new_user(admin: Client, **members: str) -> Credentials:
    """Create a user with *members* of its body, and return its credentials."""
    made = secret_credentials(unique_name(USER), unique_name("password"))
    require_success(create_user(admin, made, **members))
    return made


def create_user(admin: Client, user: Credentials, **members: str) -> Command:
    """Send AUTH_CREATE_USER."""
    body = {"username": user.access_key, "password": user.secret_key, **members}
    return admin.invoke(
        RequestCode.AUTH_CREATE_USER, {"username": user.access_key}, json_body(body)
    )


def delete_user(admin: Client, username: str) -> Command:
    """Send AUTH_DELETE_USER; the policies of the user go, too."""
    return admin.invoke(RequestCode.AUTH_DELETE_USER, {"username": username})


def users_of_this_run(admin: Client) -> list[str]:
    """Return the names of the users that `new_user` has made."""
    prefix = unique_name(USER).rpartition("_")[0]
    response = admin.invoke(RequestCode.AUTH_LIST_USER, {"filter": prefix})
    users = body_of(require_success(response))
    assert isinstance(users, list)
    return [one["username"] for one in users]


def update_user(admin: Client, username: str, **members: str) -> Command:
    """Send AUTH_UPDATE_USER."""
    fields = {"username": username}
    return admin.invoke(RequestCode.AUTH_UPDATE_USER, dict(fields), json_body(members))


def entry(
    resource: str,
    *actions: str,
    decision: str = "Allow",
    addresses: Sequence[str] | None = None,
) -> dict[str, object]:
    """Return an entry of a policy."""
    made: dict[str, object] = {
        "resource": resource,
        "actions": list(actions),
        "decision": decision,
    }
    return made if addresses is None else {**made, "sourceIps": list(addresses)}


def add_entries(
    admin: Client,
    user: Credentials,
    *entries: Mapping[str, object],
    policy: str = "Custom",
    code: RequestCode = RequestCode.AUTH_CREATE_ACL,
) -> Command:
    """Send AUTH_CREATE_ACL with the *entries* of one policy."""
    subject = f"User:{user.access_key}"
    policies = [{"policyType": policy, "entries": list(entries)}]
    body = {"subject": subject, "policies": policies}
    return admin.invoke(code, {"subject": subject}, json_body(body))
