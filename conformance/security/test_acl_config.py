"""Requests that change plain_acl.yml, and that return it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import yaml

from conformance.harness.client.access import secret_credentials
from conformance.harness.client.client import Client, require_success
from conformance.harness.pytest_plugin.expectations import expect, expect_that
from conformance.harness.pytest_plugin.fixtures import unique_name
from conformance.harness.targets.started.started_target import StartedTarget
from conformance.security.accounts import (
    ADMIN,
    BARE,
    NARROW,
    SUITE_ACCOUNTS,
    WHITE_ADDRESS,
)
from conformance.security.guard import UNUSED_ADDRESSES, Guard
from conformance.security.reasons import expect_send
from spec.security.plain_acl import ACCOUNTS, DATA_VERSION, FILE
from spec.security.signature import Credentials
from spec.wire.bodies.fastjson import loads
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

pytestmark = pytest.mark.long


@pytest.fixture
def admin(changing: Guard) -> Iterator[Client]:
    """Yield a connection of the administrator, beside the accounts of the suite."""
    changing.change_accounts(SUITE_ACCOUNTS, white=UNUSED_ADDRESSES)
    with changing.client(ADMIN) as client:
        yield client


def update(client: Client, keys: Credentials, **fields: str) -> Command:
    """Send UPDATE_AND_CREATE_ACL_CONFIG."""
    given = {"accessKey": keys.access_key, "secretKey": keys.secret_key, **fields}
    given.setdefault("admin", "false")
    return client.invoke(RequestCode.UPDATE_AND_CREATE_ACL_CONFIG, dict(given))


def delete(client: Client, access_key: str) -> Command:
    """Send DELETE_ACL_CONFIG."""
    fields = {"accessKey": access_key}
    return client.invoke(RequestCode.DELETE_ACL_CONFIG, dict(fields))


def new_keys() -> Credentials:
    """Return credentials that no account has."""
    return secret_credentials(unique_name("configured"), unique_name("secret"))


@pytest.mark.clause("SEC-ACLCONFIG-001")
def test_a_new_account_is_in_force(changing: Guard, admin: Client) -> None:
    keys = new_keys()
    response = update(admin, keys, topicPerms="AclPub=PUB,AclSub=SUB")
    expect("SEC-ACLCONFIG-001", found=response.code, expected=0, what="code")
    changing.wait_for(keys, "")
    expect_send("SEC-ACLCONFIG-001", changing, keys, "AclPub", is_admitted=True)
    expect_send("SEC-ACLCONFIG-001", changing, keys, "AclSub", is_admitted=False)


@pytest.mark.clause("SEC-ACLCONFIG-002")
def test_values_outside_the_request_stay(changing: Guard, admin: Client) -> None:
    another = secret_credentials(NARROW.access_key, unique_name("secret"))
    require_success(update(admin, another))
    (entry,) = [
        one
        for one in _file(changing)[ACCOUNTS]
        if one["accessKey"] == another.access_key
    ]
    expect(
        "SEC-ACLCONFIG-002",
        found=(entry["secretKey"] == another.secret_key, entry.get("topicPerms")),
        expected=(True, list(_topics_of(NARROW))),
        what="new secret key, topicPerms",
    )


@pytest.mark.clause("SEC-ACLCONFIG-003")
@pytest.mark.parametrize("name", ["accessKey", "secretKey"])
def test_a_short_key_is_refused(changing: Guard, admin: Client, name: str) -> None:
    response = update(admin, new_keys(), **{name: "sixlet"})
    failed = ResponseCode.UPDATE_AND_CREATE_ACL_CONFIG_FAILED
    expect("SEC-ACLCONFIG-003", found=response.code, expected=failed, what="code")
    expect_send("SEC-ACLCONFIG-003", changing, NARROW, "AclPub", is_admitted=True)


@pytest.mark.clause("SEC-ACLCONFIG-004")
def test_an_account_is_deleted(changing: Guard, admin: Client) -> None:
    keys = new_keys()
    require_success(update(admin, keys))
    changing.wait_for(keys, "")
    response = delete(admin, keys.access_key)
    expect("SEC-ACLCONFIG-004", found=response.code, expected=0, what="code")
    changing.wait_until_refused(keys)
    response = delete(admin, keys.access_key)
    failed = ResponseCode.DELETE_ACL_CONFIG_FAILED
    expect("SEC-ACLCONFIG-004", found=response.code, expected=failed, what="code")


@pytest.mark.clause("SEC-ACLCONFIG-005")
def test_the_white_list_is_replaced(changing: Guard, admin: Client) -> None:
    fields = {"globalWhiteAddrs": f"{UNUSED_ADDRESSES[0]},{WHITE_ADDRESS}"}
    code = RequestCode.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG
    response = admin.invoke(code, dict(fields))
    expect("SEC-ACLCONFIG-005", found=response.code, expected=0, what="code")
    changing.wait_for(None, "", source=WHITE_ADDRESS)


@pytest.mark.clause("SEC-ACLCONFIG-006")
def test_the_version_is_returned(changing: Guard, admin: Client) -> None:
    require_success(update(admin, new_keys()))
    response = admin.invoke(RequestCode.GET_BROKER_CLUSTER_ACL_INFO)
    version = loads(response.fields.get("version", "null").encode())
    assert isinstance(version, dict | None)
    found = {name: response.fields.get(name) for name in ("brokerName", "clusterName")}
    members = sorted({"counter", "timestamp"} & set(version or {}))
    expect(
        "SEC-ACLCONFIG-006",
        found={
            **found,
            "version": members,
        },
        expected={
            "brokerName": changing.target.broker_name,
            "clusterName": changing.target.cluster,
            "version": ["counter", "timestamp"],
        },
        what="header fields",
    )
    found_address = response.fields.get("brokerAddr")
    expected = str(changing.target.broker)
    expect("SEC-ACLCONFIG-006", found=found_address, expected=expected, what="address")


@pytest.mark.clause("SEC-ACLCONFIG-007")
def test_any_account_gets_every_secret(changing: Guard, admin: Client) -> None:
    assert admin.peer.access.credentials == ADMIN, (
        "its fixture has written the accounts"
    )
    with changing.client(BARE) as client:
        response = client.invoke(RequestCode.GET_BROKER_CLUSTER_ACL_CONFIG)
    body = loads(response.body) if response.body else {}
    assert isinstance(body, dict)
    listed = body.get("plainAccessConfigs")
    found = {
        one["accessKey"]: one["secretKey"] == NARROW.secret_key
        for one in (listed if isinstance(listed, list) else [])
        if isinstance(one, dict)
    }
    expect_that(
        "SEC-ACLCONFIG-007",
        found.get(NARROW.access_key) is True and len(found) > 1,
        found=found,
        expected="every account, and the secret key of each",
    )


@pytest.mark.clause("SEC-ACLCONFIG-008")
def test_changes_are_counted(changing: Guard, admin: Client) -> None:
    keys = new_keys()
    counters = []
    require_success(update(admin, keys))
    counters.append(_counter(changing))
    require_success(update(admin, keys))
    counters.append(_counter(changing))
    require_success(delete(admin, keys.access_key))
    counters.append(_counter(changing))
    expected = [counters[0], counters[0] + 1, counters[0] + 2]
    expect("SEC-ACLCONFIG-008", found=counters, expected=expected, what="counters")


def _counter(guard: Guard) -> int:
    """Return the counter in the file."""
    return int(_file(guard)[DATA_VERSION][0]["counter"])


def _file(guard: Guard) -> dict[str, Any]:
    """Return the object in plain_acl.yml."""
    assert isinstance(guard.target, StartedTarget)
    text = (guard.target.home / FILE).read_text(encoding="utf-8")
    read: dict[str, Any] = yaml.safe_load(text)
    return read


def _topics_of(keys: Credentials) -> Sequence[str]:
    """Return topicPerms of an account of the suite."""
    (account,) = [one for one in SUITE_ACCOUNTS if one.credentials == keys]
    return account.topics
