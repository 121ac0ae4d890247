"""
Kernels over columns of numbers; see :mod:`columns.numbers`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, types

from columns.gather import Ints
from columns.kernels.memory import BOOLS, INNER, INTS, OPTIONS
from columns.numbers.long_hashes import SEED, mixed

_mixed = njit(types.uint64(types.uint64), **INNER)(mixed)


@njit(types.int64(*4 * [types.int64]), **INNER)
def _identity(queue_offset, offset, size, tags_code):
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


@njit(
    types.void(INTS, BOOLS, BOOLS, types.UniTuple(INTS, 4), types.int64[:, ::1]),
    **OPTIONS,
)
def add_rows(groups, needed, ranged, columns, sums):
    """Add rows to the *sums* of their groups."""
    queue_offsets, offsets, sizes, codes = columns
    for index in range(len(groups)):
        group, number = groups[index], queue_offsets[index]
        sums[0, group] += 1
        if ranged[index]:
            sums[2, group] = min(sums[2, group], number)
            sums[3, group] = max(sums[3, group], number)
        if needed[index]:
            sums[1, group] += 1
            code = _identity(number, offsets[index], sizes[index], codes[index])
            sums[4, group] ^= code


def chains(numbers: Ints, slots: Ints, slot_count: int) -> tuple[Ints, Ints]:
    """Return the previous item of each item's slot, and the last item of each slot."""
    previous = np.empty(len(slots), dtype=np.int64)
    last = np.zeros(slot_count, dtype=np.int64)
    columns = (np.ascontiguousarray(column) for column in (numbers, slots))
    _link_items(*columns, previous, last)
    return previous, last


@njit(types.void(INTS, INTS, INTS, INTS), **OPTIONS)
def _link_items(numbers, slots, previous, last):
    for index in range(len(numbers)):
        slot = slots[index]
        previous[index] = last[slot]
        last[slot] = numbers[index]
