"""
The daemon of Spark's Python workers on this machine.

Spark's own forks a worker for each task that runs at once, and each would import numpy,
Arrow and the layouts for itself. Here the daemon imports them first: so that is done
once, and the workers share the memory of it. So it is with the kernels, where a store
is so large that they are asked for. Daemons for other modules than the worker
plan tables only, and import what they need.

Spark names three archives of its own as places to import from. They hold what is
installed here anyway, without the compiled files, and each task would list all of
their thousands of entries anew: a tenth of a second. So they are left out.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterable
from pathlib import PurePath

from spark_checks.kernels.worth import ASKED_FOR

KEPT_EACH_MAX = 32 << 20
"""Bytes of a block that is kept when it is freed; the library takes no more."""
KEPT_MAX = 128 << 20
"""Bytes that a worker keeps though it does not use them."""
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_ARCHIVES = ("pyspark.zip", "py4j-*-src.zip", "spark-core_*.jar")


def without_archives(path: Iterable[str]) -> list[str]:
    """Return the entries of *path* that are no archives of Spark."""
    return [entry for entry in path if not any(map(PurePath(entry).match, _ARCHIVES))]


def _leave_archives() -> None:
    """Import from Spark's archives no more, unless only they have what is needed."""
    named = list(sys.path)
    sys.path[:] = without_archives(named)
    if not all(map(importlib.util.find_spec, ("pyspark", "py4j"))):
        sys.path[:] = named
    for entry in set(named) - set(sys.path):
        sys.path_importer_cache.pop(entry, None)


def _keep_memory() -> None:
    """Give memory of windows and columns back to the system only if it is much.

    To get it anew from there for each of them would take a sixth of a survey's time.
    Without the C library of GNU, nothing is asked.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, KEPT_EACH_MAX)
        mallopt(_M_TRIM_THRESHOLD, KEPT_MAX)


def main() -> None:
    """Serve one module of Spark's, which the command line names, until Spark ends."""
    _leave_archives()
    from pyspark.daemon import manager

    if sys.argv[1:] == ["pyspark.worker"]:
        survey = importlib.import_module("spark_checks.sources.survey")
        if ASKED_FOR in os.environ:
            survey.use_kernels()
        _keep_memory()
        gc.freeze()  # or each task would look through all that was imported
    manager()  # type: ignore[no-untyped-call] # PySpark's


if __name__ == "__main__":
    main()
