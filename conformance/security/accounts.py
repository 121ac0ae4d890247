"""Accounts of the suite, and the plain_acl.yml that has them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from conformance.harness.client.access import secret_credentials
from spec.security.plain_acl import ACCOUNTS, WHITE_ADDRESSES
from spec.security.signature import Credentials


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """One entry of plain_acl.yml."""

    credentials: Credentials
    admin: bool = False
    white_address: str = ""
    topic_default: str = ""
    group_default: str = ""
    topics: Sequence[str] = ()
    groups: Sequence[str] = ()

    def lines(self) -> list[str]:
        """Return the entry as lines of YAML; empty values are left out."""
        texts = {
            "accessKey": self.credentials.access_key,
            "secretKey": self.credentials.secret_key,
            "whiteRemoteAddress": self.white_address,
            "defaultTopicPerm": self.topic_default,
            "defaultGroupPerm": self.group_default,
        }
        lines = [
            f"  {name}: {json.dumps(text)}" for name, text in texts.items() if text
        ]
        lines.append(f"  admin: {str(self.admin).lower()}")
        for name, entries in (("topicPerms", self.topics), ("groupPerms", self.groups)):
            if entries:
                lines += [f"  {name}:", *(f"  - {json.dumps(one)}" for one in entries)]
        return ["- " + lines[0].lstrip(), *lines[1:]]


def plain_acl(accounts: Iterable[Account], white: Sequence[str] = ()) -> str:
    """Return the text of a plain_acl.yml."""
    addresses = [f"- {json.dumps(one)}" for one in white]
    lines = [f"{WHITE_ADDRESSES}:{'' if addresses else ' []'}", *addresses]
    lines.append(f"{ACCOUNTS}:")
    for account in accounts:
        lines += account.lines()
    return "\n".join(lines) + "\n"


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
