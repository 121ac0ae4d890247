"""Changes of plain_acl.yml while the broker runs."""

from __future__ import annotations

import pytest

from conformance.harness.client.access import secret_credentials
from conformance.harness.pytest_plugin.expectations import expect, expect_that
from conformance.harness.pytest_plugin.fixtures import need
from conformance.harness.targets.started.accounts import Account, plain_acl
from conformance.harness.targets.target import Capability, Target
from conformance.security.accounts import (
    ADMIN,
    NARROW,
    SUITE_ACCOUNTS,
    WHITE_ADDRESS,
)
from conformance.security.guard import Guard, guarded
from conformance.security.reasons import expect_reason, expect_send
from spec.clause import release_key
from spec.security.plain_acl import NO_RESOURCE, UNKNOWN_ACCESS_KEY, WRONG_SIGNATURE
from spec.security.signature import Credentials

pytestmark = pytest.mark.long


@pytest.mark.clause("SEC-ACL-016")
def test_accounts_keys_and_permissions_change_while_it_runs(changing: Guard) -> None:
    changing.change_accounts(SUITE_ACCOUNTS)
    expect_send("SEC-ACL-016", changing, NARROW, "AclPub", is_admitted=True)
    new_key = secret_credentials(NARROW.access_key, "another-secret-of-the-narrow-one")
    changing.change_accounts(
        [
            Account(credentials=ADMIN, admin=True),
            Account(credentials=new_key, topics=["AclSub=PUB", "AclPub=DENY"]),
        ]
    )
    expect_send("SEC-ACL-016", changing, new_key, "AclSub", is_admitted=True)
    expect_send("SEC-ACL-016", changing, new_key, "AclPub", is_admitted=False)
    refused = WRONG_SIGNATURE.format(access_key=NARROW.access_key)
    expect("SEC-ACL-016", found=reason(changing, NARROW), expected=refused)
    changing.change_accounts([Account(credentials=ADMIN, admin=True)])
    expect_that(
        "SEC-ACL-016",
        bool(reason(changing, new_key)),
        found=reason(changing, new_key),
        expected="a refusal of the removed account",
    )


@pytest.mark.clause("SEC-ACL-019")
def test_a_removed_account_is_unknown(changing: Guard) -> None:
    gone = UNKNOWN_ACCESS_KEY.format(access_key=NARROW.access_key)
    expect("SEC-ACL-019", found=removed(changing), expected=gone)


@pytest.mark.clause("SEC-ACL-020")
def test_from_4_9_4_on_a_removed_account_has_no_resource(changing: Guard) -> None:
    gone = NO_RESOURCE.format(access_key=NARROW.access_key)
    expect("SEC-ACL-020", found=removed(changing), expected=gone)


def removed(changing: Guard) -> str:
    """Return the reason for which an account is refused that was removed."""
    changing.change_accounts(SUITE_ACCOUNTS)
    changing.change_accounts([Account(credentials=ADMIN, admin=True)])
    return reason(changing, NARROW)


@pytest.mark.clause("SEC-ACL-021")
def test_a_first_white_list_is_never_removed(
    pytestconfig: pytest.Config, target: Target
) -> None:
    need(target, Capability.RESTART, Capability.ACL)
    with guarded(pytestconfig, plain_acl(SUITE_ACCOUNTS)) as guard:
        guard.change_accounts(SUITE_ACCOUNTS, white=[WHITE_ADDRESS])
        guard.change_accounts(SUITE_ACCOUNTS)
        with guard.client(source=WHITE_ADDRESS) as client:
            response = client.max_offset(topic="AclPub")
            expect_reason("SEC-ACL-021", guard, client, response, "")


MALFORMED = {
    "no YAML": "accounts: [}",
    "a number for accounts": "accounts: 5\n",
    "an unknown white address": 'globalWhiteRemoteAddresses: ["300.1.1.1"]\n',
    "a permission without a value": plain_acl(
        [Account(credentials=ADMIN, admin=True, topics=["AclPub"])]
    ),
}


@pytest.mark.clause("SEC-ACL-017")
@pytest.mark.parametrize("text", MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_file_changes_nothing(changing: Guard, text: str) -> None:
    expect_ignored("SEC-ACL-017", changing, text)


@pytest.mark.clause("SEC-ACL-018")
@pytest.mark.parametrize(("access", "secret"), [(6, 7), (7, 6), (7, 0)])
def test_short_keys_are_malformed(changing: Guard, access: int, secret: int) -> None:
    short = Account(
        credentials=Credentials(access_key="k" * access, secret_key="s" * secret)
    )
    text = plain_acl([Account(credentials=ADMIN, admin=True), short])
    expect_ignored("SEC-ACL-018", changing, text)


def expect_ignored(clause: str, changing: Guard, malformed: str) -> None:
    """Fail *clause* unless the accounts before *malformed* stay in force."""
    changing.change_accounts(SUITE_ACCOUNTS)
    changing.write_accounts(malformed)
    is_slow = release_key(changing.target.release) >= SLOW_SINCE
    reasons = changing.reasons_for(NARROW, 6.0 if is_slow else 1.5)
    expect(clause, found=reasons, expected={""}, what="reasons after the change")


SLOW_SINCE = (4, 9, 3)
"""Brokers check the file twice a second (Java: FileWatchService), and from this
release on once in five seconds (AclFileWatchService)."""


def reason(guard: Guard, credentials: Credentials) -> str:
    """Return the reason for which a request of this account is refused."""
    with guard.client(credentials) as client:
        return guard.reason(client.max_offset(topic="AclPub"))
