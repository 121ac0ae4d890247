"""
Units of consume queues, each gone through once; the plain ways are in
``sources.consume_queue`` and ``sources.sums``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, types

from spark_checks.kernels.long_hashes import of_long
from spark_checks.kernels.memory import BIG_ENDIAN, DATA, INTS, OPTIONS
from spark_checks.sources.consume_queue import UNIT
from spark_checks.sources.gather import Ints
from spark_checks.sources.spark_hash import SEED
from spark_checks.sources.sums import Asked, QueueSums, is_light
from spark_checks.sources.sums import sums_of_units as plain_sums_of_units
from spec.integers import INT32_MAX, INT64_MAX, INT64_MIN
from spec.store.consume_queue import UNIT_SIZE

_of_4, _of_8 = BIG_ENDIAN[4], BIG_ENDIAN[8]
_OFFSET_AT, _SIZE_AT, _CODE_AT = (
    UNIT.fields[name][1]  # type: ignore[index] # it has names
    for name in ("commit_log_offset", "size", "tags_code")
)
_MATCHED, _FIRST, _LAST, _HASH, _BYTES = range(5)


def written_among(units: npt.NDArray[Any]) -> Ints:
    """Return the indices of those of *units* that are not all zeros."""
    found = np.empty(len(units), dtype=np.int64)
    return found[: _written(_bytes_of(units), found)]


def _bytes_of(units: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    return np.frombuffer(np.ascontiguousarray(units).data.cast("B"), dtype=np.uint8)


@njit(types.int64(DATA, INTS), **OPTIONS)
def _written(data, found):
    count = 0
    for index in range(len(found)):
        at = index * UNIT_SIZE
        code, offset = _of_8(data, at + _CODE_AT), _of_8(data, at + _OFFSET_AT)
        if code | offset | _of_4(data, at + _SIZE_AT):
            found[count] = index
            count += 1
    return count


def sums_of_units(
    queue: tuple[str, int],
    queue_offsets: Ints,
    units: npt.NDArray[Any],
    *,
    asked: Asked,
) -> QueueSums:
    """Return the sums of some *units* of one queue."""
    if asked.parts is not None:
        return plain_sums_of_units.plain(queue, queue_offsets, units, asked=asked)
    sums = np.array([0, INT64_MAX, INT64_MIN, 0, 0], dtype=np.int64)
    numbers = np.ascontiguousarray(queue_offsets)
    _sums(_bytes_of(units), numbers, asked.min_offset, is_light(queue), sums)
    return QueueSums(len(units), *sums.tolist())


@njit(types.void(DATA, INTS, types.int64, types.boolean, INTS), **OPTIONS)
def _sums(data, queue_offsets, min_offset, is_light, sums):
    for index in range(len(queue_offsets)):
        at = index * UNIT_SIZE
        offset, size = _of_8(data, at + _OFFSET_AT), _of_4(data, at + _SIZE_AT)
        code, number = _of_8(data, at + _CODE_AT), queue_offsets[index]
        sums[_FIRST] = min(sums[_FIRST], number)
        sums[_LAST] = max(sums[_LAST], number)
        is_filler = offset == 0 and size == INT32_MAX and code == 0
        if is_light or is_filler or 0 <= offset < min_offset:
            continue
        known = of_long(size, of_long(offset, of_long(number, SEED)))
        sums[_MATCHED] += 1
        sums[_HASH] ^= np.int64(of_long(code, known))
        sums[_BYTES] += size
