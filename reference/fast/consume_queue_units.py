"""
The valid units with which a consume-queue file begins, by the rules of the reference.
"""

from __future__ import annotations

import numpy as np

from columns.gather import dtype_of
from reference.core.store.layouts import unit_codec
from reference.core.store.recovery.queue_end import LeadingUnits
from spec.integers import INT32_MAX
from spec.store.consume_queue import UNIT_SIZE, unit_layout

_unit = dtype_of(unit_layout)
_OFFSET_MAX = 2**62


def leading_units(data: memoryview, log_end: int) -> LeadingUnits | None:
    """Return the valid units of a file, as ``queue_end.leading_units`` does.

    None where an offset is too large to be added to.
    """
    units = np.frombuffer(data, _unit, len(data) // UNIT_SIZE)
    is_empty = units["size"] <= 0
    count = int(is_empty.argmax()) if is_empty.any() else len(units)
    offsets = units["commit_log_offset"][:count].astype(np.int64)
    if count == 0:
        return LeadingUnits(0, None)
    if offsets.max() >= _OFFSET_MAX:
        return None
    sizes = units["size"][:count].astype(np.int64)
    is_filler = (offsets == 0) & (sizes == INT32_MAX)
    least_next = np.where(is_filler, 0, offsets + sizes)
    is_invalid = offsets >= min(log_end, _OFFSET_MAX)
    is_invalid[0] |= offsets[0] < 0
    is_invalid[1:] |= offsets[1:] < least_next[:-1]  # [REC-QUEUE-001]
    if is_invalid.any():
        count = int(is_invalid.argmax())
    last = unit_codec.unpack_from(data, (count - 1) * UNIT_SIZE) if count else None
    return LeadingUnits(count, last)
