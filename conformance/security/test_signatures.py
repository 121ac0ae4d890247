"""Signatures: which requests a broker of any release admits and refuses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from conformance.harness.client.client import Client
from conformance.harness.client.requests.invoker import request
from conformance.harness.pytest_plugin.expectations import expect
from conformance.security.accounts import ADMIN
from conformance.security.guard import Guard
from spec.security.signature import (
    ACCESS_KEY,
    LAST_UNSIGNED_VERSION,
    SIGNATURE,
    Credentials,
    content_of,
    sign,
    signed_fields,
)
from spec.wire.consumer.query import UNIQUE_KEY_FIELD
from spec.wire.remoting.command import Command
from spec.wire.remoting.frame import SerializeType
from spec.wire.remoting.request_code import RequestCode

UNSORTED = {"zone": "1", "topic": "AclPub", "queueId": "0", "a": "2"}
"""Fields of a request for a maximum offset, not in the order of their names."""


def max_offset(fields: Mapping[str, str] = UNSORTED, body: bytes = b"") -> Command:
    """Return a request for the maximum offset of a queue, as the admin signs it."""
    made = request(RequestCode.GET_MAX_OFFSET, dict(fields), body)
    return replace(made, fields=signed_fields(made.fields, body, ADMIN))


def expect_refused(clause: str, guard: Guard, sent: Command) -> None:
    """Fail *clause* unless the request *sent* is refused for its signature."""
    with guard.client() as client:
        response = client.peer.request(sent)
        expect(
            clause,
            found=(response.code, guard.reason(response)),
            expected=(guard.refusal_code, guard.wrong_signature(ADMIN)),
            what="code and reason",
            transcript=client.transcript,
        )


def expect_admitted(clause: str, guard: Guard, sent: Command) -> None:
    """Fail *clause* unless the request *sent* is processed."""
    with guard.client() as client:
        response = client.peer.request(sent)
        expect(
            clause,
            found=guard.reason(response),
            expected="",
            what="reason of a refusal",
            transcript=client.transcript,
        )


@pytest.mark.clause("SEC-SIGN-001", "SEC-SIGN-002")
@pytest.mark.parametrize("body", [b"", b"a body", bytes(range(256))])
def test_a_signed_request_is_admitted(guard: Guard, body: bytes) -> None:
    expect_admitted("SEC-SIGN-001", guard, max_offset(body=body))


@pytest.mark.clause("SEC-SIGN-001")
def test_values_beyond_latin_letters_are_signed_as_utf_8(guard: Guard) -> None:
    fields = {**UNSORTED, "zone": "消息 ü \U0001f600"}
    expect_admitted("SEC-SIGN-001", guard, max_offset(fields))


@pytest.mark.clause("SEC-SIGN-002")
def test_fields_in_the_order_of_the_header_are_refused(guard: Guard) -> None:
    fields = {**UNSORTED, ACCESS_KEY: ADMIN.access_key}
    unsorted = "".join(fields.values()).encode()
    assert unsorted != content_of(fields, b"")
    fields[SIGNATURE] = sign(unsorted, ADMIN.secret_key)
    sent = request(RequestCode.GET_MAX_OFFSET, dict(fields))
    expect_refused("SEC-SIGN-002", guard, sent)


@pytest.mark.clause("SEC-SIGN-002")
def test_the_body_comes_after_the_fields(guard: Guard) -> None:
    fields = {**UNSORTED, ACCESS_KEY: ADMIN.access_key}
    content = b"body" + content_of(fields, b"")
    fields[SIGNATURE] = sign(content, ADMIN.secret_key)
    sent = request(RequestCode.GET_MAX_OFFSET, dict(fields), b"body")
    expect_refused("SEC-SIGN-002", guard, sent)


@pytest.mark.clause("SEC-SIGN-002")
def test_names_are_compared_by_utf_16_units(guard: Guard) -> None:
    # U+FF5A is above U+1F600 in UTF-16, and below it by code point. The header is
    # binary: 5.4.0 closes the connection of a JSON header with such a name.
    fields = {**UNSORTED, "\uff5a": "wide", "\U0001f600": "astral"}
    sent = replace(max_offset(fields), serialize_type=SerializeType.ROCKETMQ)
    expect_admitted("SEC-SIGN-002", guard, sent)


@pytest.mark.clause("SEC-SIGN-003")
@pytest.mark.parametrize("body", [b"", b"B", b"body.", b"Body"])
def test_a_changed_body_is_refused(guard: Guard, body: bytes) -> None:
    sent = replace(max_offset(body=b"body"), body=body)
    expect_refused("SEC-SIGN-003", guard, sent)


CHANGES: dict[str, dict[str, str | None]] = {
    "changed": {"queueId": "1"},
    "added": {"new": "3"},
    "removed": {"a": None},
    "renamed": {"a": None, "zz": "2"},
}


@pytest.mark.clause("SEC-SIGN-004")
@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES.keys())
def test_changed_fields_are_refused(
    guard: Guard, changes: Mapping[str, str | None]
) -> None:
    sent = max_offset()
    changed = {**sent.fields, **changes}
    fields = {name: value for name, value in changed.items() if value is not None}
    expect_refused("SEC-SIGN-004", guard, replace(sent, fields=fields))


@pytest.mark.clause("SEC-SIGN-005")
def test_a_security_token_is_part_of_the_content(guard: Guard) -> None:
    token = Credentials(
        access_key=ADMIN.access_key,
        secret_key=ADMIN.secret_key,
        security_token="any token",  # noqa: S106
    )
    made = request(RequestCode.GET_MAX_OFFSET, dict(UNSORTED))
    sent = replace(made, fields=signed_fields(made.fields, b"", token))
    expect_admitted("SEC-SIGN-005", guard, sent)
    other = replace(sent, fields={**sent.fields, "SecurityToken": "another"})
    expect_refused("SEC-SIGN-005", guard, other)


@pytest.mark.clause("SEC-SIGN-006")
def test_characters_may_move_to_the_next_value(guard: Guard) -> None:
    sent = max_offset({**UNSORTED, "topic": "AclPub", "zone": "x1"})
    moved = replace(sent, fields={**sent.fields, "topic": "AclPubx", "zone": "1"})
    expect_admitted("SEC-SIGN-006", guard, moved)


@pytest.mark.clause("SEC-SIGN-007")
def test_the_code_may_change(guard: Guard) -> None:
    sent = replace(max_offset(), code=RequestCode.GET_MIN_OFFSET)
    expect_admitted("SEC-SIGN-007", guard, replace(sent, version=0, remark="x"))


def unique_key_query(*, is_signed: bool, version: int) -> Command:
    """Return a request with _UNIQUE_KEY_QUERY, in the content or added later."""
    more = {UNIQUE_KEY_FIELD: "true"}
    made = max_offset({**UNSORTED, **more} if is_signed else UNSORTED)
    return replace(made, fields={**made.fields, **more}, version=version)


@pytest.mark.clause("SEC-SIGN-008")
def test_up_to_4_6_a_query_by_unique_key_needs_the_signed_field(guard: Guard) -> None:
    signed = unique_key_query(is_signed=True, version=333)
    expect_admitted("SEC-SIGN-008", guard, signed)
    unsigned = unique_key_query(is_signed=False, version=333)
    expect_refused("SEC-SIGN-008", guard, unsigned)


@pytest.mark.clause("SEC-SIGN-009")
def test_in_4_9_a_query_by_unique_key_leaves_the_field_out(guard: Guard) -> None:
    unsigned = unique_key_query(is_signed=False, version=401)
    expect_admitted("SEC-SIGN-009", guard, unsigned)
    signed = unique_key_query(is_signed=True, version=401)
    expect_refused("SEC-SIGN-009", guard, signed)


@pytest.mark.clause("SEC-SIGN-010")
def test_from_5_3_on_the_version_decides(guard: Guard) -> None:
    old, new = LAST_UNSIGNED_VERSION, LAST_UNSIGNED_VERSION + 1
    for version in (old, new):
        is_signed = version > LAST_UNSIGNED_VERSION
        right = unique_key_query(is_signed=is_signed, version=version)
        expect_admitted("SEC-SIGN-010", guard, right)
        wrong = unique_key_query(is_signed=not is_signed, version=version)
        expect_refused("SEC-SIGN-010", guard, wrong)


@pytest.mark.clause("SEC-SIGN-001")
def test_a_client_with_credentials_signs_every_request(admin: Client) -> None:
    response = admin.max_offset(topic="AclPub")
    sent = "".join(map(str, admin.transcript.render()))
    expect(
        "SEC-SIGN-001",
        found=(response.remark or "", ADMIN.secret_key in sent),
        expected=(response.remark or "", False),
        what="the secret key in the transcript",
    )
