"""
Names of stores: valid URLs, and their display without credentials.
"""

from __future__ import annotations

from pathlib import Path

import fsspec
import pytest
from pyarrow import fs

from spark_checks.file_systems import NotAStoreError, shown_url
from spark_checks.session.settings import is_on_loopback
from spark_checks.store_files import list_store, read_whole

FIXTURE = Path(__file__).resolve().parents[3] / "fixtures" / "store" / "4.6.0-stopped"


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("hdfs://127.0.0.1:1/broker-a/store", "webhdfs://HOST:PORT/PATH needs no libr"),
        ("webhdfs://127.0.0.1:1/store", "refused"),
        ("gopher://127.0.0.1/store", "Protocol not known: gopher"),
        ("sftp://127.0.0.1/store", "paramiko"),
        ("gs://me@bucket/store", "do not accept username"),
        ("abfs://account:key@container/store", "a SAS token from a URL, not an acc"),
    ],
)
def test_an_address_that_cannot_be_opened_is_one_clear_line(
    url: str, reason: str
) -> None:
    with pytest.raises(NotAStoreError) as error:
        list_store(url)
    assert str(error.value).startswith(f"{shown_url(url)} cannot be read: ")
    assert reason in str(error.value)
    assert "\n" not in str(error.value)


def test_a_path_that_is_not_utf_8_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "st\udcffre").symlink_to(FIXTURE)
    with pytest.raises(
        NotAStoreError, match="re cannot be read: its path is not UTF-8"
    ):
        list_store(str(tmp_path / "st\udcffre"))


def test_fsspec_opens_what_arrow_does_not_know() -> None:
    fsspec.filesystem("memory").put(str(FIXTURE), "/brokers/a", recursive=True)
    there, here = list_store("memory://brokers/a"), list_store(str(FIXTURE))
    assert there.files == here.files
    for file in here.files:
        assert read_whole(there.url, file) == read_whole(here.url, file)


class FilesOnly(fs.FSSpecHandler):  # type: ignore[misc]
    """A file system that lists no directories, as Google Cloud Storage."""

    def get_file_info_selector(self, selector: fs.FileSelector) -> list[fs.FileInfo]:
        """Return the files below a directory."""
        found = super().get_file_info_selector(selector)
        return [one for one in found if one.type == fs.FileType.File]


def test_directories_are_those_of_the_listed_files(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fs, "FSSpecHandler", FilesOnly)
    fsspec.filesystem("memory").put(str(FIXTURE), "/brokers/b", recursive=True)
    there, here = list_store("memory://brokers/b"), list_store(str(FIXTURE))
    assert (there.files, there.directories) == (here.files, here.directories)


class ClientError(Exception):
    """An error of a client's own type, as botocore's and Azure's."""


def test_errors_of_any_client_are_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec.filesystem("memory").put(str(FIXTURE), "/brokers/c", recursive=True)
    store = list_store("memory://brokers/c")

    def fail(*_: object, **__: object) -> None:
        raise ClientError("wrong key\nsecond line")

    system = type(fsspec.filesystem("memory"))
    monkeypatch.setattr(system, "_open", fail)
    with pytest.raises(NotAStoreError, match=r"checkpoint cannot be read: wrong key$"):
        read_whole(store.url, store.files[0])
    monkeypatch.setattr(system, "find", fail)
    with pytest.raises(NotAStoreError, match=r"brokers/c cannot be read: wrong key$"):
        list_store(store.url)


def test_workers_get_the_absolute_path_of_a_relative_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker of a cluster has another working directory than the driver."""
    monkeypatch.chdir(FIXTURE.parent)
    store = list_store(FIXTURE.name)
    monkeypatch.chdir(tmp_path)
    file = store.files[0]
    assert len(read_whole(store.url, file)) == file.size


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("s3://key:secret@bucket/store?region=x", "s3://bucket/store?region=x"),
        ("s3://bucket/store", "s3://bucket/store"),
        ("s3://bucket/me@home", "s3://bucket/me@home"),
        ("s3://key:sec/ret@bucket/store", "s3://bucket/store"),
        ("s3://key:s#c?t@bucket/store", "s3://bucket/store"),
        ("webhdfs://host:1/store?token=x", "webhdfs://host:1/store"),
        ("abfs://one@a.dfs.core.windows.net/b", "abfs://one@a.dfs.core.windows.net/b"),
        ("abfs://a@c/s?enable_tls=no&sv=1&sig=x", "abfs://a@c/s?enable_tls=no"),
        ("/var/me@home/store", "/var/me@home/store"),
    ],
)
def test_keys_in_an_address_are_not_shown(url: str, shown: str) -> None:
    assert shown_url(url) == shown


@pytest.mark.parametrize(
    "url",
    [
        "s3://key:sec/ret@bucket/store",
        "abfs://account@container/store?sas_token=sec/ret",
    ],
)
def test_a_failure_has_no_credentials(url: str) -> None:
    with pytest.raises(NotAStoreError) as error:
        list_store(url)
    assert "sec" not in str(error.value)
    assert "ret" not in str(error.value)


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
