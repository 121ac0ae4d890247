"""
Names of stores: valid URLs, and their display without credentials.
"""

from __future__ import annotations

import pytest

from spark_checks.session.session import is_on_loopback
from spark_checks.store_files import NotAStoreError, list_store, shown_url


def test_an_hdfs_address_without_hadoop_is_one_clear_line() -> None:
    """Only the address is tested; HDFS itself was never read."""
    with pytest.raises(NotAStoreError) as error:
        list_store("hdfs://127.0.0.1:1/broker-a/store")
    assert str(error.value).startswith("hdfs://127.0.0.1:1/broker-a/store cannot be")
    assert "\n" not in str(error.value)


def test_an_address_of_no_known_kind_is_refused() -> None:
    with pytest.raises(NotAStoreError, match="cannot be read: "):
        list_store("gopher://127.0.0.1/store")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("s3://key:secret@bucket/store?region=x", "s3://bucket/store?region=x"),
        ("s3://bucket/store", "s3://bucket/store"),
        ("/var/me@home/store", "/var/me@home/store"),
    ],
)
def test_keys_in_an_address_are_not_shown(url: str, shown: str) -> None:
    assert shown_url(url) == shown


@pytest.mark.parametrize(
    ("master", "here"),
    [
        ("local[2]", True),
        ("spark://127.0.0.1:7077", True),
        ("spark://localhost:7077", True),
        ("spark://10.0.0.1:7077", False),
        ("spark://one:7077,two:7077", False),
        ("yarn", False),
    ],
)
def test_a_driver_hides_on_loopback_only_where_its_workers_do(
    master: str, *, here: bool
) -> None:
    assert is_on_loopback(master) is here
