"""A started broker with access control, and the reasons of its refusals."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from conformance.harness.baseline.refusing_settings import USERS_REFUSED
from conformance.harness.blocked.preconditions import precondition
from conformance.harness.client.access import Access, secret_credentials
from conformance.harness.client.client import Client, require_success
from conformance.harness.process.deadline import PAUSE_S, wait_until
from conformance.harness.pytest_plugin.fixtures import another_target, unique_name
from conformance.harness.targets.started.accounts import (
    Account,
    guarded_settings,
    plain_acl,
    write_plain_acl,
)
from conformance.harness.targets.started.started_target import StartedTarget
from conformance.harness.targets.target import Target
from conformance.security.accounts import (
    ADMIN,
    SUITE_ACCOUNTS,
)
from conformance.security.users import create_user, delete_user, users_of_this_run
from spec.clause import release_key
from spec.security.plain_acl import NO_ACCESS_KEY
from spec.security.signature import Credentials
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode

USERS_SINCE = (5, 3, 3)
"""First studied release whose brokers have users instead of plain_acl.yml."""

MATCH_ALL = {"*", "*.*.*.*"}
"""Patterns of white lists that match every address."""
MARKER_ADDRESS = "127.0.0.9"
"""Source of the requests that wait for a change of the accounts."""

UNUSED_ADDRESSES = ("192.0.2.1",)
"""White list of the first plain_acl.yml: an address of documentation (RFC 5737)."""

_PLAIN_REASON = re.compile(
    r"No PlainAccessResource for accessKey=[^\s,]+"
    r"|No accessKey is configured"
    r"|No acl config for [^\s,]+"
    r"|Check signature failed for accessKey=[^\s,]+"
    r"|Need admin permission for request code=\d+, but accessKey=\S+ is not"
    r"|No default permission for (topic|group):[^\s,]+"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """A target with the accounts of the suite."""

    target: Target

    @property
    def has_users(self) -> bool:
        """Whether its accounts are users (5.3), not entries of plain_acl.yml."""
        return release_key(self.target.release) >= USERS_SINCE

    @contextmanager
    def client(
        self, credentials: Credentials | None = None, source: str = ""
    ) -> Iterator[Client]:
        """Yield a new connection to the broker, which signs with *credentials*."""
        assert self.target.broker is not None
        access = Access(credentials=credentials, source=source)
        with Client.connect(
            self.target.broker, self.target.release, access
        ) as connected:
            yield connected

    def reason(self, response: Command) -> str:
        """Return the reason of a refusal; empty for a request that was admitted."""
        pattern = USERS_REFUSED if self.has_users else _PLAIN_REASON
        found = pattern.search(response.remark or "")
        return found[0] if found else ""

    @property
    def refusal_code(self) -> ResponseCode:
        """Response code of a refusal by this release."""
        if self.has_users:
            return ResponseCode.NO_PERMISSION
        return ResponseCode.SYSTEM_ERROR

    def wrong_signature(self, credentials: Credentials) -> str:
        """Return the reason for a wrong signature by this release."""
        if self.has_users:
            return "check signature failed."
        return f"Check signature failed for accessKey={credentials.access_key}"

    def write_accounts(self, text: str) -> None:
        """Replace plain_acl.yml."""
        assert isinstance(self.target, StartedTarget)
        write_plain_acl(self.target, text)

    def change_accounts(
        self, accounts: Iterable[Account], white: Sequence[str] = ()
    ) -> None:
        """Replace the accounts and the white list, and wait until they are in force.

        A new account shows that, and an unsigned request, unless all are admitted.
        """
        marker = secret_credentials(unique_name("marker"), unique_name("secret"))
        self.write_accounts(plain_acl([*accounts, Account(credentials=marker)], white))
        self.wait_for(marker, "", source=MARKER_ADDRESS)
        if not MATCH_ALL.intersection(white):
            self.wait_for(None, NO_ACCESS_KEY, source=MARKER_ADDRESS)

    def wait_for(
        self, credentials: Credentials | None, reason: str, *, source: str = ""
    ) -> None:
        """Wait until requests of this account are refused so, or admitted if empty."""

        def is_so() -> bool:
            with self.client(credentials, source) as client:
                return self.reason(client.max_offset(topic="AclPub")) == reason

        wait_until(is_so, what=f"the reason is {reason!r}", timeout_s=15.0)

    def wait_until_refused(self, credentials: Credentials) -> None:
        """Wait until requests of this account are refused, for whichever reason."""

        def is_so() -> bool:
            with self.client(credentials) as client:
                return bool(self.reason(client.max_offset(topic="AclPub")))

        wait_until(is_so, what="the account is refused", timeout_s=15.0)

    def reasons_for(self, credentials: Credentials, duration_s: float) -> set[str]:
        """Return every reason that requests of this account get for *duration_s*."""
        deadline = time.monotonic() + duration_s
        found: set[str] = set()
        with self.client(credentials) as client:
            while time.monotonic() < deadline:
                found.add(self.reason(client.max_offset(topic="AclPub")))
                time.sleep(PAUSE_S)
        return found


@contextmanager
def guarded(config: pytest.Config, accounts: str = "") -> Iterator[Guard]:
    """Yield a started target with *accounts*, by default those of the suite."""
    own = another_target(config, guarded_settings(ADMIN))
    assert isinstance(own, StartedTarget)
    guard = Guard(target=own)
    guard.write_accounts(accounts or plain_acl(SUITE_ACCOUNTS, UNUSED_ADDRESSES))
    own.access = Access(credentials=ADMIN)
    with own:
        yield guard


@contextmanager
def administered(target: Target) -> Iterator[Guard]:
    """Yield a running broker with users, to which the suite's administrator is added.

    At the end it is deleted, and so are the users that the tests have added.
    """
    with precondition(), target.connect_for_admin() as client:
        require_success(create_user(client, ADMIN, userType="Super"))
    try:
        yield Guard(target=target)
    finally:
        with target.connect_for_admin() as client:
            for name in (*users_of_this_run(client), ADMIN.access_key):
                require_success(delete_user(client, name))
