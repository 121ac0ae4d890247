"""
Items of an index file and what they name; the plain way is in ``sources.index``.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from spark_checks.kernels.memory import INTS, OPTIONS
from spark_checks.sources.gather import Ints


def chains(numbers: Ints, slots: Ints, slot_count: int) -> tuple[Ints, Ints]:
    """Return what item each should name, and what item each of the slots."""
    previous = np.empty(len(slots), dtype=np.int64)
    last = np.zeros(slot_count, dtype=np.int64)
    columns = (np.ascontiguousarray(column) for column in (numbers, slots))
    _follow(*columns, previous, last)
    return previous, last


@njit(types.void(INTS, INTS, INTS, INTS), **OPTIONS)
def _follow(numbers, slots, previous, last):
    for index in range(len(numbers)):
        slot = slots[index]
        previous[index] = last[slot]
        last[slot] = numbers[index]
