"""
The end of a consume queue of many units, by the rules of the reference.

The functions return the results of those in ``core.store.recovery.queue_end``, or None
where a number is too large to be added to.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from columns.gather import dtype_of
from reference.core.store.layouts import unit_codec
from reference.core.store.recovery.queue_end import (
    QueueEnd,
    TruncatedQueue,
    physical_end_of,
)
from reference.core.store.recovery.rules import REFERENCE
from spec.integers import INT32_MAX
from spec.store.consume_queue import UNIT_SIZE, unit_layout

UnitData = tuple[int, memoryview]
"""Start offset of a file, and its bytes."""

_unit = dtype_of(unit_layout)
_OFFSET_MAX = 2**62


def find_queue_end(files: Sequence[UnitData], file_size: int) -> QueueEnd | None:
    """Return the end of a queue, given its last files, at most three."""
    position, max_physical_offset = files[0][0], -1
    for base, data in files:
        count = _count_units(data, _OFFSET_MAX)
        if count is None:
            return None
        if count:
            max_physical_offset = _physical_end(data, count)
        position = base + count * UNIT_SIZE
        if position < base + file_size:
            break
    return QueueEnd(position, max_physical_offset)


def truncate_queue(
    newest_first: Iterable[UnitData], log_end: int
) -> TruncatedQueue | None:
    """Return the queue's end where the commit log ends at *log_end*."""
    deleted = base = 0
    for base, data in newest_first:
        count = _count_units(data, log_end)
        if count is None:
            return None
        if count:
            end = QueueEnd(base + count * UNIT_SIZE, _physical_end(data, count))
            return TruncatedQueue(end, deleted, False)
        deleted += 1
    # A queue that loses all units keeps its place.
    deleted = deleted - 1 if base else deleted
    return TruncatedQueue(QueueEnd(base, log_end), deleted, False)


def _count_units(data: memoryview, log_end: int) -> int | None:
    """Return the number of valid units with which *data* begins.

    A unit that points before the end of the one before it, or at or behind *log_end*,
    is not valid. None stands for an offset too large to be added to.
    """
    units = np.frombuffer(data, _unit, len(data) // UNIT_SIZE)
    is_empty = units["size"] <= 0
    count = int(is_empty.argmax()) if is_empty.any() else len(units)
    offsets = units["commit_log_offset"][:count].astype(np.int64)
    if count == 0 or offsets.max() >= _OFFSET_MAX:
        return None if count else 0
    sizes = units["size"][:count].astype(np.int64)
    is_filler = (offsets == 0) & (sizes == INT32_MAX)
    least_next = np.where(is_filler, 0, offsets + sizes)
    is_invalid = offsets >= log_end
    is_invalid[0] |= offsets[0] < 0
    is_invalid[1:] |= offsets[1:] < least_next[:-1]  # [REC-QUEUE-001]
    return int(is_invalid.argmax()) if is_invalid.any() else count


def _physical_end(data: memoryview, count: int) -> int:
    """Return the end of the record of unit number *count* - 1."""
    unit = unit_codec.unpack_from(data, (count - 1) * UNIT_SIZE)
    return physical_end_of(unit, REFERENCE)
