"""
The driver's request that workers load the kernels.

It is an environment variable of Spark's Python workers, which their daemon reads before
it forks the first one (`session/workers.py`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark import SparkContext

KERNELS_VARIABLE = "RMQC_KERNELS"
"""Environment variable that requests kernels from the daemon."""
LARGE_SIZE = 512 * 1024 * 1024
"""Bytes per processor from which on kernels pay."""


def request_kernels(context: SparkContext, size: int) -> bool:
    """Return whether kernels pay for *size* bytes, and request them if so.

    The request reaches daemons that have not started yet.
    """
    requested = requests(size, context.defaultParallelism)
    context.environment.update(requested)
    return bool(requested)


def requests(size: int, processors: int) -> Mapping[str, str]:
    """Return the variables of workers that request kernels if these pay."""
    return {KERNELS_VARIABLE: "yes"} if size >= LARGE_SIZE * processors else {}


def are_kernels_requested() -> bool:
    """Return whether the driver of this worker's daemon requested kernels."""
    return KERNELS_VARIABLE in os.environ
