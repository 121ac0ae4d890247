"""
Hashes of single rows, for kernels; see :mod:`spark_checks.columns.long_hashes`.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from spark_checks.columns.long_hashes import SEED, mixed
from spark_checks.kernels.memory import INNER

_mixed = njit(types.uint64(types.uint64), **INNER)(mixed)


@njit(types.int64(types.int64, types.int64), **INNER)
def hash_of_two(one, other):
    """Return the hash of a row of two numbers."""
    return np.int64(_mixed(_mixed(SEED ^ np.uint64(one)) ^ np.uint64(other)))


@njit(types.int64(*4 * [types.int64]), **INNER)
def identity(queue_offset, offset, size, tags_code):
    """Return the hash that a record and its unit share."""
    code = np.uint64(hash_of_two(queue_offset, offset))
    code = _mixed(code ^ np.uint64(size))
    return np.int64(_mixed(code ^ np.uint64(tags_code)))
