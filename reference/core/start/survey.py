"""
What became of the messages: those in the log against the queues, after the start.

Every record that the log still has is looked up in its queue, and every unit that was
cut off in the log. Nothing is collected but the ranges that differ, so that memory does
not grow with the store.
"""

from __future__ import annotations

from reference.core.start.log_state import LogState
from reference.core.start.outcome import Outcome, Ranges
from reference.core.start.queue_state import QueueState
from reference.core.start.queues_state import QueuesState
from reference.core.start.view import StoreView
from reference.core.store.recovery_scan import Sighted
from spec.integers import INT32_MAX
from spec.store.consume_queue import UNIT_SIZE

_PROGRESS_EACH = 1 << 22


class Survey:
    """Finds messages that are lost, seen by nobody, or seen twice."""

    def __init__(
        self, outcome: Outcome, log: LogState, queues: QueuesState, view: StoreView
    ) -> None:
        self._outcome = outcome
        self._log = log
        self._queues = queues
        self._view = view
        self._end = outcome.log.end
        self._lost = Ranges()
        self._invisible = Ranges()
        self._repeated = Ranges()

    def run(self) -> None:
        """Look at all messages, and note in the outcome what is wrong with which."""
        for queue in self._queues:
            self._cut_units(queue)
            self._repeated_units(queue)
            self._units_of_holes(queue)
        self._cut_records()
        if self._outcome.refusal is None:
            self._kept_records()
        self._outcome.lost = self._lost.sorted()
        self._outcome.invisible = self._invisible.sorted()
        self._outcome.repeated = self._repeated.sorted()

    def _cut_units(self, queue: QueueState) -> None:
        """Note messages as lost whose units pointed behind the end of the log."""
        first = queue.lowest_end // UNIT_SIZE
        for index in range(first, queue.end_before // UNIT_SIZE):
            unit = queue.unit_before(index)
            if unit is None or unit[0] < 0 or not 0 < unit[1] < INT32_MAX:
                continue
            if unit[0] < self._end:
                continue
            record = self._log.record_at(unit[0])
            self._lost.add(
                (queue.topic, queue.queue_id),
                index,
                stored_at_ms=record.stored_at_ms if record else None,
                why="the commit log is cut before it",
                clause="REC-END-001",
            )

    def _units_of_holes(self, queue: QueueState) -> None:
        """Note messages as lost that lay in a file which is missing in the log."""
        for begin, end in self._log.holes():
            first, last = queue.first_at(begin), queue.first_at(min(end, self._end))
            for index in range(max(first, queue.min_offset), last):
                self._lost.add(
                    (queue.topic, queue.queue_id),
                    index,
                    stored_at_ms=None,
                    why="its commit-log file is missing",
                    clause="REC-BEGIN-006",
                )

    def _cut_records(self) -> None:
        """Note records as lost that are cut off and had no unit yet."""
        for place, record in self._log.records(
            self._end, self._outcome.log.end_on_disk
        ):
            if record.physical_offset != place or not record.is_consumable:
                continue
            topic = str(record.topic, "utf-8", "replace")
            queue = self._queues.get(topic, record.queue_id)
            before = queue.end_before // UNIT_SIZE if queue else 0
            if record.queue_offset >= before:
                self._lost.add(
                    (topic, record.queue_id),
                    record.queue_offset,
                    stored_at_ms=record.stored_at_ms,
                    why="the commit log is cut before it, and no queue had it yet",
                    clause="REC-END-001",
                )

    def _kept_records(self) -> None:
        """Note records as invisible that no unit points at."""
        waiting = 0
        for place, record in self._log.records(max(self._log.start, 0), self._end):
            waiting += record.size
            if waiting >= _PROGRESS_EACH:
                self._view.looked_at(waiting)
                waiting = 0
            if record.is_consumable:
                self._look_up(place, record)
        self._view.looked_at(waiting)

    def _look_up(self, place: int, record: Sighted) -> None:
        topic = str(record.topic, "utf-8", "replace")
        queue = self._queues.get(topic, record.queue_id)
        index = _index_of(place, record, queue) if queue else None
        unit = queue.unit(index) if queue and index is not None else None
        if queue is None or index is None or unit is None:
            why, clause = "its queue has no unit", "REC-DISPATCH-002"
        elif index < queue.min_offset:
            why, clause = "its queue begins behind it", "REC-QUEUE-004"
        elif unit[1] != record.size:
            why, clause = f"its unit has the size {unit[1]}", "REC-QUEUE-007"
        else:
            return
        self._invisible.add(
            (topic, record.queue_id),
            record.queue_offset,
            stored_at_ms=record.stored_at_ms,
            why=why,
            clause=clause,
        )

    def _repeated_units(self, queue: QueueState) -> None:
        """Note messages whose unit dispatch added although there was one."""
        added = {}
        for number, unit in enumerate(queue.added_units()):
            if not 0 < unit[1] < INT32_MAX:
                continue
            index = queue.added_at + number
            if unit[0] in added or _search(queue, unit[0], queue.added_at) is not None:
                record = self._log.record_at(unit[0])
                self._repeated.add(
                    (queue.topic, queue.queue_id),
                    index,
                    stored_at_ms=record.stored_at_ms if record else None,
                    why="dispatch adds a unit to the one that is there",
                    clause="REC-DISPATCH-003",
                )
            added[unit[0]] = index


def _index_of(place: int, record: Sighted, queue: QueueState) -> int | None:
    """Return the number of the unit that points at a record, None without one.

    Dispatch goes by what the record says of its place, which may be wrong.
    """
    unit = queue.unit(record.queue_offset)
    if unit is not None and unit[0] == place and unit[1] != INT32_MAX:
        return record.queue_offset
    found = _search(queue, place, queue.max_offset)
    if found is None and place != record.physical_offset:
        found = _search(queue, record.physical_offset, queue.max_offset)
    return found


def _search(queue: QueueState, place: int, end: int) -> int | None:
    """Return the number of the unit before *end* that points at *place*."""
    index = queue.first_at(place, end)
    unit = queue.unit(index) if index < end else None
    return index if unit is not None and unit[0] == place else None
