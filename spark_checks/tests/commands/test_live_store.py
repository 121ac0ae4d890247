"""
A store that a broker writes to has no findings about its moving end.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from cli.pages.audit import report
from cli.pages.audit.advice import TEXTS
from cli.pages.audit.audited_store import AuditedStore
from spark_checks.audit import audit_store
from spark_checks.findings import Severity
from spark_checks.store_files import Store
from spark_checks.tests.building import StoreBuilder, flip

HOLD = """
import fcntl, sys
file = open(sys.argv[1], "r+b")
fcntl.lockf(file, fcntl.LOCK_EX, 1)
print("locked", flush=True)
sys.stdin.read()
"""


@contextmanager
def locked(store: Path) -> Iterator[None]:
    """Hold the lock of *store* in another process, as a broker does."""
    (store / "lock").write_bytes(b"lock")
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(store / "lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as broker:
        assert broker.stdout is not None
        assert broker.stdin is not None
        assert broker.stdout.readline() == b"locked\n"
        yield
        broker.stdin.close()


def behind(store: Path) -> StoreBuilder:
    """Write a store whose queue has no unit of the last record yet."""
    builder = StoreBuilder()
    for _ in range(5):
        builder.put("Orders")
    builder.queues["Orders", 0].pop()
    (builder.write(store) / "abort").touch()
    return builder


def test_a_locked_store_has_no_warnings(spark: SparkSession, tmp_path: Path) -> None:
    behind(tmp_path)
    killed = audit_store(spark, str(tmp_path))
    assert {one.severity for one in killed.findings} == {Severity.WARNING}
    with locked(tmp_path):
        live = audit_store(spark, str(tmp_path))
    assert (live.findings, live.summary["live"]) == ((), True)
    assert TEXTS["LIVE"].split(".")[0] in report.as_table([AuditedStore(audit=live)])
    assert TEXTS["LEFT_OPEN"] not in report.as_table([AuditedStore(audit=live)])


@pytest.mark.slow
def test_errors_of_a_live_store_are_confirmed(
    spark: SparkSession, tmp_path: Path
) -> None:
    builder = behind(tmp_path)
    hit = builder.placed["Orders", 0][1]
    flip(tmp_path, hit.log_file, hit.position + 90)
    with locked(tmp_path):
        live = audit_store(spark, str(tmp_path))
    assert [one.invariant.id for one in live.findings] == ["INV-LOG-002"]


def test_a_log_that_grows_during_an_audit_is_live(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    behind(tmp_path)
    ends = iter([((), b"\0" * 8), ((), b"\0\0\1\0\xda\xa3\x20\xa7")])

    def log_end(_store: Store, _offset: int) -> object:
        return next(ends)

    monkeypatch.setattr("spark_checks.audit.log_end_of", log_end)
    assert audit_store(spark, str(tmp_path)).is_live
