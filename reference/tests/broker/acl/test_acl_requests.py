"""Changes of the file of accounts, as values."""

from __future__ import annotations

from typing import Any

import pytest

from reference.core.broker.acl.accounts import AclFileError
from reference.core.broker.admin.acl_requests import delete_account, put_account

KEYS = {"accessKey": "anaccount", "secretKey": "its-secret"}


def test_an_account_is_added_behind_the_others() -> None:
    read: dict[str, Any] = {"accounts": [{"accessKey": "another"}]}
    put_account(read, KEYS)
    assert read["accounts"] == [{"accessKey": "another"}, {**KEYS, "admin": False}]


@pytest.mark.parametrize("read", [{}, {"accounts": None}], ids=["absent", "null"])
def test_a_file_without_accounts_gets_none(read: dict[str, Any]) -> None:
    before = dict(read)
    with pytest.raises(AclFileError, match="has been updated failed"):
        put_account(read, KEYS)
    with pytest.raises(AclFileError, match="has been deleted failed"):
        delete_account(read, "anaccount")
    assert read == before
