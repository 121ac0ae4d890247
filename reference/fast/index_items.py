"""
Index items of many keys, with the chains of slots that several of them share.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from columns.gather import Ints, dtype_of
from reference.core.store.index.index_file import IndexFile
from spec.derive.numpy_dtype import leading_fields
from spec.integers import INT32_MAX
from spec.store.index_file import HEADER_SIZE, SLOT_SIZE, item_layout, slot_layout

_item = dtype_of(item_layout)
_slot = np.dtype(leading_fields(slot_layout)[0].format)


def add_items(
    file: IndexFile, hashes: Ints, physical_offsets: Ints, stored_at_ms: Ints
) -> None:
    """Add the next items of *file*: one key at least, offsets rising."""
    numbers = np.arange(file.next_item, file.next_item + len(hashes))
    slots = hashes % file.slot_count  # [INDEX-SLOT-001]
    before = np.frombuffer(file.view, _slot, file.slot_count, HEADER_SIZE)[slots]
    previous, is_newest = _chained(before.astype(np.int64), slots, numbers)
    items = np.zeros(len(numbers), _item)
    items["key_hash"] = hashes
    items["commit_log_offset"] = physical_offsets
    items["seconds"] = _seconds(file.begin_ms, stored_at_ms)
    items["previous_item"] = previous
    file.add(
        items=items.tobytes(),
        item_count=len(items),
        slot_words=numbers[is_newest].astype(_slot).tobytes(),
        slot_places=(HEADER_SIZE + slots[is_newest] * SLOT_SIZE).tolist(),
        end_ms=int(stored_at_ms[-1]),
        end_offset=int(physical_offsets[-1]),
    )


def _chained(
    before: Ints, slots: Ints, numbers: Ints
) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Return the previous item of each item, and which items are the last of a slot.

    *before* holds the numbers that the slots have now.
    """
    previous = np.where((before > 0) & (before <= numbers), before, 0)
    order = np.argsort(slots, kind="stable")
    shared = np.flatnonzero(slots[order][1:] == slots[order][:-1])
    # [INDEX-ITEM-002]
    previous[order[shared + 1]] = numbers[order[shared]]
    is_newest = np.ones(len(slots), np.bool_)
    is_newest[order[shared]] = False
    return previous, is_newest


def _seconds(begin_ms: int, stored_at_ms: Ints) -> Ints:
    """Return the seconds since *begin_ms*, the begin of the file."""
    if begin_ms <= 0:
        return np.zeros_like(stored_at_ms)
    # [INDEX-ITEM-003]
    return np.clip((stored_at_ms - begin_ms) // 1000, 0, INT32_MAX)
