"""
Local Python workers of Spark: start and imports.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from pyspark.sql import SparkSession

from spark_checks.session.session import SOCKET_PATH_MAX, socket_settings
from spark_checks.session.workers import without_archives


def _seen_by_a_worker(_: Iterable[int]) -> Iterable[tuple[list[str], bool, int]]:
    importers = [type(one).__name__ for one in sys.path_importer_cache.values()]
    has_numpy = "numpy" in sys.modules
    return [(importers, has_numpy, gc.get_freeze_count())]


def test_a_worker_has_imported_before_and_lists_no_archive_for_each_task(
    spark: SparkSession,
) -> None:
    tasks = spark.sparkContext.parallelize(range(2), 2)
    found = tasks.mapPartitions(_seen_by_a_worker).collect()
    assert len(found) == 2
    for importers, has_numpy, frozen in found:
        assert "zipimporter" not in importers
        assert has_numpy
        assert frozen > 10_000


def test_only_archives_of_spark_are_left_out() -> None:
    kept = ["/work", "/home/me/pyspark.zipped", "/a/mine.zip", "/usr/lib/python3.11"]
    spark_s = [
        "/s/python/lib/pyspark.zip",
        "/s/python/lib/py4j-0.10.9.9-src.zip",
        "/s/jars/spark-core_2.13-4.1.1.jar",
    ]
    assert without_archives([*spark_s, *kept]) == kept


def test_sockets_have_paths_only_where_these_fit() -> None:
    near = socket_settings(Path("/tmp/rmqc-audit-x"))  # noqa: S108 # nothing is written
    far = socket_settings(Path("/" + SOCKET_PATH_MAX * "x"))
    assert near["spark.python.unix.domain.socket.dir"] == "/tmp/rmqc-audit-x"  # noqa: S108
    assert near["spark.python.unix.domain.socket.enabled"] == "true"
    assert far == {}


def test_workers_start_with_spark_where_a_size_is_said() -> None:
    assert _alone(None) == "[] [False, False]"
    assert _alone(0) == "['spark_checks.session.workers'] [False, False]"
    assert _alone(1 << 50) == "['spark_checks.session.workers'] [True, True]"


def _alone(size: int | None) -> str:
    """Return daemons and kernels of a separate session."""
    root = Path(__file__).resolve().parents[2]
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
