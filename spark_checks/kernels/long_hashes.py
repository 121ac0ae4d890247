"""
Spark's hashes of columns; the plain way is in ``sources.spark_hash``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, types

from spark_checks.kernels.memory import INNER, INTS, OPTIONS, WORDS
from spark_checks.sources.spark_hash import P1, P2, P3, P4, P5, SEED, Words

_LOW_BITS = np.uint64(0xFFFFFFFF)


def of_longs(values: npt.NDArray[Any], seed: Words | np.uint64 = SEED) -> Words:
    """Return the hashes of *values*, each by its *seed*."""
    codes = np.empty(len(values), dtype=np.uint64)
    codes[:] = seed
    _of_longs(np.ascontiguousarray(values, dtype=np.int64), codes)
    return codes


def of_ints(values: npt.NDArray[Any], *, seed: Words) -> Words:
    """Return the hashes of *values* of 32 bits, each by its *seed*."""
    codes = np.array(seed)
    _of_ints(np.ascontiguousarray(values, dtype=np.int64), codes)
    return codes


@njit(types.uint64(types.uint64, types.uint64), **INNER)
def _rotated(word, bits):
    return (word << bits) | (word >> (np.uint64(64) - bits))


@njit(types.uint64(types.uint64), **INNER)
def _mixed(word):
    word = (word ^ (word >> np.uint64(33))) * P2
    word = (word ^ (word >> np.uint64(29))) * P3
    return word ^ (word >> np.uint64(32))


@njit(types.uint64(types.int64, types.uint64), **INNER)
def of_long(value, seed):
    """Return the hash of a number of 64 bits."""
    word = _rotated(np.uint64(value) * P2, np.uint64(31)) * P1
    code = (seed + P5 + np.uint64(8)) ^ word
    return _mixed(_rotated(code, np.uint64(27)) * P1 + P4)


@njit(types.uint64(types.int64, types.uint64), **INNER)
def of_int(value, seed):
    """Return the hash of a number of 32 bits."""
    word = (np.uint64(value) & _LOW_BITS) * P1
    code = (seed + P5 + np.uint64(4)) ^ word
    return _mixed(_rotated(code, np.uint64(23)) * P2 + P3)


@njit(types.void(INTS, WORDS), **OPTIONS)
def _of_longs(values, codes):
    for index in range(len(values)):
        codes[index] = of_long(values[index], codes[index])


@njit(types.void(INTS, WORDS), **OPTIONS)
def _of_ints(values, codes):
    for index in range(len(values)):
        codes[index] = of_int(values[index], codes[index])
