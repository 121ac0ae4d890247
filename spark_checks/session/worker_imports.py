"""
Imports that the Python workers of tasks share, because their daemon has made them.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import sys
import zipimport
from contextlib import suppress
from pathlib import Path

from spark_checks.session.kernel_request import are_kernels_requested

KEPT_EACH_MAX = 32 << 20
"""Largest freed block that the allocator keeps; the C library allows no more."""
KEPT_MAX = 128 << 20
"""Unused memory that a process keeps, in bytes."""
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3


def import_for_workers() -> None:
    """Import the survey, and load the kernels if the driver requests them."""
    survey = importlib.import_module("spark_checks.survey.survey")
    importlib.import_module("numpy.ma")  # np.unique does so at its first call
    if are_kernels_requested():
        survey.load_kernels()
    keep_memory()
    gc.freeze()  # keeps imported objects out of each worker's collections


def keep_archive_listings() -> None:
    """List no archive of the import path again; they stay as they are.

    Each task would list Spark's thousands of files, which takes a tenth of a second.
    """
    zipimport.zipimporter.invalidate_caches = do_nothing  # type: ignore[assignment,method-assign]


def prefer_installed_pyspark() -> None:
    """Import PySpark from an installation of Spark's release, if there is one.

    Spark's archive has no bytecode. To compile its modules takes 0.8 s of processor
    time in each daemon.
    """
    archives = [entry for entry in sys.path if entry.endswith("pyspark.zip")]
    if not archives:
        return
    version = zipimport.zipimporter(archives[0]).get_data("pyspark/version.py")
    for entry in sys.path:
        with suppress(OSError):
            if Path(entry, "pyspark/version.py").read_bytes() == version:
                lib = Path(archives[0]).parent
                sys.path[:] = [one for one in sys.path if Path(one).parent != lib]
                return


def do_nothing(_of: object) -> None:
    """Do nothing."""


def keep_memory() -> None:
    """Keep freed memory in the process up to KEPT_MAX.

    Returning it to the system takes a sixth of a survey's time, and a fifth of the time
    to match its ledger. This needs the GNU C library; others are left as they are.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, KEPT_EACH_MAX)
        mallopt(_M_TRIM_THRESHOLD, KEPT_MAX)
