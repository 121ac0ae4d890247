"""Access by plain_acl.yml: who is admitted, and the reason of each refusal."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.harness.client.access import Access
from conformance.harness.client.client import Client, require_success
from conformance.harness.pytest_plugin.expectations import expect
from conformance.security.accounts import (
    ADMIN,
    BARE,
    BOUND_ADMIN,
    NARROW,
    STRANGER,
    TOPIC_PERMISSIONS,
    WIDE,
    with_another_secret,
)
from conformance.security.guard import Guard
from conformance.security.reasons import expect_reason, expect_send
from spec.security.plain_acl import (
    EXCEPTION,
    NO_ACCESS_KEY,
    NO_PERMISSION,
    UNKNOWN_ACCESS_KEY,
    WRONG_SIGNATURE,
)
from spec.security.signature import ACCESS_KEY, SIGNATURE, Credentials
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

IMPOSTOR = with_another_secret(ADMIN)


@pytest.mark.clause("SEC-ACL-001")
def test_a_refusal_has_the_code_and_the_exception(guard: Guard) -> None:
    with guard.client() as client:
        response = client.send_message(topic="AclPub")
        found = response.code, (response.remark or "").startswith(f"{EXCEPTION}: ")
        expect(
            "SEC-ACL-001",
            found=found,
            expected=(ResponseCode.SYSTEM_ERROR, True),
            what="code, and whether the remark begins with the exception",
            transcript=client.transcript,
        )


@pytest.mark.clause("SEC-ACL-002")
@pytest.mark.parametrize(
    "request_one",
    [
        lambda client: client.send_message(topic="AclPub"),
        lambda client: client.pull(topic="AclPub", offset=0, group="acl_sub"),
        lambda client: client.max_offset(topic="AclPub"),
    ],
    ids=["send", "pull", "max offset"],
)
def test_an_unsigned_request_is_refused(
    guard: Guard, request_one: Callable[[Client], Command]
) -> None:
    with guard.client() as client:
        response = request_one(client)
        expect_reason("SEC-ACL-002", guard, client, response, NO_ACCESS_KEY)


@pytest.mark.clause("SEC-ACL-022")
def test_a_request_without_any_field_is_refused(guard: Guard) -> None:
    with guard.client() as client:
        response = client.peer.request(Command(code=RequestCode.GET_ALL_TOPIC_CONFIG))
        expect_reason("SEC-ACL-022", guard, client, response, NO_ACCESS_KEY)


@pytest.mark.clause("SEC-ACL-003")
def test_an_unknown_account_is_refused(guard: Guard) -> None:
    with guard.client(STRANGER) as client:
        response = client.max_offset(topic="AclPub")
        reason = UNKNOWN_ACCESS_KEY.format(access_key=STRANGER.access_key)
        expect_reason("SEC-ACL-003", guard, client, response, reason)


@pytest.mark.clause("SEC-ACL-004")
@pytest.mark.parametrize(
    "secret", ["not-the-secret", "secret-of-the-narrow-one", "secret-of-the-admin "]
)
def test_another_secret_is_refused(guard: Guard, secret: str) -> None:
    wrong = Credentials(access_key=ADMIN.access_key, secret_key=secret)
    with guard.client(wrong) as client:
        response = client.max_offset(topic="AclPub")
        reason = WRONG_SIGNATURE.format(access_key=ADMIN.access_key)
        expect_reason("SEC-ACL-004", guard, client, response, reason)


@pytest.mark.clause("SEC-ACL-004")
@pytest.mark.parametrize("signature", [None, "", "=", "AAAAAAAAAAAAAAAAAAAAAAAAAAA="])
def test_no_signature_of_ours_is_refused(guard: Guard, signature: str | None) -> None:
    fields = {ACCESS_KEY: ADMIN.access_key, SIGNATURE: signature, "topic": "AclPub"}
    with guard.client() as client:
        response = client.invoke(RequestCode.GET_MAX_OFFSET, fields)
        reason = WRONG_SIGNATURE.format(access_key=ADMIN.access_key)
        expect_reason("SEC-ACL-004", guard, client, response, reason)


@pytest.mark.clause("SEC-ACL-005")
def test_a_message_is_sent_and_pulled_by_an_account(guard: Guard) -> None:
    with guard.client(ADMIN) as client:
        require_success(client.create_topic(topic="AclBoth"))
        require_success(client.update_group(group="acl_sub"))
    with guard.client(NARROW) as client:
        sent = client.send_message(topic="AclBoth", body=b"signed")
        expect(
            "SEC-ACL-005",
            found=sent.code,
            expected=ResponseCode.SUCCESS,
            what="code of the send",
            transcript=client.transcript,
        )
        client.wait_for_max_offset(topic="AclBoth", offset=1)
        offset = int(sent.fields["queueOffset"])
        pulled = client.pull(topic="AclBoth", offset=offset, group="acl_sub")
        expect(
            "SEC-ACL-005",
            found=pulled.code,
            expected=ResponseCode.SUCCESS,
            what="code of the pull",
            transcript=client.transcript,
        )


@pytest.mark.clause("SEC-ACL-006")
def test_the_signature_comes_before_the_permission(guard: Guard) -> None:
    wrong = with_another_secret(NARROW)
    with guard.client(wrong) as client:
        response = client.send_message(topic="AclDenied")
        reason = WRONG_SIGNATURE.format(access_key=NARROW.access_key)
        expect_reason("SEC-ACL-006", guard, client, response, reason)


@pytest.mark.clause("SEC-ACL-007")
def test_a_refused_oneway_send_does_nothing(guard: Guard) -> None:
    with guard.client(ADMIN) as owner, guard.client() as client:
        require_success(owner.create_topic(topic="AclOneway"))
        client.send_message(topic="AclOneway", oneway=True)
        # The refusal of the next request shows that the oneway request was handled.
        response = client.send_message(topic="AclOneway")
        expect_reason("SEC-ACL-007", guard, client, response, NO_ACCESS_KEY)
        offset = require_success(owner.max_offset(topic="AclOneway")).fields["offset"]
        expect(
            "SEC-ACL-007",
            found=(client.peer.is_silent(0.2), offset),
            expected=(True, "0"),
            what="silence, and the maximum offset afterwards",
            transcript=client.transcript,
        )


@pytest.mark.clause("SEC-ACL-008")
@pytest.mark.parametrize("credentials", [None, IMPOSTOR, STRANGER])
def test_a_name_server_answers_everybody(
    guard: Guard, credentials: Credentials | None
) -> None:
    with guard.target.connect_to_namesrv() as namesrv:
        namesrv.peer.access = Access(credentials=credentials)
        expect(
            "SEC-ACL-008",
            found=namesrv.cluster_info().code,
            expected=ResponseCode.SUCCESS,
            what="code",
            transcript=namesrv.transcript,
        )


@pytest.mark.clause("SEC-ACL-009")
def test_the_default_permission_of_topics(guard: Guard) -> None:
    expect_send("SEC-ACL-009", guard, WIDE, "AclElsewhere", is_admitted=True)
    expect_send("SEC-ACL-009", guard, NARROW, "AclElsewhere", is_admitted=False)


@pytest.mark.clause("SEC-ACL-010")
@pytest.mark.parametrize(("account", "is_admitted"), [(WIDE, True), (NARROW, False)])
def test_the_default_permission_of_groups(
    guard: Guard, account: Credentials, is_admitted: bool
) -> None:
    with guard.client(account) as client:
        response = client.consumer_list(group="acl_elsewhere")
        refused = NO_PERMISSION.format(resource="group:acl_elsewhere")
        reason = "" if is_admitted else refused
        expect_reason("SEC-ACL-010", guard, client, response, reason)


@pytest.mark.clause("SEC-ACL-011")
def test_up_to_4_4_defaults_have_no_effect(guard: Guard) -> None:
    expect_send("SEC-ACL-011", guard, WIDE, "AclElsewhere", is_admitted=False)


@pytest.mark.clause("SEC-ACL-012")
def test_an_entry_replaces_the_default(guard: Guard) -> None:
    expect_send("SEC-ACL-012", guard, BARE, "AclPub", is_admitted=True)
    expect_send("SEC-ACL-012", guard, WIDE, "AclDenied", is_admitted=False)


@pytest.mark.clause("SEC-ACL-012")
def test_an_entry_for_a_group_replaces_the_default(guard: Guard) -> None:
    with guard.client(WIDE) as client:
        response = client.consumer_list(group="acl_denied")
        reason = NO_PERMISSION.format(resource="group:acl_denied")
        expect_reason("SEC-ACL-012", guard, client, response, reason)


@pytest.mark.clause("SEC-ACL-013")
@pytest.mark.parametrize("topic", TOPIC_PERMISSIONS)
def test_the_words_of_permissions(guard: Guard, topic: str) -> None:
    word = TOPIC_PERMISSIONS[topic].strip()
    may_send = word in {"PUB", "PUB|SUB", "SUB|PUB"}
    expect_send("SEC-ACL-013", guard, NARROW, topic, is_admitted=may_send)
    with guard.client(NARROW) as client:
        response = client.query_message(topic=topic, key="none")
        may_read = word in {"SUB", "PUB|SUB", "SUB|PUB"}
        refused = NO_PERMISSION.format(resource=f"topic:{topic}")
        reason = "" if may_read else refused
        expect_reason("SEC-ACL-013", guard, client, response, reason)


@pytest.mark.clause("SEC-ACL-014")
def test_an_admin_may_do_everything(guard: Guard, admin: Client) -> None:
    responses = {
        "send": admin.send_message(topic="AclElsewhere"),
        "pull": admin.pull(topic="AclElsewhere", offset=0, group="acl_elsewhere"),
        "group": admin.update_group(group="acl_elsewhere"),
    }
    found = {name: guard.reason(response) for name, response in responses.items()}
    expected = dict.fromkeys(responses, "")
    expect("SEC-ACL-014", found=found, expected=expected, transcript=admin.transcript)


@pytest.mark.clause("SEC-ACL-015")
def test_an_admin_with_entries_is_bound_to_its_defaults(guard: Guard) -> None:
    expect_send("SEC-ACL-015", guard, BOUND_ADMIN, "AclPub", is_admitted=True)
    expect_send("SEC-ACL-015", guard, BOUND_ADMIN, "AclElsewhere", is_admitted=False)
    with guard.client(BOUND_ADMIN) as client:
        response = client.update_group(group="acl_elsewhere")
        expect_reason("SEC-ACL-015", guard, client, response, "")
