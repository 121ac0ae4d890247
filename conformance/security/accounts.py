"""Accounts of the suite."""

from __future__ import annotations

from dataclasses import replace

from conformance.harness.client.access import secret_credentials
from conformance.harness.targets.started.accounts import Account
from spec.security.signature import Credentials

ADMIN = secret_credentials("suiteadmin", "secret-of-the-admin")
NARROW = secret_credentials("narrowaccount", "secret-of-the-narrow-one")
WIDE = secret_credentials("wideaccount", "secret-of-the-wide-one")
BARE = secret_credentials("bareaccount", "secret-of-the-bare-one")
BOUND_ADMIN = secret_credentials("boundadmin", "secret-of-the-bound-admin")
WHITE = secret_credentials("whiteaccount", "secret-of-the-white-one")
STRANGER = secret_credentials("nosuchaccount", "secret-of-a-stranger")


def with_another_secret(credentials: Credentials) -> Credentials:
    """Return the access key of *credentials* with a secret that is not theirs."""
    return replace(credentials, secret_key="not-the-secret")  # noqa: S106


WHITE_ADDRESS, OTHER_ADDRESS = "127.0.0.2", "127.0.0.3"
"""Sources of connections, one of them in the white list of an account."""

TOPIC_PERMISSIONS = {
    "AclPub": "PUB",
    "AclSub": "SUB",
    "AclBoth": "PUB|SUB",
    "AclTurned": "SUB|PUB",
    "AclSpaces": " PUB ",
    "AclDenied": "DENY",
    "AclUnknown": "PUBLISH",
    "AclLowercase": "pub",
}
"""Permissions of the narrow account by topic, as written."""
GROUP_PERMISSIONS = {"acl_sub": "SUB", "acl_pub": "PUB", "acl_denied": "DENY"}

_LISTED = [f"{name}={word}" for name, word in TOPIC_PERMISSIONS.items()]
_LISTED_GROUPS = [f"{name}={word}" for name, word in GROUP_PERMISSIONS.items()]

SUITE_ACCOUNTS = (
    Account(credentials=ADMIN, admin=True),
    Account(credentials=NARROW, topics=_LISTED, groups=_LISTED_GROUPS),
    Account(
        credentials=WIDE,
        topic_default="PUB|SUB",
        group_default="SUB",
        topics=["AclDenied=DENY"],
        groups=["acl_denied=DENY"],
    ),
    Account(credentials=BARE, topics=["AclPub=PUB"]),
    Account(credentials=BOUND_ADMIN, admin=True, topics=["AclPub=PUB"]),
    Account(credentials=WHITE, white_address=WHITE_ADDRESS, topics=["AclPub=PUB"]),
)
