"""
The driver's request that workers load the kernels.

It is an environment variable of Spark's Python workers, which their daemon reads before
it forks the first one (`session/workers.py`).
"""

from __future__ import annotations

import os
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
    are_worth_it = size >= LARGE_SIZE * context.defaultParallelism
    if are_worth_it:
        context.environment[KERNELS_VARIABLE] = "yes"
    return are_worth_it


def are_kernels_requested() -> bool:
    """Return whether the driver of this worker's daemon requested kernels."""
    return KERNELS_VARIABLE in os.environ
