"""
Changes of plain_acl.yml by requests (Java: PlainPermissionManager#updateAccessConfig).

A change that would leave a malformed file is refused. 4.6.0 writes such a file, and
ignores it at the next reload. Comments in the file are lost, as in Java.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from reference.core.broker.acl.accounts import AclFileError
from spec.security.plain_acl import ACCOUNTS, KEY_LENGTH_MIN, WHITE_ADDRESSES

AclObject = dict[str, Any]
"""The object in the file; a change raises AclFileError if it is refused."""
Change = Callable[[AclObject], None]
_TEXTS = ("secretKey", "whiteRemoteAddress", "defaultTopicPerm", "defaultGroupPerm")
_LISTS = ("topicPerms", "groupPerms")


def put_account(read: AclObject, fields: Mapping[str, str]) -> None:
    """Add an account, or replace values of one.

    Values that are empty in *fields* stay as they are, except admin.
    """
    access_key = fields.get("accessKey", "")
    for name in ("accessKey", "secretKey"):
        key = fields.get(name) or access_key
        if len(key) < KEY_LENGTH_MIN:  # [SEC-ACLCONFIG-003]
            raise AclFileError(f"The {name} should be longer than 6")
    if read.get(ACCOUNTS) is None:  # as 4.6.0 PlainPermissionManager
        raise AclFileError(
            f"The accesskey[{access_key}] corresponding to accessConfig has been "
            "updated failed."
        )
    entry = _take(read, access_key)
    if entry is None:
        entry = {"accessKey": access_key}
    entry |= {name: fields[name] for name in _TEXTS if fields.get(name)}
    entry |= {name: fields[name].split(",") for name in _LISTS if fields.get(name)}
    entry["admin"] = fields.get("admin", "").lower() == "true"
    read[ACCOUNTS].append(entry)  # [SEC-ACLCONFIG-001]


def delete_account(read: AclObject, access_key: str) -> None:
    """Remove an account."""
    if _take(read, access_key) is None:  # [SEC-ACLCONFIG-004]
        raise AclFileError(
            f"The accesskey[{access_key}] corresponding to accessConfig has been "
            "deleted failed."
        )


def replace_white_addresses(read: AclObject, addresses: Sequence[str]) -> None:
    """Replace the global white list."""
    if WHITE_ADDRESSES not in read:
        shown = ",".join(addresses)
        raise AclFileError(
            f"The globalWhiteAddresses[{shown}] has been updated failed."
        )
    read[WHITE_ADDRESSES] = list(addresses)  # [SEC-ACLCONFIG-005]


def _take(read: AclObject, access_key: str) -> dict[str, Any] | None:
    """Remove the account from *read*, and return it; None without one."""
    entries: list[dict[str, Any]] = read.get(ACCOUNTS) or []
    for entry in entries:
        if str(entry.get("accessKey")) == access_key:
            entries.remove(entry)
            return entry
    return None
