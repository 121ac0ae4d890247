"""
Daemon of Spark's Python workers, here and on a cluster.

Spark's own daemon forks workers that each import numpy, Arrow and the layouts. This one
imports them first, so that workers share them. It also loads the kernels if the driver
requests that. Tables are planned by daemons of Spark.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import shutil
import sys
import tempfile
import zipimport
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from java_runtime.user_cache import cache_path
from spark_checks.session.kernel_request import are_kernels_requested, request_kernels
from spark_checks.session.worker_archive import DIGEST

if TYPE_CHECKING:
    from pyspark import SparkContext

KEPT_EACH_MAX = 32 << 20
"""Largest freed block that the allocator keeps; the C library allows no more."""
KEPT_MAX = 128 << 20
"""Unused memory that a worker keeps, in bytes."""
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3


def start_workers(context: SparkContext, size: int) -> None:
    """Start a Python worker for each processor, and wait for their imports."""
    request_kernels(context, size)
    processors = context.defaultParallelism
    context.parallelize(range(processors), processors).foreach(_do_nothing)


def _do_nothing(_of: object) -> None:
    """Do nothing."""


def _keep_archive_listings() -> None:
    """List no archive of the import path again; they stay as they are.

    Each task would list Spark's thousands of files, which takes a tenth of a second.
    """
    zipimport.zipimporter.invalidate_caches = _do_nothing  # type: ignore[assignment,method-assign]


def _keep_memory() -> None:
    """Keep freed memory in the process up to KEPT_MAX.

    Returning it to the system takes a sixth of a survey's time. This needs the GNU C
    library; others are left as they are.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, KEPT_EACH_MAX)
        mallopt(_M_TRIM_THRESHOLD, KEPT_MAX)


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
        environment = os.environ | {"PYTHONPATH": path}
        os.execve(sys.executable, sys.orig_argv, environment)  # noqa: S606 # no shell


def main() -> None:
    """Run the daemon for the module on the command line until Spark ends."""
    _keep_archive_listings()
    from pyspark.daemon import manager

    if sys.argv[1:] == ["pyspark.worker"]:
        if are_kernels_requested():
            _run_kept_code()
        survey = importlib.import_module("spark_checks.survey.survey")
        if are_kernels_requested():
            survey.install_kernels()
        _keep_memory()
        gc.freeze()  # keeps imported objects out of each worker's collections
    manager()  # type: ignore[no-untyped-call] # PySpark's


if __name__ == "__main__":
    main()
