"""
Kernels over rows of a queue and over index items.

See :mod:`columns.numbers.group_sums` and
:mod:`columns.numbers.index_items`.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from columns.gather import Ints
from columns.kernels.long_hashes import identity
from columns.kernels.memory import BOOLS, INTS, OPTIONS


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
            code = identity(number, offsets[index], sizes[index], codes[index])
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
