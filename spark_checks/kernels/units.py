"""
Kernels over consume-queue units and index items.

See :mod:`spark_checks.survey.sums` and :mod:`spark_checks.readers.index`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, types

from columns.gather import Ints
from spark_checks.counting_rules import needs_record
from spark_checks.kernels.long_hashes import identity
from spark_checks.kernels.memory import BIG_ENDIAN, DATA, INNER, INTS, OPTIONS
from spark_checks.readers.schemas import UNIT
from spark_checks.survey.summary import QueueSummary
from spark_checks.survey.sums import SurveyOptions, is_lmq, queue_summary
from spark_checks.survey.sums import sums_of_units as accelerated
from spec.integers import INT64_MAX, INT64_MIN
from spec.store.consume_queue import UNIT_SIZE

_of_4, _of_8 = BIG_ENDIAN[4], BIG_ENDIAN[8]
_OFFSET_AT, _SIZE_AT, _CODE_AT = (
    UNIT.fields[name][1]  # type: ignore[index] # it has names
    for name in ("commit_log_offset", "size", "tags_code")
)
_needs_record = njit(types.boolean(*4 * [types.int64]), **INNER)(needs_record)
_MATCHED, _FIRST, _LAST, _HASH, _BYTES = range(5)


def _bytes_of(units: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    return np.frombuffer(np.ascontiguousarray(units).data.cast("B"), dtype=np.uint8)


def sums_of_units(
    queue: tuple[str, int],
    queue_offsets: Ints,
    units: npt.NDArray[Any],
    *,
    options: SurveyOptions,
) -> QueueSummary:
    """Return the sums of some *units* of one queue."""
    if options.parts is not None:
        return accelerated.fallback(queue, queue_offsets, units, options=options)
    sums = np.array([0, INT64_MAX, INT64_MIN, 0, 0], dtype=np.int64)
    numbers = np.ascontiguousarray(queue_offsets)
    _sums(_bytes_of(units), numbers, options.min_offset, is_lmq(queue), sums)
    return queue_summary(len(units), *sums.tolist())


@njit(types.void(DATA, INTS, types.int64, types.boolean, INTS), **OPTIONS)
def _sums(data, queue_offsets, min_offset, is_lmq, sums):
    for index in range(len(queue_offsets)):
        at = index * UNIT_SIZE
        offset, size = _of_8(data, at + _OFFSET_AT), _of_4(data, at + _SIZE_AT)
        code, number = _of_8(data, at + _CODE_AT), queue_offsets[index]
        sums[_FIRST] = min(sums[_FIRST], number)
        sums[_LAST] = max(sums[_LAST], number)
        if is_lmq or not _needs_record(offset, size, code, min_offset):
            continue
        sums[_MATCHED] += 1
        sums[_HASH] ^= identity(number, offset, size, code)
        sums[_BYTES] += size


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
