"""
Python workers of a cluster: their start, and the code that they keep.
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
from spark_checks.session.daemon_process import HUGE_PAGES
from spark_checks.session.worker_archive import DIGEST
from spark_checks.session.worker_imports import do_nothing

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


def run_kept_code() -> None:
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
