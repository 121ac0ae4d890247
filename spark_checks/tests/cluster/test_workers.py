"""
Local Python workers of Spark: start and imports.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tempfile
import zipfile
import zipimport
from collections.abc import Iterable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_checks.session.session import SOCKET_PATH_MAX, socket_settings


def _state_of_a_worker(_: Iterable[int]) -> Iterable[tuple[bool, bool, int]]:
    has_numpy = "numpy" in sys.modules
    return [(_lists_archives_again(), has_numpy, gc.get_freeze_count())]


def _lists_archives_again() -> bool:
    """Return whether the archives of the import path are listed again."""
    with tempfile.NamedTemporaryFile(suffix=".zip") as file:
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("first.py", "")
        importer = zipimport.zipimporter(file.name)
        with zipfile.ZipFile(file, "a") as archive:
            archive.writestr("second.py", "")
        importer.invalidate_caches()
        return importer.find_spec("second") is not None


def test_a_worker_has_imported_before_and_lists_no_archive_for_each_task(
    spark: SparkSession,
) -> None:
    assert _lists_archives_again()
    tasks = spark.sparkContext.parallelize(range(2), 2)
    found = tasks.mapPartitions(_state_of_a_worker).collect()
    assert len(found) == 2
    for lists_again, has_numpy, frozen in found:
        assert not lists_again
        assert has_numpy
        assert frozen > 10_000


def test_sockets_have_paths_only_where_these_fit() -> None:
    near = socket_settings(Path("/tmp/rmqc-audit-x"))  # noqa: S108 # nothing is written
    far = socket_settings(Path("/" + SOCKET_PATH_MAX * "x"))
    assert near["spark.python.unix.domain.socket.dir"] == "/tmp/rmqc-audit-x"  # noqa: S108
    assert near["spark.python.unix.domain.socket.enabled"] == "true"
    assert far == {}


@pytest.mark.slow
def test_workers_start_with_spark_where_a_size_is_said() -> None:
    assert _alone(None) == "[] [False, False]"
    assert _alone(0) == "['spark_checks.session.workers'] [False, False]"
    assert _alone(1 << 50) == "['spark_checks.session.workers'] [True, True]"


def _alone(size: int | None) -> str:
    """Return daemons and kernels of a separate session."""
    root = Path(__file__).resolve().parents[3]
    run = subprocess.run(
        [sys.executable, "-c", _PROGRAM.format(size=size)],
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.strip()


_PROGRAM = """
import psutil
from spark_checks.session.session import WORKERS_DAEMON, spark_session
def has_kernels(_):
    from columns.log_batch import follow_sizes
    return follow_sizes.kernel is not None
with spark_session("local[2]", has_sources=False, size={size}) as session:
    lines = []
    for one in psutil.Process().children(recursive=True):
        lines.append(one.as_dict(["cmdline"])["cmdline"] or [])  # none of a zombie
    daemons = {{name for line in lines for name in line if name == WORKERS_DAEMON}}
    tasks = session.sparkContext.parallelize(range(2), 2)
    print(sorted(daemons), tasks.map(has_kernels).collect())
"""
