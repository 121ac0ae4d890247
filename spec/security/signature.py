"""
Signature of a request: HMAC-SHA1, in Base64, over the header fields and the body.

A client with credentials adds the fields AccessKey and Signature to every request
(Java: AclClientRPCHook). The broker has the secret key of the account, computes the
signature again, and compares. The secret key never crosses the connection.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field

from spec.clause import Clause, Level

ACCESS_KEY = "AccessKey"
SIGNATURE = "Signature"
SECURITY_TOKEN = "SecurityToken"  # noqa: S105 - a field name
"""Header field of a query by unique key (Java: MixAll#UNIQUE_MSG_QUERY_FLAG)."""

_SIGNER = "4.6.0 org.apache.rocketmq.acl.common.AclSigner"
_UTILS = "4.6.0 org.apache.rocketmq.acl.common.AclUtils"
_VALIDATOR = "org.apache.rocketmq.acl.plain.PlainAccessValidator#parse"
_AUTH = (
    "5.3.3 org.apache.rocketmq.auth.authentication.builder"
    ".DefaultAuthenticationContextBuilder#build"
)

SIGNATURE_OF_CONTENT = Clause(
    id="SEC-SIGN-001",
    level=Level.MUST,
    text=(
        "The header field Signature is the HMAC-SHA1 of the content of the request "
        "with the secret key, in UTF-8, as key. It is written in Base64."
    ),
    source=f"{_SIGNER}#calSignature",
)
CONTENT = Clause(
    id="SEC-SIGN-002",
    level=Level.MUST,
    text=(
        "The content of a request is the values of its header fields in the order of "
        "their names, without separators and without Signature, and then the body."
    ),
    source=f"{_UTILS}#combineRequestContent",
    hints=(("", "were the fields signed in the order of the header?"),),
)
BODY_IS_SIGNED = Clause(
    id="SEC-SIGN-003",
    level=Level.MUST,
    text="A request whose body was changed after it was signed is refused.",
    source=f"{_UTILS}#combineRequestContent",
)
FIELDS_ARE_SIGNED = Clause(
    id="SEC-SIGN-004",
    level=Level.MUST,
    text=(
        "A request with a header field that was changed, added or removed after it was "
        "signed is refused."
    ),
    source=f"{_UTILS}#combineRequestContent",
)
TOKEN_IS_SIGNED = Clause(
    id="SEC-SIGN-005",
    level=Level.QUIRK,
    text=(
        "The header field SecurityToken is part of the content. A broker does not "
        "check its value."
    ),
    source="4.6.0 org.apache.rocketmq.acl.common.AclClientRPCHook#doBeforeRequest",
)
CONTENT_HAS_NO_SEPARATORS = Clause(
    id="SEC-SIGN-006",
    level=Level.QUIRK,
    text=(
        "Because the content has no separators, a signature stays valid if characters "
        "move from the end of a value to the beginning of the next one."
    ),
    source=f"{_UTILS}#combineRequestContent",
)
CODE_IS_NOT_SIGNED = Clause(
    id="SEC-SIGN-007",
    level=Level.QUIRK,
    text=(
        "Code, opaque, version and remark are not part of the content. A signature is "
        "valid for a request with the same fields and body and another code."
    ),
    source=f"4.6.0 {_VALIDATOR}",
)
UNIQUE_KEY_QUERY_SIGNED = Clause(
    id="SEC-SIGN-008",
    level=Level.QUIRK,
    text=(
        "Up to 4.6, _UNIQUE_KEY_QUERY is part of the content, although the client of "
        "these releases does not sign it. Their queries by unique key are refused."
    ),
    source=f"4.6.0 {_VALIDATOR}",
    until="4.6",
)
UNIQUE_KEY_QUERY_UNSIGNED = Clause(
    id="SEC-SIGN-009",
    level=Level.MUST,
    text=(
        "From 4.7 to 4.9, _UNIQUE_KEY_QUERY is not part of the content, whether the "
        "client signs it or not."
    ),
    source=f"4.9.7 {_VALIDATOR}",
    since="4.7",
    until="4.9",
)
UNIQUE_KEY_QUERY_BY_VERSION = Clause(
    id="SEC-SIGN-010",
    level=Level.MUST,
    text=(
        "From 5.3 on, _UNIQUE_KEY_QUERY is part of the content unless the version in "
        "the header is that of 4.9.3 (399) or older."
    ),
    source=_AUTH,
    since="5.3",
)
LAST_UNSIGNED_VERSION = 399
"""Version in headers of 4.9.3, whose client does not sign _UNIQUE_KEY_QUERY."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """Keys of an account (Java: SessionCredentials). Its text hides the secret."""

    access_key: str
    secret_key: str = field(repr=False)
    security_token: str | None = field(default=None, repr=False)


def content_of(fields: Mapping[str, str], body: bytes) -> bytes:
    """Return the bytes that are signed."""
    names = sorted(fields, key=_java_order)
    text = "".join(fields[name] for name in names if name != SIGNATURE)
    return text.encode("utf-8", "replace") + body


def sign(content: bytes, secret_key: str) -> str:
    """Return the signature of *content*."""
    key = secret_key.encode("utf-8", "replace")
    digest = hmac.new(key, content, hashlib.sha1).digest()
    return base64.b64encode(digest).decode("ascii")


def signed_fields(
    fields: Mapping[str, str], body: bytes, credentials: Credentials
) -> dict[str, str]:
    """Return *fields* with access key, security token if any, and signature."""
    made = {**fields, ACCESS_KEY: credentials.access_key}
    if credentials.security_token is not None:
        made[SECURITY_TOKEN] = credentials.security_token
    made[SIGNATURE] = sign(content_of(made, body), credentials.secret_key)
    return made


def _java_order(name: str) -> bytes:
    """Return the sort key of java.lang.String: UTF-16 units, not code points."""
    return name.encode("utf-16-be", "surrogatepass")
