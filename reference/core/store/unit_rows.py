"""
The units of a consume queue looked at all at once, for starts on large stores.

This is the quick twin of ``recovery_units.found_end`` and ``cut_end``, by the rules of
the reference. Where a number is too great to be counted with, the answer is None.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from reference.core.store.layouts import unit_codec
from reference.core.store.recovery_rules import REFERENCE
from reference.core.store.recovery_units import Cut, QueueEnd, reach
from spec.derive.numpy_dtype import leading_fields
from spec.integers import INT32_MAX
from spec.store.consume_queue import UNIT_SIZE, unit_layout

UnitData = tuple[int, memoryview]
"""Where a file begins, and its bytes."""

_unit = np.dtype([(field.name, field.format) for field in leading_fields(unit_layout)])
_FAR = 2**62


def found_end_at_once(files: Sequence[UnitData], file_size: int) -> QueueEnd | None:
    """Return the end of a queue, whose last (up to) three files are given."""
    position, physical = files[0][0], -1
    for base, data in files:
        count = _whole(data, _FAR)
        if count is None:
            return None
        if count:
            physical = _reach(data, count)
        position = base + count * UNIT_SIZE
        if position < base + file_size:
            break
    return QueueEnd(position, physical)


def cut_end_at_once(newest_first: Iterable[UnitData], log_end: int) -> Cut | None:
    """Return the queue's end when the commit log ends at *log_end*."""
    deleted = base = 0
    for base, data in newest_first:
        count = _whole(data, log_end)
        if count is None:
            return None
        if count:
            end = QueueEnd(base + count * UNIT_SIZE, _reach(data, count))
            return Cut(end, deleted, False)
        deleted += 1
    # A queue that loses all its units goes on where they were.
    return Cut(QueueEnd(base, log_end), deleted - 1 if base else deleted, False)


def _whole(data: memoryview, log_end: int) -> int | None:
    """Return how many units there are before the first that is none.

    None is also one that points before the end of the last, or at *log_end*.
    """
    units = np.frombuffer(data, _unit, len(data) // UNIT_SIZE)
    is_empty = units["size"] <= 0
    count = int(is_empty.argmax()) if is_empty.any() else len(units)
    offsets = units["commit_log_offset"][:count].astype(np.int64)
    if count == 0 or offsets.max() >= _FAR:
        return None if count else 0
    sizes = units["size"][:count].astype(np.int64)
    is_filler = (offsets == 0) & (sizes == INT32_MAX)
    least = np.where(is_filler, 0, offsets + sizes)
    is_none = offsets >= log_end
    is_none[0] |= offsets[0] < 0
    is_none[1:] |= offsets[1:] < least[:-1]
    return int(is_none.argmax()) if is_none.any() else count


def _reach(data: memoryview, count: int) -> int:
    """Return where the record of the last of *count* units ends."""
    unit = unit_codec.unpack_from(data, (count - 1) * UNIT_SIZE)
    return reach(unit, REFERENCE)
