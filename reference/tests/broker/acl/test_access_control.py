"""Access control under hostile requests and files: nothing is admitted, no crash."""

from __future__ import annotations

import os
import random
from ipaddress import ip_address

import pytest
from msgspec.structs import replace

from reference.core.broker.acl.access_control import AccessControl, check_permissions
from reference.core.broker.acl.accounts import AclFileError, decode_accounts, matcher_of
from reference.core.remoting.request import Refused, Request
from spec.host import Host
from spec.security.signature import (
    ACCESS_KEY,
    SIGNATURE,
    Credentials,
    content_of,
    signed_fields,
)
from spec.wire.remoting.request_code import RequestCode

ACCOUNT = Credentials(access_key="someaccount", secret_key="its-secret-key")  # noqa: S106
TEXT = f"""
accounts:
- accessKey: {ACCOUNT.access_key}
  secretKey: {ACCOUNT.secret_key}
  admin: true
"""
REMOTE = Host.of("127.0.0.1", 1234)
FUZZED_REQUESTS = 100_000 if os.environ.get("HYPOTHESIS_PROFILE") == "deep" else 5_000
WORDS = ("", "0", "1", "TopicTest", "null", "=", "\x00", "ü", "\U0001f600", "a" * 300)
NAMES = ("topic", "b", "consumerGroup", "group", "queueId", "e", "SecurityToken", "zz")


class OneText:
    """A file of accounts with one content."""

    def changed_text(self) -> str | None:
        """Return the content."""
        return TEXT

    def text(self) -> str:
        """Return the content."""
        return TEXT

    def write(self, text: str) -> None:
        """Refuse a change."""
        raise AclFileError(f"{len(text)} characters are not written")


@pytest.fixture
def access() -> AccessControl:
    """Return access control with one account, an administrator."""
    return AccessControl(OneText(), lambda _: None)


def signed(rng: random.Random) -> Request:
    """Return a random request with a valid signature."""
    names = rng.sample(NAMES, rng.randrange(len(NAMES)))
    fields = {name: rng.choice(WORDS) for name in names}
    body = rng.randbytes(rng.randrange(40))
    code = rng.choice(list(RequestCode))
    fields = signed_fields(fields, body, ACCOUNT)
    return Request(int(code), 1, 0, fields, body, "JAVA", 333)


def mutated(request: Request, rng: random.Random) -> Request:
    """Return *request* with another content or another signature."""
    fields, body = dict(request.fields), request.body
    match rng.randrange(7):
        case 0:
            body += rng.randbytes(1 + rng.randrange(3))
        case 1:
            at = rng.randrange(28)
            old = fields[SIGNATURE]
            fields[SIGNATURE] = old[:at] + rng.choice("AZaz09+/=é") + old[at + 1 :]
        case 2:
            fields[rng.choice(NAMES)] = rng.choice(WORDS)
        case 3:
            del fields[rng.choice(list(fields))]
        case 4:
            fields[SIGNATURE] = rng.choice(WORDS)
        case 5:
            fields[ACCESS_KEY] = rng.choice([*WORDS, "someaccount ", "SomeAccount"])
        case _:
            fields[rng.choice(list(fields))] += rng.choice(WORDS)
    return Request(request.code, 1, 0, fields, body, "JAVA", 333)


def is_admitted(access: AccessControl, request: Request) -> bool:
    """Return whether the request passes; nothing but Refused may be raised."""
    try:
        access.check(request, REMOTE)
    except Refused as refused:
        return ACCOUNT.secret_key in refused.remark  # as bad as admitted
    return True


def test_no_mutated_request_is_admitted(access: AccessControl) -> None:
    rng = random.Random(20260101)  # noqa: S311
    admitted = 0
    for _ in range(FUZZED_REQUESTS):
        request = signed(rng)
        other = mutated(request, rng)
        is_same = (
            other.fields.get(ACCESS_KEY) == ACCOUNT.access_key
            and other.fields.get(SIGNATURE) == request.fields[SIGNATURE]
            and content_of(other.fields, other.body)
            == content_of(request.fields, request.body)
        )
        assert is_admitted(access, other) == is_same
        admitted += is_same
    # Only those whose mutation left the signed bytes as they were.
    assert 0 < admitted < FUZZED_REQUESTS // 4


def test_signed_requests_are_admitted(access: AccessControl) -> None:
    rng = random.Random(1)  # noqa: S311
    assert all(is_admitted(access, signed(rng)) for _ in range(1000))


HOSTILE = {
    "nothing": "",
    "text": "accounts",
    "tag of Python": "accounts: !!python/object/apply:os.system ['true']",
    "tag of Java": "accounts: !!javax.script.ScriptEngineManager []",
    "deep": "accounts: " + "[" * 5000,
    "deep objects": "{a: " * 5000,
    "aliases": "a: &a [x,x]\n" + "accounts: [*a, *b]",
    "cycle": "accounts: &a [*a]",
    "key cycle": "accounts: &a {? *a : 1}",
    "date": "accounts: [{accessKey: 2026-13-45, secretKey: 2026-01-01}]",
    "long": "#" * 2_000_000,
    "list of lists": "accounts: [[], {}]",
    "a number too long": "accounts: [{accessKey: " + "9" * 5000 + "}]",
    "null bytes": "accounts: \x00",
    "infinite": "accounts: [{accessKey: .inf, secretKey: .nan}]",
    "no address": "globalWhiteRemoteAddresses: ['1.2.3.4-']",
    "half an address": "globalWhiteRemoteAddresses: ['*.1']",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_files_are_refused(text: str) -> None:
    with pytest.raises(AclFileError):
        decode_accounts(text)


def test_aliases_do_not_multiply() -> None:
    lines = ["a0: &a0 [lol, lol]"]
    lines += [f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, 60)]
    with pytest.raises(AclFileError):
        decode_accounts("\n".join([*lines, "accounts: [*a59]"]))


def test_numbers_are_read_as_texts() -> None:
    text = "accounts: [{accessKey: 1234567, secretKey: 12345678, admin: 'true'}]"
    account = decode_accounts(text).by_access_key["1234567"]
    assert account.secret_key == "12345678"  # noqa: S105
    assert account.is_admin
    assert "12345678" not in repr(account)


@pytest.mark.parametrize(
    "pattern", ["300.1.1.1", "1.2.3", "a-b", "1.2.3.{4", "1.2.3.4-2", "*-*", "{}", ",-"]
)
def test_malformed_patterns_match_nothing(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        matcher_of(pattern)


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [
        ("2001:db8::1", "2001:db8::1", "2001:db8::2"),
        ("2001:db8:0:0:0:0:0:*", "2001:db8::7", "2001:db8:1::7"),
        ("2001:db8:0:0:0:0:0:1-a", "2001:db8::a", "2001:db8::b"),
        ("2001:db8::{1,2}", "2001:db8::2", "2001:db8::3"),
        ("0-ff:*:*:*:*:*:*:*", "ff::1", "127.0.0.1"),
    ],
)
def test_patterns_of_ipv6(pattern: str, inside: str, outside: str) -> None:

    matches = matcher_of(pattern)
    assert matches(ip_address(inside))
    assert not matches(ip_address(outside))


def test_the_last_permission_of_a_resource_counts() -> None:
    text = TEXT.replace("admin: true", "groupPerms: [g=SUB]")
    account = decode_accounts(text).by_access_key[ACCOUNT.access_key]
    fields = {"originTopic": "%RETRY%g", "group": "g"}
    code = int(RequestCode.CONSUMER_SEND_MSG_BACK)
    request = Request(code, 1, 0, fields, b"", "JAVA", 333)
    check_permissions(request, account)
    with pytest.raises(Refused):
        check_permissions(replace(request, fields={**fields, "group": "h"}), account)
