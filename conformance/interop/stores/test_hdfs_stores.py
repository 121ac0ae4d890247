"""
A store in HDFS has the same audit as on a disk.

Name node and data node are Apache Hadoop's. The audit reads them through WebHDFS.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from conformance.interop.tools.audit_command import ROOT, audited
from conformance.interop.tools.hdfs import hdfs
from rocketmq_conformance.paths import module_command

FIXTURE = ROOT / "fixtures" / "store" / "5.3.3-stopped"
USER = "operator"


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of WebHDFS."""
    with hdfs(tmp_path_factory.mktemp("hdfs")) as address:
        yield address


def test_audits_are_those_of_the_local_stores(web: str, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    shutil.copytree(FIXTURE, damaged)
    log = damaged / "commitlog" / "00000000000000000000"
    content = bytearray(log.read_bytes())
    content[150] ^= 0xFF
    log.write_bytes(content)
    host, _, port = web.partition(":")
    system = fsspec.filesystem("webhdfs", host=host, port=int(port), user=USER)
    for store in (FIXTURE, damaged):
        system.put(str(store), f"/brokers/{store.name}", recursive=True)
    urls = [f"webhdfs://{USER}@{web}/brokers/{one.name}" for one in (FIXTURE, damaged)]

    here, there = audited(FIXTURE, damaged), audited(*urls)

    assert [len(one["violations"]) > 0 for one in here] == [False, True]
    for local, remote in zip(here, there, strict=True):
        assert remote["violations"] == local["violations"]
        assert remote["summary"] == local["summary"]


def test_what_cannot_be_read_is_one_line(web: str) -> None:
    for url, reason in (
        (f"webhdfs://{web}/brokers/none", "is not a directory"),
        ("webhdfs://127.0.0.1:1/brokers", "cannot be read: "),
    ):
        run = subprocess.run(
            module_command("cli", "audit", url, "--master", "local[1]"),
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (run.returncode, run.stdout) == (2, "")
        assert run.stderr.startswith(f"Error: {url} {reason}")
        assert run.stderr.count("\n") == 1
