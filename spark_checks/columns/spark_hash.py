"""
Spark's xxhash64 of longs, or of a long and an int, over whole columns.

Hashes computed in workers are thus comparable with hashes computed by Spark.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from columns.accelerated import Accelerated

Words = npt.NDArray[np.uint64]

SEED = np.uint64(42)
"""Spark's default seed."""
P1, P2, P3, P4, P5 = (
    np.uint64(prime)
    for prime in (
        0x9E3779B185EBCA87,
        0xC2B2AE3D27D4EB4F,
        0x165667B19E3779F9,
        0x85EBCA77C2B2AE63,
        0x27D4EB2F165667C5,
    )
)


@Accelerated
def xor_of(longs: npt.NDArray[np.int64], ints: npt.NDArray[np.int64]) -> int:
    """Return ``bit_xor(xxhash64(long, int))`` of two equally long columns."""
    if not len(longs):
        return 0
    hashed = of_ints(ints, seed=of_longs(longs))
    return int(np.bitwise_xor.reduce(hashed).astype(np.int64))


@Accelerated
def hash_of_longs(*columns: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return ``xxhash64(long, ...)`` of equally long columns, row by row."""
    code: Words | np.uint64 = SEED
    for column in columns:
        code = of_longs(column, seed=code)
    return np.asarray(code).view(np.int64)


def of_longs(values: npt.NDArray[np.int64], seed: Words | np.uint64 = SEED) -> Words:
    """Return the hashes of *values*, each by its *seed*."""
    word = _rotated(values.astype(np.uint64) * P2, 31) * P1
    code = (seed + P5 + np.uint64(8)) ^ word
    return _mixed(_rotated(code, 27) * P1 + P4)


def of_ints(values: npt.NDArray[np.int64], *, seed: Words) -> Words:
    """Return the hashes of *values* of 32 bits, each by its *seed*."""
    word = (values.astype(np.uint64) & np.uint64(0xFFFFFFFF)) * P1
    code = (seed + P5 + np.uint64(4)) ^ word
    return _mixed(_rotated(code, 23) * P2 + P3)


def _rotated(words: Words, bits: int) -> Words:
    return (words << np.uint64(bits)) | (words >> np.uint64(64 - bits))


def _mixed(words: Words) -> Words:
    words = (words ^ (words >> np.uint64(33))) * P2
    words = (words ^ (words >> np.uint64(29))) * P3
    return words ^ (words >> np.uint64(32))
