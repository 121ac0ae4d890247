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

import psutil
import pytest
from pyspark.sql import SparkSession

from spark_checks.session.settings import (
    SOCKET_PATH_MAX,
    WORKERS_DAEMON,
    socket_settings,
)
from spark_checks.store_files import list_store
from spark_checks.tables.store_tables import open_commit_log

FIXTURE = Path(__file__).resolve().parents[3] / "fixtures" / "store" / "4.6.0-stopped"


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


def test_a_table_needs_no_workers_of_its_own_and_no_search_for_sources(
    spark: SparkSession,
) -> None:
    store = list_store(str(FIXTURE))
    assert open_commit_log(spark, store, {}).count() > 0
    lines = {
        " ".join(one.cmdline()): one.environ()
        for one in psutil.Process().children(recursive=True)
        if one.status() != psutil.STATUS_ZOMBIE
    }
    of_tasks = [one for line, one in lines.items() if WORKERS_DAEMON in line]
    assert of_tasks
    assert not any("SPARK_SIMPLIFIED_TRACEBACK" in one for one in of_tasks)
    assert any("plan_data_source_read" in line for line in lines)
    assert not any("lookup_data_sources" in line for line in lines)


def test_sockets_have_paths_only_where_these_fit() -> None:
    near = socket_settings(Path("/tmp/rmqc-audit-x"))  # noqa: S108 # nothing is written
    far = socket_settings(Path("/" + SOCKET_PATH_MAX * "x"))
    assert near["spark.python.unix.domain.socket.dir"] == "/tmp/rmqc-audit-x"  # noqa: S108
    assert near["spark.python.unix.domain.socket.enabled"] == "true"
    assert far == {}


@pytest.mark.slow
def test_workers_import_while_spark_starts_where_a_size_is_said() -> None:
    assert _alone(None) == "[] [False, False] true"
    assert _alone(0) == "['spark_checks.session.early_daemon'] [False, False] false"
    assert _alone(1 << 50) == "['spark_checks.session.early_daemon'] [True, True] true"


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
from spark_checks.session.session import session_of, spark_context
from spark_checks.session import early_daemon
def has_kernels(_):
    from columns.log_batch import follow_sizes
    return follow_sizes.kernel is not None
with spark_context("local[2]", size={size}) as context:
    session = session_of(context)
    lines = []
    for one in psutil.Process().children(recursive=True):
        lines.append(one.as_dict(["cmdline"])["cmdline"] or [])  # none of a zombie
    is_daemon = early_daemon.__name__.__eq__
    daemons = {{name for line in lines for name in line if is_daemon(name)}}
    tasks = context.parallelize(range(2), 2)
    compiles = session.conf.get("spark.sql.codegen.wholeStage")
    print(sorted(daemons), tasks.map(has_kernels).collect(), compiles)
"""
