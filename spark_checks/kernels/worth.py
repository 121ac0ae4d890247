"""
When kernels are worth their loading, and how Spark's workers are told.
"""

from __future__ import annotations

ASKED_FOR = "RMQC_KERNELS"
"""Variable by which a daemon of workers knows that they are worth their loading."""
LARGE_SIZE = 512 * 1024 * 1024
"""Bytes for each processor from which on they are."""


def are_worth_it(size: int, processors: int) -> bool:
    """Return whether so many *processors* read *size* bytes sooner with kernels."""
    return size >= LARGE_SIZE * processors
