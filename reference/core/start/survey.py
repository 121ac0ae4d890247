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
from reference.core.store.recovery_units import Unit
from spec.integers import INT32_MAX, INT64_MAX
from spec.store.consume_queue import UNIT_SIZE

PROGRESS_EACH = 1 << 22
_ASTRAY_MAX = 100_000
"""More units out of order are not remembered."""


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
        self._garbage: list[tuple[int, int]] = []
        """From where to where the log has no record, although there are units."""
        self._lost = Ranges()
        self._invisible = Ranges()
        self._repeated = Ranges()
        self._astray: dict[tuple[str, int], dict[int, int]] = {}
        """By queue: the units out of order, by what they point at."""
        self._twice: set[int] = set()

    def run(self) -> None:
        """Look at all messages, and note in the outcome what is wrong with which."""
        for queue in self._queues:
            self._cut_units(queue)
            self._look_through(queue)
            if not self._log.bases:
                says = ("the commit log has no file", "REC-END-005")
                self._lost_between(queue, 0, INT64_MAX, says)
            for begin, end in self._log.holes():
                why = "its commit-log file is missing"
                end = min(end, self._end)
                self._lost_between(queue, begin, end, (why, "REC-BEGIN-006"))
        self._cut_records()
        if self._outcome.refusal is None:
            self._kept_records()
            for queue in self._queues:
                for begin, end in self._garbage:
                    why = "what lies in its place is no record"
                    self._lost_between(queue, begin, end, (why, "REC-START-007"))
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

    def _lost_between(
        self, queue: QueueState, begin: int, end: int, says: tuple[str, str]
    ) -> None:
        """Note messages as lost whose units point from *begin* to before *end*."""
        why, clause = says
        first, last = queue.first_at(begin), queue.first_at(end)
        for index in range(max(first, queue.min_offset), last):
            self._lost.add(
                (queue.topic, queue.queue_id),
                index,
                stored_at_ms=None,
                why=why,
                clause=clause,
            )

    def _cut_records(self) -> None:
        """Note records as lost that are cut off and had no unit yet."""
        for place, record in self._log.records(
            self._end, self._outcome.log.end_on_disk
        ):
            if record.physical_offset != place or not self._queues.has(record):
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
        """Note records as invisible that no unit points at, and where none is."""
        expected = waiting = 0
        for place, record in self._log.records(max(self._log.start, 0), self._end):
            if place != expected:
                self._note_gap(expected, place)
            expected = place + record.size
            waiting += record.size
            if waiting >= PROGRESS_EACH:
                self._view.looked_at(waiting)
                waiting = 0
            if self._queues.has(record):
                self._look_up(place, record)
        self._view.looked_at(waiting)

    def _note_gap(self, begin: int, end: int) -> None:
        """Note that there is no record in between; files that are missing aside."""
        size = self._log.file_size
        for first, last in (
            (begin, min(end, begin - begin % size + size)),
            (max(begin, end - end % size), end),
        ):
            if first < last and (first, last) not in self._garbage:
                self._garbage.append((first, last))

    def _look_up(self, place: int, record: Sighted) -> None:
        topic = str(record.topic, "utf-8", "replace")
        queue = self._queues.get(topic, record.queue_id)
        index = self._index_of(place, record, queue) if queue else None
        unit = queue.unit(index) if queue and index is not None else None
        if queue is None or index is None or unit is None:
            why, clause = "its queue has no unit", "REC-DISPATCH-002"
        elif index < queue.min_offset:
            why, clause = "its queue begins behind it", "REC-DISPATCH-005"
        elif unit[1] != record.size and place not in self._twice:
            why, clause = f"its unit has the size {unit[1]}", "REC-START-010"
        else:
            return
        self._invisible.add(
            (topic, record.queue_id),
            record.queue_offset,
            stored_at_ms=record.stored_at_ms,
            why=why,
            clause=clause,
        )

    def _look_through(self, queue: QueueState) -> None:
        """Note units that do not point further than the one before them.

        Two that point at the same record give it to readers twice; others are only
        out of order, and are looked up here instead of where they should be.
        """
        before: tuple[int, Unit] | None = None
        astray: dict[int, int] = {}
        for index, unit in queue.units():
            if unit[1] == INT32_MAX or unit[1] <= 0:
                continue
            if before is not None and unit[0] <= before[1][0]:
                if unit[0] == before[1][0] or astray.get(unit[0], index) != index:
                    self._note_repeated(queue, index, unit)
                if len(astray) < _ASTRAY_MAX:
                    astray[before[1][0]] = before[0]
                    astray.setdefault(unit[0], index)
            before = index, unit
        if astray:
            self._astray[queue.topic, queue.queue_id] = astray

    def _note_repeated(self, queue: QueueState, index: int, unit: Unit) -> None:
        record = self._log.record_at(unit[0])
        self._twice.add(unit[0])
        self._repeated.add(
            (queue.topic, queue.queue_id),
            record.queue_offset if record else index,
            stored_at_ms=record.stored_at_ms if record else None,
            why="two units point at it",
            clause="STORE-QUEUE-006",
        )

    def _index_of(self, place: int, record: Sighted, queue: QueueState) -> int | None:
        """Return the number of the unit that points at a record, None without one.

        Dispatch goes by what the record says of its place, which may be wrong.
        """
        unit = queue.unit(record.queue_offset)
        if unit is not None and unit[0] == place and unit[1] != INT32_MAX:
            return record.queue_offset
        astray = self._astray.get((queue.topic, queue.queue_id), {})
        for wanted in {place, record.physical_offset}:
            index = queue.first_at(wanted)
            unit = queue.unit(index)
            if unit is not None and unit[0] == wanted and unit[1] != INT32_MAX:
                return index
            if wanted in astray:
                return astray[wanted]
        return None
