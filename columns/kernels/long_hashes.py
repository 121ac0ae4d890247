"""Kernels that hash rows of numbers; see :mod:`columns.numbers.long_hashes`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, types

from columns.gather import Ints
from columns.kernels.memory import INNER, INTS, OPTIONS
from columns.numbers.long_hashes import SEED, mixed

_mixed = njit(types.uint64(types.uint64), **INNER)(mixed)


@njit(types.int64(*4 * [types.int64]), **INNER)
def identity(queue_offset, offset, size, tags_code):
    """Return the hash that a record and its unit share."""
    code = _mixed(_mixed(SEED ^ np.uint64(queue_offset)) ^ np.uint64(offset))
    code = _mixed(code ^ np.uint64(size))
    return np.int64(_mixed(code ^ np.uint64(tags_code)))


def hash_of_longs(*columns: npt.NDArray[Any]) -> Ints:
    """Return the hashes of rows of equally long *columns*."""
    table = np.array(columns, dtype=np.int64)
    found = np.empty(table.shape[1], dtype=np.int64)
    _of_rows(table, found)
    return found


@njit(types.void(types.int64[:, ::1], INTS), **OPTIONS)
def _of_rows(table, found):
    for index in range(len(found)):
        code = SEED
        for column in range(len(table)):
            code = _mixed(code ^ np.uint64(table[column, index]))
        found[index] = np.int64(code)
