"""
When kernels are worth their loading, and how Spark's workers are told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark import SparkContext

ASKED_FOR = "RMQC_KERNELS"
"""Variable by which a daemon of workers knows that they are worth their loading."""
LARGE_SIZE = 512 * 1024 * 1024
"""Bytes for each processor from which on they are."""


def ask_workers(context: SparkContext, size: int) -> bool:
    """Return whether they are for *size* bytes; if so, workers load them as they start.

    Those of a cluster, and whoever has started already, are not told by this.
    """
    are_worth_it = size >= LARGE_SIZE * context.defaultParallelism
    if are_worth_it:
        context.environment[ASKED_FOR] = "yes"
    return are_worth_it
