"""
Daemon of Spark's Python workers, here and on a cluster.

Spark's own daemon forks workers that each import numpy, Arrow and the layouts. This one
imports them first, so that workers share them. It also loads the kernels if the driver
requests that. Tables are planned by daemons of Spark.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from java_runtime.user_cache import cache_path
from spark_checks.session.early_daemon import HUGE_PAGES, is_replaced_by_early_daemon
from spark_checks.session.kernel_request import are_kernels_requested
from spark_checks.session.worker_archive import DIGEST
from spark_checks.session.worker_imports import (
    do_nothing,
    import_for_workers,
    keep_archive_listings,
    prefer_installed_pyspark,
)

if TYPE_CHECKING:
    from pyspark import SparkContext


def start_workers(context: SparkContext) -> None:
    """Start a Python worker for each processor, and wait for their imports.

    Executors of a cluster register one by one. Those that registered meanwhile start
    their workers in a further job.
    """
    started = 0
    while (processors := context.defaultParallelism) > started:
        context.parallelize(range(processors), processors).foreach(do_nothing)
        started = processors


def _run_kept_code() -> None:
    """Run this daemon from a copy of its shipped code in the user's cache.

    An executor's directory has another name each time. Kernels are compiled once for
    the copy, whose name is its content.
    """
    shipped = Path(__file__).resolve().parents[2]
    digest = shipped / DIGEST
    if not digest.exists():  # this machine's own code
        return
    kept = cache_path() / "code" / digest.read_text("ascii")
    if kept.resolve() == shipped:
        return
    with suppress(OSError):  # without a writable cache there are no kernels
        if not kept.exists():
            kept.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=kept.parent) as draft:
                copy = shutil.copytree(shipped, Path(draft, "code"))
                with suppress(FileExistsError):  # another worker was faster
                    copy.rename(kept)
        path = os.pathsep.join([str(kept), os.environ.get("PYTHONPATH", "")])
        environment = {**HUGE_PAGES, **os.environ, "PYTHONPATH": path}
        os.execve(sys.executable, sys.orig_argv, environment)  # noqa: S606 # no shell


def main() -> None:
    """Run the daemon for the module on the command line until Spark ends."""
    keep_archive_listings()
    prefer_installed_pyspark()
    if sys.argv[1:] == ["pyspark.worker"]:
        if is_replaced_by_early_daemon():
            return
        if are_kernels_requested():
            _run_kept_code()
        import_for_workers()
    from pyspark.daemon import manager

    manager()  # type: ignore[no-untyped-call] # PySpark's


if __name__ == "__main__":
    main()
