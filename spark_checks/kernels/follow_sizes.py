"""
Kernel that follows record sizes; see :func:`columns.log_batch.follow_sizes`.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from columns.gather import Ints
from spark_checks.kernels.memory import DATA, INTS, OPTIONS, fetch_ahead
from spec.store.message_record import SMALLEST_SIZE


def follow_sizes(data: bytes, position: int, *, most: int) -> tuple[Ints, int]:
    """Return the starts of up to *most* records by their sizes, and the end.

    Each record is complete; its content is not checked.
    """
    room = min(most, max(len(data) - position, 0) // SMALLEST_SIZE + 1)
    starts = np.empty(room, dtype=np.int64)
    view = np.frombuffer(data, dtype=np.uint8)
    count, end = _follow(view, position, starts)
    return starts[:count], end


@njit(types.UniTuple(types.int64, 2)(DATA, types.int64, INTS), **OPTIONS)
def _follow(data, position, starts):
    count = 0
    while count < len(starts) and position + 4 <= len(data):
        size = np.uint32(0)
        for index in range(4):
            size = (size << np.uint32(8)) | np.uint32(data[position + index])
        if size < SMALLEST_SIZE:
            break
        fetch_ahead(data, position + 4 * np.int64(size))
        starts[count] = position
        count += 1
        position += np.int64(size)
    if position > len(data):
        count -= 1
        position = starts[count]
    return count, position
