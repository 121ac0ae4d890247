"""Users since 5.3: authentication, and the requests that manage users."""

from __future__ import annotations

import pytest

from conformance.harness.client.access import secret_credentials
from conformance.harness.client.client import Client, body_of, require_success
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_code,
    expect_fields,
)
from conformance.harness.pytest_plugin.fixtures import unique_name
from conformance.security.accounts import ADMIN, STRANGER, with_another_secret
from conformance.security.guard import Guard
from conformance.security.users import (
    add_entries,
    create_user,
    entry,
    new_user,
    update_user,
)
from spec.security.signature import ACCESS_KEY, SIGNATURE, Credentials
from spec.security.users import (
    BLANK_USERNAME,
    DISABLED_USER,
    NO_USERNAME,
    ONLY_SUPER_CHANGES_SUPER,
    ONLY_SUPER_CREATES_SUPER,
    UNKNOWN_USER,
    USER_EXISTS,
    USER_IS_MISSING,
    WRONG_SIGNATURE,
)
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode


def expect_refusal(
    clause: str,
    client: Client,
    response: Command,
    remark: str,
    code: ResponseCode = ResponseCode.NO_PERMISSION,
) -> None:
    """Fail *clause* unless *response* has this code and remark."""
    expect(
        clause,
        found=(response.code, response.remark),
        expected=(code, remark),
        what="code and remark",
        transcript=client.transcript,
    )


@pytest.mark.clause("SEC-USER-001", "SEC-USER-002")
@pytest.mark.parametrize("fields", [{}, {"topic": "Any"}, {SIGNATURE: "x"}])
def test_an_unsigned_request_is_refused(guard: Guard, fields: dict[str, str]) -> None:
    with guard.client() as client:
        response = client.invoke(RequestCode.GET_MAX_OFFSET, dict(fields))
        refused = ResponseCode.NO_PERMISSION
        expect_code("SEC-USER-001", response, refused, client.transcript)
        expect_refusal("SEC-USER-002", client, response, NO_USERNAME)


@pytest.mark.clause("SEC-USER-003")
def test_an_unknown_user_is_refused(guard: Guard) -> None:
    with guard.client(STRANGER) as client:
        remark = UNKNOWN_USER.format(username=STRANGER.access_key)
        response = client.max_offset(topic="Any")
        expect_refusal("SEC-USER-003", client, response, remark)


@pytest.mark.clause("SEC-USER-004")
def test_another_password_is_refused(guard: Guard) -> None:
    with guard.client(with_another_secret(ADMIN)) as client:
        response = client.max_offset(topic="Any")
        expect_refusal("SEC-USER-004", client, response, WRONG_SIGNATURE)


@pytest.mark.clause("SEC-USER-004")
@pytest.mark.parametrize("signature", [None, "", "="])
def test_no_signature_of_ours_is_refused(guard: Guard, signature: str | None) -> None:
    fields = {ACCESS_KEY: ADMIN.access_key, SIGNATURE: signature, "topic": "Any"}
    with guard.client() as client:
        response = client.invoke(RequestCode.GET_MAX_OFFSET, fields)
        expect_refusal("SEC-USER-004", client, response, WRONG_SIGNATURE)


@pytest.mark.clause("SEC-USER-005")
def test_a_disabled_user_is_refused(guard: Guard, admin: Client) -> None:
    user = new_user(admin, userType="Super", userStatus="disable")
    remark = DISABLED_USER.format(username=user.access_key)
    for credentials in (user, with_another_secret(user)):
        with guard.client(credentials) as client:
            response = client.max_offset(topic="Any")
            expect_refusal("SEC-USER-005", client, response, remark)


@pytest.mark.clause("SEC-USER-006")
def test_a_refused_oneway_send_does_nothing(guard: Guard, admin: Client) -> None:
    require_success(admin.create_topic(topic="UserOneway"))
    with guard.client() as client:
        client.send_message(topic="UserOneway", oneway=True)
        response = client.send_message(topic="UserOneway")
        expect_refusal("SEC-USER-006", client, response, NO_USERNAME)
        offset = require_success(admin.max_offset(topic="UserOneway")).fields["offset"]
        expect(
            "SEC-USER-006",
            found=(client.peer.is_silent(0.2), offset),
            expected=(True, "0"),
            what="silence, and the maximum offset afterwards",
            transcript=client.transcript,
        )


def user_of(admin: Client, username: str) -> object:
    """Return the user as AUTH_GET_USER returns it."""
    fields = {"username": username}
    return body_of(admin.invoke(RequestCode.AUTH_GET_USER, dict(fields)))


@pytest.mark.clause("SEC-USER-007", "SEC-USER-012")
def test_a_created_user_is_normal_and_enabled(admin: Client) -> None:
    user = new_user(admin)
    found = user_of(admin, user.access_key)
    assert isinstance(found, dict)
    expected = {"userType": "Normal", "userStatus": "enable"}
    expect_fields("SEC-USER-007", found=found, expected=expected)
    named = {"username": user.access_key, "password": user.secret_key}
    expect_fields("SEC-USER-012", found=found, expected=named)
    gone = admin.invoke(RequestCode.AUTH_GET_USER, {"username": unique_name("none")})
    expect("SEC-USER-012", found=require_success(gone).body, expected=b"")


@pytest.mark.clause("SEC-USER-008")
def test_a_user_is_created_once(admin: Client) -> None:
    user = new_user(admin)
    response = create_user(admin, user)
    expect_refusal("SEC-USER-008", admin, response, USER_EXISTS)


@pytest.mark.clause("SEC-USER-009")
def test_a_password_changes_at_once(guard: Guard, admin: Client) -> None:
    user = new_user(admin, userType="Super")
    changed = secret_credentials(user.access_key, unique_name("password"))
    require_success(update_user(admin, user.access_key, password=changed.secret_key))
    found = []
    for credentials in (user, changed):
        with guard.client(credentials) as client:
            found.append(guard.reason(client.max_offset(topic="Any")))
    expect("SEC-USER-009", found=found, expected=[WRONG_SIGNATURE, ""])
    kept = user_of(admin, user.access_key)
    assert isinstance(kept, dict)
    expect_fields("SEC-USER-009", found=kept, expected={"userType": "Super"})


@pytest.mark.clause("SEC-USER-010")
def test_an_unknown_user_is_not_updated(admin: Client) -> None:
    response = update_user(admin, unique_name("none"), userStatus="enable")
    expect_refusal("SEC-USER-010", admin, response, USER_IS_MISSING)


@pytest.mark.clause("SEC-USER-011")
def test_a_deleted_user_is_unknown(guard: Guard, admin: Client) -> None:
    user = new_user(admin)
    require_success(add_entries(admin, user, entry("Topic:*", "All")))
    for _ in range(2):  # the second time it is unknown
        fields = {"username": user.access_key}
        response = admin.invoke(RequestCode.AUTH_DELETE_USER, dict(fields))
        expect("SEC-USER-011", found=response.code, expected=ResponseCode.SUCCESS)
    with guard.client(user) as client:
        remark = UNKNOWN_USER.format(username=user.access_key)
        response = client.max_offset(topic="Any")
        expect_refusal("SEC-USER-011", client, response, remark)
    require_success(create_user(admin, user))
    with guard.client(user) as client:
        reason = guard.reason(client.max_offset(topic="Any"))
        is_refused = "no matched policies" in reason
        expect("SEC-USER-011", found=is_refused, expected=True, what="without policies")


@pytest.mark.clause("SEC-USER-013")
def test_users_are_listed_by_a_part_of_the_name(admin: Client) -> None:
    user = new_user(admin)
    part = user.access_key.removeprefix("user")
    listed = body_of(admin.invoke(RequestCode.AUTH_LIST_USER, {"filter": part}))
    assert isinstance(listed, list)
    names = [one["username"] for one in listed]
    expect("SEC-USER-013", found=names, expected=[user.access_key], what="usernames")
    none = admin.invoke(RequestCode.AUTH_LIST_USER, {"filter": unique_name("none")})
    expect("SEC-USER-013", found=require_success(none).body, expected=b"")


@pytest.mark.clause("SEC-USER-014")
def test_only_a_super_user_manages_super_users(guard: Guard, admin: Client) -> None:
    other = new_user(admin, userType="Super")
    manager = new_user(admin)
    require_success(add_entries(admin, manager, entry("*", "All")))
    with guard.client(manager) as client:
        created = Credentials(access_key=unique_name("made"), secret_key="p" * 8)
        response = create_user(client, created, userType="Super")
        code = ResponseCode.SYSTEM_ERROR
        remark = ONLY_SUPER_CREATES_SUPER
        expect_refusal("SEC-USER-014", client, response, remark, code)
        response = update_user(client, other.access_key, password="p" * 8)
        expect_refusal("SEC-USER-014", client, response, ONLY_SUPER_CHANGES_SUPER)
        fields = {"username": other.access_key}
        response = client.invoke(RequestCode.AUTH_DELETE_USER, dict(fields))
        expect_refusal("SEC-USER-014", client, response, ONLY_SUPER_CHANGES_SUPER)


@pytest.mark.clause("SEC-USER-015")
@pytest.mark.parametrize(
    "code",
    [
        RequestCode.AUTH_CREATE_USER,
        RequestCode.AUTH_UPDATE_USER,
        RequestCode.AUTH_GET_USER,
    ],
    ids=lambda code: code.name,
)
def test_a_blank_name_is_refused(admin: Client, code: RequestCode) -> None:
    response = admin.invoke(code, {"username": ""}, b"{}")
    invalid = ResponseCode.INVALID_PARAMETER
    expect_refusal("SEC-USER-015", admin, response, BLANK_USERNAME, invalid)
