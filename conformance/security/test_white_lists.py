"""White lists: addresses whose requests are not checked."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.targets.started.accounts import Account
from conformance.security.accounts import (
    ADMIN,
    OTHER_ADDRESS,
    STRANGER,
    SUITE_ACCOUNTS,
    WHITE,
    WHITE_ADDRESS,
    with_another_secret,
)
from conformance.security.guard import Guard
from spec.security.plain_acl import NO_ACCESS_KEY, UNKNOWN_ACCESS_KEY, WRONG_SIGNATURE
from spec.security.signature import Credentials

pytestmark = pytest.mark.long

OWN_ADDRESS = "127.0.0.1"


def reason_for(
    guard: Guard, credentials: Credentials | None, source: str = OWN_ADDRESS
) -> str:
    """Return the reason for which an admin request from *source* is refused."""
    with guard.client(credentials, source) as client:
        return guard.reason(client.create_topic(topic="AclWhite"))


def expect_matches(
    clause: str, changing: Guard, pattern: str, matches: Mapping[str, bool]
) -> None:
    """Fail *clause* unless *pattern* in the global list matches these addresses."""
    changing.change_accounts(SUITE_ACCOUNTS, white=[pattern])
    found = {address: not reason_for(changing, None, address) for address in matches}
    expect(clause, found=found, expected=dict(matches), what=f"matches of {pattern}")


@pytest.mark.clause("SEC-WHITE-001")
def test_addresses_in_the_global_list_are_not_checked(changing: Guard) -> None:
    changing.change_accounts(SUITE_ACCOUNTS, white=["10.0.0.1", WHITE_ADDRESS])
    wrong = with_another_secret(ADMIN)
    cases = {
        "unsigned": (None, NO_ACCESS_KEY),
        "stranger": (STRANGER, UNKNOWN_ACCESS_KEY.format(access_key="nosuchaccount")),
        "wrong": (wrong, WRONG_SIGNATURE.format(access_key=ADMIN.access_key)),
    }
    for name, (credentials, refused) in cases.items():
        found = [
            reason_for(changing, credentials, address)
            for address in (WHITE_ADDRESS, OTHER_ADDRESS)
        ]
        expect("SEC-WHITE-001", found=found, expected=["", refused], what=name)


@pytest.mark.clause("SEC-WHITE-002", "SEC-WHITE-003")
def test_the_address_of_an_account_admits_its_access_key(guard: Guard) -> None:
    only_the_key = with_another_secret(WHITE)
    refused = WRONG_SIGNATURE.format(access_key=WHITE.access_key)
    expect(
        "SEC-WHITE-002",
        found=[
            reason_for(guard, only_the_key, WHITE_ADDRESS),
            reason_for(guard, only_the_key, OTHER_ADDRESS),
        ],
        expected=["", refused],
        what="reasons from the white address and from another",
    )
    unknown = UNKNOWN_ACCESS_KEY.format(access_key=STRANGER.access_key)
    expect(
        "SEC-WHITE-003",
        found=[
            reason_for(guard, None, WHITE_ADDRESS),
            reason_for(guard, STRANGER, WHITE_ADDRESS),
        ],
        expected=[NO_ACCESS_KEY, unknown],
        what="reasons from the white address of another account",
    )


@pytest.mark.clause("SEC-WHITE-004")
def test_an_address_matches_itself(changing: Guard) -> None:
    matches = {"127.0.0.2": True, "127.0.0.22": False, "127.0.0.1": False}
    expect_matches("SEC-WHITE-004", changing, "127.0.0.2", matches)


@pytest.mark.clause("SEC-WHITE-005")
def test_an_asterisk_matches_the_last_number(changing: Guard) -> None:
    matches = {"127.0.1.1": True, "127.0.1.254": True, "127.0.0.1": False}
    expect_matches("SEC-WHITE-005", changing, "127.0.1.*", matches)


@pytest.mark.clause("SEC-WHITE-006")
def test_a_range_includes_both_ends(changing: Guard) -> None:
    matches = {"127.0.0.1": False, "127.0.0.2": True, "127.0.0.4": True}
    more = {"127.0.0.5": False, "127.0.0.22": False, "127.0.1.3": False}
    expect_matches("SEC-WHITE-006", changing, "127.0.0.2-4", {**matches, **more})


@pytest.mark.clause("SEC-WHITE-006")
def test_a_range_may_be_the_third_number(changing: Guard) -> None:
    matches = {"127.0.2.9": True, "127.0.3.1": True, "127.0.4.1": False}
    expect_matches("SEC-WHITE-006", changing, "127.0.2-3.*", matches)


@pytest.mark.clause("SEC-WHITE-007")
def test_braces_list_last_numbers(changing: Guard) -> None:
    matches = {"127.0.0.2": True, "127.0.0.3": False, "127.0.0.4": True}
    expect_matches("SEC-WHITE-007", changing, "127.0.0.{2,4}", matches)


@pytest.mark.clause("SEC-WHITE-008")
def test_commas_list_addresses(changing: Guard) -> None:
    matches = {"127.0.0.2": True, "127.0.0.3": False, "127.0.1.4": True}
    expect_matches("SEC-WHITE-008", changing, "127.0.0.2,127.0.1.4", matches)


@pytest.mark.clause("SEC-WHITE-009")
def test_a_blank_pattern_matches_nothing(changing: Guard) -> None:
    matches = {"127.0.0.1": False, "127.0.0.2": False}
    expect_matches("SEC-WHITE-009", changing, " ", matches)


@pytest.mark.clause("SEC-WHITE-010")
def test_an_asterisk_matches_everything(changing: Guard) -> None:
    expect_all_match("SEC-WHITE-010", changing, "*")


@pytest.mark.clause("SEC-WHITE-011")
def test_four_asterisks_match_everything(changing: Guard) -> None:
    expect_all_match("SEC-WHITE-011", changing, "*.*.*.*")


def expect_all_match(clause: str, changing: Guard, pattern: str) -> None:
    """Fail *clause* unless *pattern* matches, also where no list before it did."""
    changing.change_accounts(SUITE_ACCOUNTS, white=["10.0.0.1"])
    expect_matches(clause, changing, pattern, {"127.0.0.1": True, "127.1.2.3": True})


@pytest.mark.clause("SEC-WHITE-002")
def test_the_address_of_an_account_may_be_a_pattern(changing: Guard) -> None:
    patterned = Account(credentials=WHITE, white_address="127.0.3.*")
    changing.change_accounts([Account(credentials=ADMIN, admin=True), patterned])
    only_the_key = with_another_secret(WHITE)
    found = [
        not reason_for(changing, only_the_key, address)
        for address in ("127.0.3.7", "127.0.2.7")
    ]
    expect("SEC-WHITE-002", found=found, expected=[True, False], what="admitted")
