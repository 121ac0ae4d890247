"""
Units that point at a record at which an earlier unit of their queue points already.

A queue's units point ever further into the log. Only those that do not are searched
among the earlier ones: of a copied file, or with a damaged offset.
"""

from __future__ import annotations

from bisect import bisect_left

from reference.core.recovery_forecast.queue_state import QueueState
from reference.core.store.recovery.queue_end import Unit
from spec.integers import INT32_MAX


class RepeatedUnits:
    """Examines the units of one queue in their order."""

    def __init__(self, queue: QueueState) -> None:
        self._queue = queue
        self._top = self._top_place = -1
        """Number of the unit that points furthest, and its commit-log offset."""
        self._gap = (0, 0)
        """Range of the log after its begin, at which no earlier unit points."""

    def has_earlier(self, index: int, place: int) -> bool:
        """Return whether a unit before *index* points at *place*, as that one does."""
        if place > self._top_place:
            self._top, self._top_place = index, place
            return False
        begin, end = self._gap
        earlier = range(self._queue.min_offset, self._top + 1)
        if begin < place < end or not earlier:
            return False
        at = earlier[bisect_left(earlier, place, key=self._place_of)]
        found = self._place_of(at)
        self._gap = self._place_of(at - 1), found
        return found == place

    def _place_of(self, index: int) -> int:
        """Return the commit-log offset in unit number *index*, -1 for a filler."""
        unit: Unit | None = self._queue.unit(index) if index >= 0 else None
        return unit[0] if unit is not None and 0 < unit[1] < INT32_MAX else -1
