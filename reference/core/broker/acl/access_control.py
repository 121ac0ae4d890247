"""
The check of each request before its handler (Java: PlainPermissionManager#validate).

White lists come first, then the signature, then the permissions. The file of accounts
is read again when it changes; a malformed one leaves the accounts as they are.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any, Protocol

from reference.core.broker.acl.accounts import (
    Account,
    Accounts,
    AclFileError,
    decode_accounts,
    decode_yaml,
    encode_yaml,
)
from reference.core.broker.acl.permissions import needed_permissions, printed
from reference.core.remoting.request import Refused, Request
from spec.host import Host
from spec.layout import LayoutError
from spec.routing.topic_config import DataVersion, data_version_as_json
from spec.security.permissions import ADMIN_CODES
from spec.security.plain_acl import (
    DATA_VERSION,
    EXCEPTION,
    NEEDS_ADMIN,
    NO_ACCESS_KEY,
    NO_PERMISSION,
    UNKNOWN_ACCESS_KEY,
    WRONG_SIGNATURE,
)
from spec.security.signature import ACCESS_KEY, SIGNATURE, content_of, sign
from spec.wire.message.topic_names import RETRY_PREFIX
from spec.wire.remoting.response_code import ResponseCode

RELOAD_MS = 500
"""Period at which the file is compared (Java: FileWatchService#WATCH_INTERVAL)."""
AclObject = dict[str, Any]
"""The object in the file."""
Change = Callable[[AclObject], None]
"""Changes the object, or raises AclFileError if the change is refused."""


class AclFile(Protocol):
    """The file plain_acl.yml."""

    def changed_text(self) -> str | None:
        """Return the content if it changed since the last call, else None.

        Raises AclFileError if it cannot be read.
        """

    def text(self) -> str:
        """Return the content; raise AclFileError if it cannot be read."""

    def write(self, text: str) -> None:
        """Replace the content; raise AclFileError if it cannot be written."""


class AccessControl:
    """The accounts in force, and the check of requests by them."""

    def __init__(self, file: AclFile, log_error: Callable[[str], None]) -> None:
        """Read the file; raise AclFileError if it is malformed."""
        self._file = file
        self._log_error = log_error
        self._accounts: Accounts = decode_accounts(file.changed_text() or "")
        self.version = self._accounts.version or DataVersion()
        """Version of the accounts, which a change of the file by requests raises."""

    def reload(self, _: int) -> None:
        """Read the file if it changed."""
        try:
            text = self._file.changed_text()
            if text is not None:
                self._accounts = decode_accounts(text)  # [SEC-ACL-016]
                self.version = self._accounts.version or self.version
        except AclFileError as error:  # [SEC-ACL-017]
            self._log_error(f"plain_acl.yml is ignored: {error}")

    def read(self) -> AclObject:
        """Return the object in the file; raise AclFileError if it has none."""
        return decode_yaml(self._file.text())

    def change(self, change: Change, now_ms: int) -> None:
        """Change the file, which is in force from the next reload on.

        Raises AclFileError with the reason if the change is refused.
        """
        read = self.read()
        change(read)
        counter = self.version.counter + 1  # [SEC-ACLCONFIG-008]
        version = DataVersion(counter=counter, timestamp_ms=now_ms)
        read[DATA_VERSION] = [data_version_as_json(version)]
        text = encode_yaml(read)
        decode_accounts(text)
        self._file.write(text)
        self.version = version

    def check(self, request: Request, remote: Host) -> None:
        """Return if *request* is admitted, else raise Refused with the reason."""
        address = ip_address(remote.address)
        if self._accounts.is_white(address):
            return
        access_key = request.fields.get(ACCESS_KEY)
        if access_key is None:  # [SEC-ACL-002] [SEC-ACL-022]
            raise refusal(NO_ACCESS_KEY)
        account = self._accounts.by_access_key.get(access_key)
        if account is None:  # [SEC-ACL-003]
            raise refusal(UNKNOWN_ACCESS_KEY.format(access_key=access_key))
        if account.is_white(address):  # [SEC-WHITE-002]
            return
        if not has_valid_signature(request, account):  # [SEC-ACL-004]
            raise refusal(WRONG_SIGNATURE.format(access_key=access_key))
        check_permissions(request, account)


def has_valid_signature(request: Request, account: Account) -> bool:
    """Return whether the request was signed with the secret key of *account*."""
    content = content_of(request.fields, request.body)
    expected = sign(content, account.secret_key).encode()
    given = request.fields.get(SIGNATURE, "").encode("utf-8", "replace")
    return hmac.compare_digest(expected, given)


def check_permissions(request: Request, account: Account) -> None:
    """Raise Refused if *account* lacks a permission that the request needs."""
    if request.code in ADMIN_CODES and not account.is_admin:  # [SEC-PERM-001]
        key = account.access_key
        raise refusal(NEEDS_ADMIN.format(code=request.code, access_key=key))
    if account.is_admin and not account.permissions:  # [SEC-ACL-014] [SEC-ACL-015]
        return
    try:
        needed = dict(needed_permissions(request))
    except (LayoutError, RecursionError) as error:
        raise refusal(str(error)) from None
    for resource, permission in needed.items():
        is_group = resource.startswith(RETRY_PREFIX)
        # [SEC-ACL-009] [SEC-ACL-010]
        default = account.group_default if is_group else account.topic_default
        owned = account.permissions.get(resource, default)  # [SEC-ACL-012]
        if permission not in owned:
            raise refusal(NO_PERMISSION.format(resource=printed(resource)))


def refusal(reason: str) -> Refused:
    """Return the refusal of a request for *reason*."""  # [SEC-ACL-001]
    return Refused(ResponseCode.SYSTEM_ERROR, f"{EXCEPTION}: {reason}")
