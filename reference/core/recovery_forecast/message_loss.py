"""
Messages after a start: the records of the log compared with the units of the queues.

Each record is searched in its queue, and each truncated unit in the log. Only
ranges with differences are collected, so memory does not grow with the store.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from itertools import chain, pairwise

from reference.core.recovery_forecast.earlier_topics import EarlierTopics
from reference.core.recovery_forecast.log_state import SEVERAL
from reference.core.recovery_forecast.outcome import Cause, Outcome
from reference.core.recovery_forecast.queue_state import QueueState
from reference.core.recovery_forecast.queues_state import QueuesState
from reference.core.recovery_forecast.repeated_units import RepeatedUnits
from reference.core.recovery_forecast.skipped_units import SkippedUnits
from reference.core.recovery_forecast.store_view import StoreView
from reference.core.store.commitlog.record_reader import ScannedRecord
from reference.core.store.recovery.queue_end import Unit
from reference.core.store.types import Queue
from spec.integers import INT32_MAX, INT64_MAX
from spec.store.consume_queue import UNIT_SIZE

_ASTRAY_MAX = 100_000
"""Limit of units out of order that are collected per queue."""
MISSING_FILES_MAX = 4096
"""Missing files behind the end of the log, at most: units behind them are garbage."""
_NO_UNIT = 0, (INT64_MAX, 0, 0)
"""Successor of the last unit."""
_NO_LOG = Cause("the commit log has no file", "REC-TRUNCATE-005", is_unreadable=True)
_NO_FILE = Cause("its commit-log file is missing", "REC-LOAD-003", is_unreadable=True)
_GARBAGE = Cause(
    "what lies in its place is no record", "REC-QUEUE-010", is_unreadable=True
)
_CUT_GARBAGE = Cause(
    "no record lies in its place, and the commit log is cut before it",
    "REC-TRUNCATE-001",
    is_unreadable=True,
)
_CUT = Cause("the commit log is cut before it", "REC-TRUNCATE-001")
_CUT_UNIT = Cause("its LMQ ends before it", "REC-QUEUE-001")
_CUT_EARLY = Cause(
    "the commit log is cut before it, and no queue had it yet", "REC-TRUNCATE-001"
)
_SKIPPED = Cause(
    "a pull skips it after a unit that points outside of the log", "REC-QUEUE-013"
)
_TWICE = Cause("two units point at it", "STORE-QUEUE-006")


class MessageLossSurvey:
    """Finds messages that are lost, invisible to consumers, or delivered twice."""

    def __init__(
        self,
        outcome: Outcome,
        queues: QueuesState,
        view: StoreView,
        topics: Collection[str] | None,
    ) -> None:
        self._outcome = outcome
        self._log = outcome.log
        self._queues = queues
        self._view = view
        self._end = outcome.log.end
        self._garbage: list[tuple[int, int]] = []
        """Offset ranges of the log without a record, although units point there."""
        self._astray: dict[tuple[str, int], dict[int, int]] = {}
        """By queue: the units out of order, by what they point at."""
        self._inside: dict[tuple[str, int], list[tuple[int, int]]] = {}
        """By queue: units at which no record begins, and what they point at."""
        self._right: Counter[int] = Counter()
        """Units at which a record begins, by the start offset of the file."""
        self._twice: set[int] = set()
        self._earlier_topics = EarlierTopics(outcome, queues, topics)

    def run(self) -> None:
        """Compare all messages, and add the findings to the outcome."""
        is_cut = self._log.is_cut_by_failover
        for queue in self._queues:
            if not is_cut:
                self._cut_units(queue)
            self._look_through(queue)
            if not self._log.start_offsets:
                self._lost_between(queue, 0, INT64_MAX, _NO_LOG)
            for begin, end in self._log.holes():
                self._lost_between(queue, begin, min(end, self._end), _NO_FILE)
        if not is_cut:
            self._cut_records()
        if self._outcome.refusal is None:
            self._kept_records()
            self._log.foreign_files = self._foreign_files()
            for queue in self._queues:
                for begin, end in self._garbage:
                    self._lost_between(queue, begin, end, _GARBAGE)
                self._lost_inside(queue)
        found = self._outcome
        for ranges in (found.lost, found.invisible, found.repeated):
            ranges.sort(key=lambda one: (one.topic, one.queue_id, one.begin))

    def _cut_units(self, queue: QueueState) -> None:
        """Report messages as lost if their units pointed behind the end of the log.

        A unit that points behind its successor is garbage, and no message is lost.
        Only after a crash, an LMQ gets the units again that its own end cut.
        """
        log = self._outcome.log
        before = log.units_behind_end
        units = self._cut_units_in_reach(queue)
        stays_cut = queue.is_lmq and not self._outcome.after_crash
        for (index, unit), (_, after) in pairwise(chain(units, (_NO_UNIT,))):
            if stays_cut and unit[0] < self._end and self._log.record_at(unit[0]):
                self._outcome.invisible.add(queue.name, index, _CUT_UNIT)
            if not self._end <= unit[0] < after[0]:
                continue
            if unit[0] >= log.end_on_disk:
                log.units_behind_end += 1
                first = log.first_behind_end
                log.first_behind_end = min(first or unit[0], unit[0])
            record = self._log.record_at(unit[0])
            cause = _CUT if record else _CUT_GARBAGE
            stored_at_ms = record.stored_at_ms if record else None
            self._outcome.lost.add(queue.name, index, cause, stored_at_ms)
        log.queues_behind_end += log.units_behind_end > before

    def _cut_units_in_reach(self, queue: QueueState) -> Iterator[tuple[int, Unit]]:
        """Yield the truncated units whose message the log can have had."""
        reach = self._log.end_on_disk + MISSING_FILES_MAX * self._log.file_size
        first = queue.lowest_end // UNIT_SIZE
        for index in range(first, queue.max_before):
            unit = queue.unit_before(index)
            if unit and 0 <= unit[0] < reach and 0 < unit[1] < INT32_MAX:
                yield index, unit

    def _lost_between(
        self, queue: QueueState, begin: int, end: int, cause: Cause
    ) -> None:
        """Report messages as lost if their units point into [*begin*, *end*)."""
        first, last = queue.first_at(begin), queue.first_at(end)
        for index in range(max(first, queue.min_offset), last):
            self._outcome.lost.add(queue.name, index, cause)

    def _lost_inside(self, queue: QueueState) -> None:
        """Report messages as lost if their units point into another record.

        The record of another file, or of another store, lies in their place.
        """
        name, inside = queue.name, self._inside.get(queue.name)
        if inside is None:
            return
        foreign = self._log.foreign_files
        hidden = [
            one for one in self._outcome.invisible if (one.topic, one.queue_id) == name
        ]
        for index, place in inside:
            is_hidden = self._log.base_of(place) not in foreign and any(
                one.begin <= index < one.end for one in hidden
            )
            is_found = is_hidden or self._is_in_gap(place)
            if index >= queue.min_offset and not is_found:
                self._outcome.lost.add(name, index, _GARBAGE)

    def _is_in_gap(self, place: int) -> bool:
        """Return whether *place* of the log lies in a collected gap."""
        after = bisect_right(self._garbage, (place, INT64_MAX))
        return after > 0 and place < self._garbage[after - 1][1]

    def _foreign_files(self) -> list[int]:
        """Return the start offsets of files that hold another store's records.

        No record begins where most units of several queues point. In another file of
        the log they do. Otherwise the queues may be those of another store.
        """
        queues: dict[int, set[Queue]] = defaultdict(set)
        wrong: Counter[int] = Counter()
        for queue, inside in self._inside.items():
            for _, place in inside:
                if not self._is_in_gap(place):
                    base = self._log.base_of(place)
                    wrong[base] += 1
                    queues[base].add(queue)
        foreign = [
            base
            for base, count in sorted(wrong.items())
            if count > self._right[base] and len(queues[base]) >= SEVERAL
        ]
        return foreign if set(self._right) - set(foreign) else []

    def _cut_records(self) -> None:
        """Report truncated records without a unit as lost."""
        for place, record in self._log.records(self._end, self._log.end_on_disk):
            if record.physical_offset != place or not self._queues.has(record):
                continue
            queue, index = self._queues.get(*record.queue), record.queue_offset
            unit = queue.unit_before(index) if queue else None
            if unit is None or not unit[1]:
                self._outcome.lost.add(
                    record.queue, index, _CUT_EARLY, record.stored_at_ms
                )

    def _kept_records(self) -> None:
        """Report records without a unit as invisible; collect gaps without a record."""
        expected = begin = self._log.start  # earlier files have expired
        for place, record in self._log.records(begin, self._end):
            if place != expected:
                self._note_gap(expected, place)
            expected = place + record.size
            self._view.count_read(record.size)
            if self._queues.has(record):
                self._look_up(place, record)
        self._earlier_topics.move()

    def _note_gap(self, begin: int, end: int) -> None:
        """Collect a gap without a record, except whole files within it."""
        size = self._log.file_size
        for first, last in (
            (begin, min(end, begin - begin % size + size)),
            (max(begin, end - end % size), end),
        ):
            if first < last and (first, last) not in self._garbage:
                self._garbage.append((first, last))

    def _look_up(self, place: int, record: ScannedRecord) -> None:
        queue = self._queues.get(*record.queue)
        index = self._index_of(place, record, queue) if queue else None
        unit = queue.unit(index) if queue and index is not None else None
        if queue is None or index is None or unit is None:
            cause = Cause("its queue has no unit", "REC-DISPATCH-002")
        elif index < queue.min_offset:
            cause = Cause("its queue begins behind it", "REC-DISPATCH-005")
        elif unit[1] != record.size and place not in self._twice:
            cause = Cause(f"its unit has the size {unit[1]}", "REC-QUEUE-011")
        else:
            return
        earlier = self._earlier_topics.cause(place, record, queue)
        found = self._outcome
        ranges = found.of_deleted_topics if earlier else found.invisible
        cause = earlier or cause
        ranges.add(record.queue, record.queue_offset, cause, record.stored_at_ms)

    def _look_through(self, queue: QueueState) -> None:
        """Collect units at which no record begins, and those not above the previous.

        Two units with the same offset deliver a record twice. Other units are only
        out of order, and `_index_of` finds them by the collected positions.
        """
        before: tuple[int, Unit] | None = None
        astray: dict[int, int] = {}
        skipped = SkippedUnits(self._log, queue.file_size)
        repeated = RepeatedUnits(queue)
        for index, unit in queue.units():
            is_skipped = skipped.skips(index, unit)
            if unit[1] == INT32_MAX or unit[1] <= 0:
                continue
            has_earlier = repeated.has_earlier(index, unit[0])
            if has_earlier or astray.get(unit[0], index) != index:
                self._note_repeated(queue, index, unit)
            is_full = len(astray) >= _ASTRAY_MAX
            if before is not None and unit[0] <= before[1][0] and not is_full:
                astray[before[1][0]] = before[0]
                astray.setdefault(unit[0], index)
            before = index, unit
            if not self._log.start <= unit[0] < self._end:
                continue
            if not self._is_own(queue, index, unit[0]):
                self._inside.setdefault(queue.name, []).append((index, unit[0]))
                continue
            self._right[self._log.base_of(unit[0])] += 1
            if is_skipped and index >= queue.min_offset:
                self._outcome.invisible.add(queue.name, index, _SKIPPED)
        if astray:
            self._astray[queue.name] = astray

    def _is_own(self, queue: QueueState, index: int, place: int) -> bool:
        """Return whether the record of unit *index* of *queue* may begin at *place*.

        The file of another place may have another record there.
        """
        if self._log.has_own_record(place):
            return True
        if not self._log.has_magic(place):
            return False
        record = self._log.record_at(place)
        expected = queue.name, index
        return record is None or (record.queue, record.queue_offset) == expected

    def _note_repeated(self, queue: QueueState, index: int, unit: Unit) -> None:
        record = self._log.record_at(unit[0])
        self._twice.add(unit[0])
        if record is None:
            self._outcome.repeated.add(queue.name, index, _TWICE)
        else:
            offset, stored_at_ms = record.queue_offset, record.stored_at_ms
            self._outcome.repeated.add(queue.name, offset, _TWICE, stored_at_ms)

    def _index_of(
        self, place: int, record: ScannedRecord, queue: QueueState
    ) -> int | None:
        """Return the queue offset of the unit that points at a record, or None.

        Dispatch uses the record's own physical offset, which may be wrong, or that of
        the record of which this is a copy.
        """
        places = place, record.physical_offset
        unit = queue.unit(record.queue_offset)
        if unit is not None and unit[0] in places and unit[1] != INT32_MAX:
            return record.queue_offset
        astray = self._astray.get(queue.name, {})
        for wanted in places:
            index = queue.first_at(wanted)
            unit = queue.unit(index)
            if unit is not None and unit[0] == wanted and unit[1] != INT32_MAX:
                return index
            if wanted in astray:
                return astray[wanted]
        return None
