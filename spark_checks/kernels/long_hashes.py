"""
Kernels of Spark's hashes of columns; see :mod:`spark_checks.columns.spark_hash`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, types

from columns.gather import Ints
from spark_checks.columns.spark_hash import P1, P2, P3, P4, P5, SEED
from spark_checks.kernels.memory import INNER, INTS, OPTIONS

_LOW_BITS = np.uint64(0xFFFFFFFF)


def hash_of_longs(*columns: npt.NDArray[Any]) -> Ints:
    """Return ``xxhash64(long, ...)`` of equally long columns, row by row."""
    table = np.empty((len(columns), len(columns[0])), dtype=np.int64)
    for row, column in zip(table, columns, strict=True):
        row[:] = column
    found = np.empty(table.shape[1], dtype=np.int64)
    _of_rows(table, found)
    return found


def xor_of(longs: npt.NDArray[Any], ints: npt.NDArray[Any]) -> int:
    """Return ``bit_xor(xxhash64(long, int))`` of two equally long columns."""
    columns = [np.ascontiguousarray(column, dtype=np.int64) for column in (longs, ints)]
    return int(_xor_of(*columns))


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
    """Return the hash of a 64-bit number."""
    word = _rotated(np.uint64(value) * P2, np.uint64(31)) * P1
    code = (seed + P5 + np.uint64(8)) ^ word
    return _mixed(_rotated(code, np.uint64(27)) * P1 + P4)


@njit(types.int64(*4 * [types.int64]), **INNER)
def identity(queue_offset, offset, size, tags_code):
    """Return the hash that a record and its unit share."""
    code = of_long(size, of_long(offset, of_long(queue_offset, SEED)))
    return np.int64(of_long(tags_code, code))


@njit(types.uint64(types.int64, types.uint64), **INNER)
def of_int(value, seed):
    """Return the hash of a 32-bit number."""
    word = (np.uint64(value) & _LOW_BITS) * P1
    code = (seed + P5 + np.uint64(4)) ^ word
    return _mixed(_rotated(code, np.uint64(23)) * P2 + P3)


@njit(types.void(types.int64[:, ::1], INTS), **OPTIONS)
def _of_rows(table, found):
    for index in range(len(found)):
        code = SEED
        for column in range(len(table)):
            code = of_long(table[column, index], code)
        found[index] = np.int64(code)


@njit(types.int64(INTS, INTS), **OPTIONS)
def _xor_of(longs, ints):
    code = np.uint64(0)
    for index in range(len(longs)):
        code ^= of_int(ints[index], of_long(longs[index], SEED))
    return np.int64(code)
