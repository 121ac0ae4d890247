"""Index items of one file: their chains, and times that contradict others."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from columns.accelerated import Accelerated
from columns.gather import Bools, Ints
from spec.store.index_file import IndexHeader

Seconds = npt.NDArray[Any]


def outside(numbers: Ints, seconds: Seconds, header: IndexHeader) -> Bools:
    """Return the mask of items whose *seconds* contradict the *header*."""
    took_ms = header.end_stored_at_ms - header.begin_stored_at_ms
    found: Bools = seconds < 0
    if header.begin_stored_at_ms > 0 and took_ms >= 0:
        found |= seconds > took_ms // 1000 + 1
    found &= numbers != 1  # the first item may count from the file before
    return found


class TimeDecreases:
    """Collects the items on both sides of a decrease in seconds, window by window.

    Every reader of a file sees all items, and therefore the same decreases.
    """

    def __init__(self, header: IndexHeader) -> None:
        self._header = header
        self._before: tuple[Ints, Ints] = (np.zeros(0, np.int64), np.zeros(0, np.int64))
        self._found: list[Ints] = [np.zeros(0, dtype=np.int64)]

    def note(self, first: int, seconds: Seconds) -> None:
        """Add the *seconds* of the next items, from number *first*."""
        numbers = np.arange(first, first + len(seconds))
        is_sound = ~outside(numbers, seconds, self._header) & (numbers != 1)
        last_number, last_s = self._before
        sound = np.concatenate([last_number, numbers[is_sound]])
        times = np.concatenate([last_s, seconds[is_sound].astype(np.int64)])
        decreases = np.flatnonzero(times[1:] < times[:-1])
        self._found += [sound[decreases], sound[decreases + 1]]
        self._before = sound[-1:], times[-1:]

    def are_among(self, numbers: Ints) -> Bools:
        """Return the mask of the items *numbers* that are beside a decrease."""
        return np.isin(numbers, np.concatenate(self._found))


@Accelerated
def chains(numbers: Ints, slots: Ints, slot_count: int) -> tuple[Ints, Ints]:
    """Return the previous item of each item's slot, and the last item of each slot."""
    order = _order_of(slots)
    sorted_slots = slots[order]
    previous = np.zeros(len(slots), dtype=np.int64)
    if len(slots) > 1:
        same = sorted_slots[1:] == sorted_slots[:-1]
        previous[order[1:][same]] = numbers[order[:-1][same]]
    last = np.zeros(slot_count, dtype=np.int64)
    last[sorted_slots] = numbers[order]  # for duplicate slots numpy keeps the last
    return previous, last


def _order_of(slots: Ints) -> Ints:
    """Return the sort order of *slots*; numpy sorts 16 bits much faster than 64."""
    order = np.argsort(slots.astype(np.uint16), kind="stable")
    if len(slots) and int(slots.max()) >= 1 << 16:
        high = (slots >> 16)[order]
        kind = np.uint16 if int(high.max()) < 1 << 16 else np.int64
        order = order[np.argsort(high.astype(kind), kind="stable")]
    return order
