"""
The daemon of Python workers that the driver starts before Spark.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import psutil
import pytest

from spark_checks.generate.plan import Plan
from spark_checks.generate.store import generate
from spark_checks.session.daemon_process import early_daemon
from spark_checks.session.early_daemon import (
    SOCKET_VARIABLE,
    is_replaced_by_early_daemon,
)
from spark_checks.session.settings import local_processors
from spark_checks.session.worker_imports import prefer_installed_pyspark

ROOT = Path(__file__).resolve().parents[3]
_PROGRAM = """
import json, os, sys, psutil
from spark_checks.session.session import spark_context
def worker(_):
    parent = psutil.Process(os.getppid())
    return parent.cmdline()[2], hash("a"), os.getpid()
with spark_context("local[2]", size=0) as context:
    print(json.dumps(context.parallelize(range(2), 2).map(worker).collect()))
    if sys.argv[1] == "killed":
        sys.stdout.flush()
        os.kill(os.getpid(), 9)
"""


@pytest.mark.slow
@pytest.mark.parametrize("end", ["stopped", "killed"])
def test_workers_of_the_early_daemon_end_with_the_driver(end: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", _PROGRAM, end],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == (-9 if end == "killed" else 0), run.stderr
    found = json.loads(run.stdout)
    assert {name for name, *_ in found} == {"spark_checks.session.early_daemon"}
    expected = [sys.executable, "-c", "print(hash('a'))"]
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    seeded = subprocess.run(expected, env=environment, capture_output=True, check=True)
    assert {value for _, value, _ in found} == {int(seeded.stdout)}
    workers = [psutil.Process(one) for *_, one in found if psutil.pid_exists(one)]
    assert not psutil.wait_procs(workers, timeout=30)[1]


_AUDIT = """
import sys
from pyspark.sql import SparkSession
from spark_checks.audit import audit_store
from spark_checks.session.session import spark_context
with spark_context("local[2]", size=0) as context:
    found = audit_store(context, sys.argv[1]).findings
    print(len(found), SparkSession._instantiatedSession)
"""


@pytest.mark.slow
def test_the_audit_of_an_intact_store_makes_no_session_for_tables(
    tmp_path: Path,
) -> None:
    plan = Plan(topics=2, queues=2).with_size(1 << 20)
    generate(tmp_path, plan)
    run = subprocess.run(
        [sys.executable, "-c", _AUDIT, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == "0 None\n"


def test_an_early_daemon_without_a_worker_ends_with_its_driver(tmp_path: Path) -> None:
    before = set(psutil.Process().children())
    environment = {"PYTHONPATH": str(ROOT)}
    with early_daemon(tmp_path / "daemon", environment):
        (started,) = set(psutil.Process().children()) - before
        assert os.getpgid(started.pid) == started.pid
    assert not started.is_running()


def test_a_daemon_works_itself_where_no_early_daemon_listens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(SOCKET_VARIABLE, raising=False)
    assert not is_replaced_by_early_daemon()
    monkeypatch.setenv(SOCKET_VARIABLE, str(tmp_path / "nothing"))
    assert not is_replaced_by_early_daemon()
    assert SOCKET_VARIABLE not in os.environ  # for workers


def test_processors_of_masters() -> None:
    assert local_processors("local") == 1
    assert local_processors("local[3]") == 3
    assert local_processors("local[4,2]") == 4
    assert local_processors("local[*]") == os.cpu_count()
    assert local_processors("local-cluster[2,1,512]") is None
    assert local_processors("spark://host:7077") is None


@pytest.mark.parametrize(("version", "is_kept"), [("1.0", False), ("1.1", True)])
def test_spark_s_archive_is_left_out_where_its_release_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, is_kept: bool
) -> None:
    lib, installed = tmp_path / "lib", tmp_path / "installed"
    (installed / "pyspark").mkdir(parents=True)
    (installed / "pyspark" / "version.py").write_text("1.0")
    lib.mkdir()
    archive, other = str(lib / "pyspark.zip"), str(lib / "py4j-src.zip")
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("pyspark/version.py", version)
    monkeypatch.setattr(sys, "path", ["code", archive, other, str(installed)])
    prefer_installed_pyspark()
    kept = [archive, other] if is_kept else []
    assert sys.path == ["code", *kept, str(installed)]
