"""
Accounts of a started target: a plain_acl.yml, or since 5.3 the settings of its users.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from conformance.harness.targets.started.started_target import StartedTarget
from spec.security.plain_acl import ACCOUNTS, FILE, WHITE_ADDRESSES
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


_AUTH = "org.apache.rocketmq.auth"


def guarded_settings(admin: Credentials) -> dict[str, str]:
    """Return the settings of a broker that checks access; only *admin* is a user.

    Up to 5.2 its accounts are those of plain_acl.yml (Java: AuthConfig since 5.3).
    """
    return {
        "aclEnable": "true",
        "authenticationEnabled": "true",
        "authorizationEnabled": "true",
        "authenticationProvider": f"{_AUTH}.authentication.provider"
        ".DefaultAuthenticationProvider",
        "authenticationMetadataProvider": f"{_AUTH}.authentication.provider"
        ".LocalAuthenticationMetadataProvider",
        "authorizationProvider": f"{_AUTH}.authorization.provider"
        ".DefaultAuthorizationProvider",
        "authorizationMetadataProvider": f"{_AUTH}.authorization.provider"
        ".LocalAuthorizationMetadataProvider",
        "initAuthenticationUser": json.dumps(
            {"username": admin.access_key, "password": admin.secret_key}
        ),
        "innerClientAuthenticationCredentials": json.dumps(
            {"accessKey": admin.access_key, "secretKey": admin.secret_key}
        ),
    }


def write_plain_acl(target: StartedTarget, text: str) -> None:
    """Write plain_acl.yml in the home of *target*."""
    path = target.home / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
