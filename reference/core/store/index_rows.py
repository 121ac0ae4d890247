"""
Many items of an index file made at once, for starts on large stores.

This is the quick twin of ``IndexFile.put``: the items are the same, and so are the
chains of slots that several of them share.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from reference.core.store.record_runs import Flags, Ints
from spec.derive.numpy_dtype import leading_fields
from spec.integers import INT32_MAX
from spec.store.index_file import HEADER_SIZE, SLOT_SIZE, item_layout, slot_layout

_item = np.dtype([(field.name, field.format) for field in leading_fields(item_layout)])
_slot = np.dtype(leading_fields(slot_layout)[0].format)


class KeyRow(NamedTuple):
    """Keys in the order in which the index gets them, as equally long columns."""

    hashes: Ints
    physical_offsets: Ints
    """Of the key's message; they only grow."""
    stored_at_ms: Ints


class Made(NamedTuple):
    """What is to be written for some keys."""

    items: bytes
    item_count: int
    named: bytes
    """Numbers of the items that are now the newest of their slots."""
    places: list[int]
    """Where these slots are in the file."""
    end_ms: int
    end_offset: int


def made_items(
    file: memoryview, keys: KeyRow, *, slot_count: int, first: int, begin_ms: int
) -> Made:
    """Return the items of *keys*, one at least, the first of which is number *first*.

    *file* is the index file, which began with a message stored at *begin_ms*.
    """
    numbers = np.arange(first, first + len(keys.hashes))
    slots = keys.hashes % slot_count  # [INDEX-SLOT-001]
    before = np.frombuffer(file, _slot, slot_count, HEADER_SIZE)[slots]
    previous, is_newest = _chained(before.astype(np.int64), slots, numbers)
    items = np.zeros(len(numbers), _item)
    items["key_hash"] = keys.hashes
    items["commit_log_offset"] = keys.physical_offsets
    items["seconds"] = _seconds(begin_ms, keys.stored_at_ms)
    items["previous_item"] = previous
    return Made(
        items=items.tobytes(),
        item_count=len(items),
        named=numbers[is_newest].astype(_slot).tobytes(),
        places=(HEADER_SIZE + slots[is_newest] * SLOT_SIZE).tolist(),
        end_ms=int(keys.stored_at_ms[-1]),
        end_offset=int(keys.physical_offsets[-1]),
    )


def _chained(before: Ints, slots: Ints, numbers: Ints) -> tuple[Ints, Flags]:
    """Return the item before each item, and which are the newest of their slots.

    *before* is what their slots named until now.
    """
    previous = np.where((before > 0) & (before <= numbers), before, 0)
    order = np.argsort(slots, kind="stable")
    shares = np.flatnonzero(slots[order][1:] == slots[order][:-1])
    # [INDEX-ITEM-002]
    previous[order[shares + 1]] = numbers[order[shares]]
    is_newest = np.ones(len(slots), np.bool_)
    is_newest[order[shares]] = False
    return previous, is_newest


def _seconds(begin_ms: int, stored_at_ms: Ints) -> Ints:
    """Return the seconds of items in a file that began at *begin_ms*."""
    if begin_ms <= 0:
        return np.zeros_like(stored_at_ms)
    # [INDEX-ITEM-003]
    return np.clip((stored_at_ms - begin_ms) // 1000, 0, INT32_MAX)
