"""
Records followed by their sizes; the plain way is in ``sources.log_batch``.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from spark_checks.kernels.memory import DATA, INTS, OPTIONS, fetch_ahead
from spark_checks.sources.gather import Ints
from spec.store.message_record import SMALLEST_SIZE


def follow_sizes(data: bytes, position: int, *, most: int) -> tuple[Ints, int]:
    """Return where up to *most* records begin if sizes are right, and where they end.

    Each is all there; nothing else of it has been looked at.
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
