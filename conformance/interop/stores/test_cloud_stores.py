"""
A store in Google Cloud Storage or Azure Blob Storage has the same audit as on a disk.

The servers are emulators, which Arrow's clients read.
"""

from __future__ import annotations

import base64
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyarrow import fs

from conformance.interop.tools.audit_command import ROOT, audited
from conformance.interop.tools.clouds import ACCOUNT, KEY, azure, google, sas_token
from rocketmq_conformance.paths import module_command

FIXTURE = ROOT / "fixtures" / "store" / "5.3.3-stopped"
BUCKET = "stores"
DEADLINE_S = 180.0
"""Seconds for an audit. Google's client tries to reach a server for 900 by default."""


@dataclass(frozen=True, slots=True)
class Cloud:
    """URLs into the bucket of one cloud: the text before a store and after it."""

    begin: str
    end: str

    def url(self, store: str) -> str:
        """Return the URL of *store*."""
        return f"{self.begin}/{store}{self.end}"


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a recorded store, and a copy of it with one wrong byte."""
    damaged = tmp_path_factory.mktemp("stores") / "damaged"
    shutil.copytree(FIXTURE, damaged)
    log = damaged / "commitlog" / "00000000000000000000"
    content = bytearray(log.read_bytes())
    content[150] ^= 0xFF
    log.write_bytes(content)
    return FIXTURE, damaged


@pytest.fixture(scope="module", params=["google", "azure"])
def cloud(
    request: pytest.FixtureRequest,
    stores: tuple[Path, Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Cloud]:
    """Yield a cloud with both stores in its bucket."""
    directory = tmp_path_factory.mktemp("cloud")
    with ExitStack() as stack:
        system: fs.FileSystem
        if request.param == "google":
            address = stack.enter_context(google(directory, BUCKET))
            system = fs.GcsFileSystem(
                anonymous=True, scheme="http", endpoint_override=address
            )
            begin, end = f"gs://anonymous@{BUCKET}", google_options(address)
        else:
            address = stack.enter_context(azure(directory))
            system = fs.AzureFileSystem(
                ACCOUNT,
                account_key=KEY,
                blob_storage_authority=address,
                dfs_storage_authority=address,
                blob_storage_scheme="http",
                dfs_storage_scheme="http",
            )
            system.create_dir(BUCKET)
            begin, end = f"abfs://{ACCOUNT}@{address}/{BUCKET}", azure_options()
        for store in stores:
            upload(store, system)
        yield Cloud(begin, end)


def google_options(address: str) -> str:
    """Return the parameters of a URL that lead to the emulator at *address*."""
    return f"?scheme=http&endpoint_override={address}"


def azure_options(key: str = KEY) -> str:
    """Return the parameters of a URL, with a SAS token signed with *key*."""
    return f"?enable_tls=false&{sas_token(key)}"


def upload(store: Path, system: fs.FileSystem) -> None:
    """Copy the files of *store* into the bucket, without objects for directories."""
    for file in store.rglob("*"):
        if file.is_file():
            name = f"{BUCKET}/{store.name}/{file.relative_to(store).as_posix()}"
            with system.open_output_stream(name) as stream:
                stream.write(file.read_bytes())


def audit(*words: str) -> subprocess.CompletedProcess[str]:
    """Run an audit with *words*, and require that it prints no credentials."""
    run = subprocess.run(
        module_command("cli", "audit", *words, "--master", "local[1]"),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE_S,
    )
    assert_has_no_credentials(run.stdout + run.stderr)
    return run


def assert_has_no_credentials(text: str) -> None:
    """Fail if *text* has a signature of a SAS token, or the name of one."""
    assert "sig=" not in text
    for key in (KEY, WRONG_KEY):
        assert sas_token(key).rpartition("=")[2] not in text


WRONG_KEY = base64.b64encode(b"another-secret").decode()


def test_audits_are_those_of_the_local_stores(
    cloud: Cloud, stores: tuple[Path, Path]
) -> None:
    here = audited(*stores)
    there = audited(*(cloud.url(store.name) for store in stores))
    assert [len(one["violations"]) > 0 for one in here] == [False, True]
    for local, remote in zip(here, there, strict=True):
        assert remote["violations"] == local["violations"]
        assert remote["summary"] == local["summary"]
    assert_has_no_credentials(str(there))


@pytest.mark.parametrize("form", ["table", "html"])
def test_reports_have_no_credentials(cloud: Cloud, form: str, tmp_path: Path) -> None:
    report = tmp_path / "report"
    run = audit(cloud.url("damaged"), "--format", form, "--out", str(report))
    assert run.returncode == 1, run.stderr
    text = report.read_text(encoding="utf-8")
    assert "damaged" in text
    assert_has_no_credentials(text)


def test_a_missing_store_is_one_line(cloud: Cloud) -> None:
    run = audit(cloud.url("none"))
    assert (run.returncode, run.stdout) == (2, "")
    assert "/none" in run.stderr
    assert run.stderr.endswith(" is not a directory\n")
    assert run.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "url",
    [
        f"gs://anonymous@{BUCKET}/store{google_options('127.0.0.1:1')}",
        f"abfs://{ACCOUNT}@127.0.0.1:1/{BUCKET}/store{azure_options()}",
    ],
)
def test_a_missing_server_is_one_line(url: str) -> None:
    assert_is_unreadable(audit(url))


def test_a_wrong_key_is_one_line(tmp_path: Path) -> None:
    with azure(tmp_path) as address:
        begin = f"abfs://{ACCOUNT}@{address}/{BUCKET}/store"
        run = audit(begin + azure_options(WRONG_KEY))
    assert_is_unreadable(run)
    assert "failed to authenticate" in run.stderr


def assert_is_unreadable(run: subprocess.CompletedProcess[str]) -> None:
    """Fail unless *run* ended with 2, and one line about a store."""
    assert (run.returncode, run.stdout) == (2, "")
    assert " cannot be read: " in run.stderr
    assert run.stderr.count("\n") == 1
