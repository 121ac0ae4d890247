"""
One consume queue during a start: its files on disk, and the units that dispatch adds.

It writes no file. The first change of a file copies the units in it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice

from reference.core.recovery_forecast.store_view import StoreView
from reference.core.store.commitlog.record_reader import ScannedRecord
from reference.core.store.consumequeue.consume_queue import FILLER
from reference.core.store.layouts import unit_codec
from reference.core.store.recovery.queue_end import (
    FILES_TO_RECOVER,
    QueueEnd,
    Unit,
    correct_min_offset,
    correct_min_offset_since_5,
    find_queue_end,
    lacks_unit,
    physical_end_of,
    truncate_queue,
)
from reference.core.store.recovery.rules import RecoveryRules
from spec.integers import INT32_MAX
from spec.store.consume_queue import UNIT_SIZE
from spec.wire.message.topic_names import LMQ_PREFIX

_NEVER_WRITTEN: Unit = (0, 0, 0)
OpenFile = Callable[[int], memoryview]


class QueueState:
    """A queue: its files on disk, and its units after the start."""

    def __init__(
        self,
        name: tuple[str, int],
        paths: Mapping[int, str],
        file_size: int,
        view: StoreView,
        rules: RecoveryRules,
    ) -> None:
        """Open the files at *paths*, by start offset, of the queue *name*."""
        self.name = name
        """Topic and queue id."""
        self.start_offsets = sorted(paths)
        self.begin = 0
        """The byte of the first unit whose message still exists."""
        end = self.start_offsets[-1] + file_size if paths else 0
        self.end = QueueEnd(end, -1)
        self.redispatched = 0
        """Units that dispatch added."""
        self.ends_with_unwritten_unit = False
        self.file_size = file_size
        self._on_disk = tuple(self.start_offsets)
        self._paths = paths
        self._view = view
        self._rules = rules
        self._copies: dict[int, bytearray] = {}
        """Units of the changed files, by start offset; the rest of a file is zero."""
        self.end_before = self._written_end()
        """Position after the last written unit, valid or not."""
        self.lowest_end = self.end_before
        """Lowest position of truncation, before dispatch appended again."""

    @property
    def is_lmq(self) -> bool:
        """Whether its records are those of other queues."""
        return self.name[0].startswith(LMQ_PREFIX)

    @property
    def min_offset(self) -> int:
        """The queue offset that readers begin at."""
        return self.begin // UNIT_SIZE

    @property
    def max_offset(self) -> int:
        """The queue offset that the next message gets."""
        return self.end.position // UNIT_SIZE

    @property
    def had_files(self) -> bool:
        """Whether it had a file before the start, even one without a unit."""
        return bool(self._on_disk)

    @property
    def max_before(self) -> int:
        """The queue offset behind the last unit written before the start."""
        return self.end_before // UNIT_SIZE

    @property
    def cut(self) -> int:
        """Truncated units, including those that dispatch appended again."""
        return (self.end_before - self.lowest_end) // UNIT_SIZE

    def recover(self) -> None:
        """Find the end of the queue by itself, without the log."""
        if self.start_offsets:
            last = self.start_offsets[-FILES_TO_RECOVER:]
            files = [(start, self._units(start)) for start in last]
            self._end_at(find_queue_end(files, self.file_size, self._rules))

    def truncate(self, log_end: int) -> None:
        """Remove the messages at or behind the log's end."""
        newest_first = ((n, self._units(n)) for n in reversed(self.start_offsets))
        found = truncate_queue(newest_first, log_end, self._rules)
        del self.start_offsets[len(self.start_offsets) - found.deleted :]
        self.ends_with_unwritten_unit = found.ends_with_unwritten_unit
        self._end_at(found.end)

    def destroy(self) -> None:
        """Remove all messages and files."""
        self.start_offsets.clear()
        self.begin = 0
        self._end_at(QueueEnd(0, -1))

    def put(self, record: ScannedRecord) -> None:
        """Add the unit of *record* unless the queue has it already.

        4.6.0 org.apache.rocketmq.store.ConsumeQueue#putMessagePositionInfo.
        """
        index, expected = record.queue_offset, record.queue_offset * UNIT_SIZE
        unit = record.physical_offset, record.size, 0
        if not lacks_unit(record.physical_offset, record.size, self.end, self._rules):
            existing = self.unit(index) if self._rules.repairs_units else None
            if existing is not None and existing[0] == unit[0]:
                self._write(expected, unit_codec.pack(*unit))
            return
        if not self.start_offsets:
            self._begin_at(expected)
        elif self.end.position == self.start_offsets[-1] + self.file_size:
            self._add_file(self.end.position)
        if not index or expected >= self.end.position:
            self._append(unit_codec.pack(*unit), physical_end_of(unit, self._rules))
            self.redispatched += 1

    def correct_begin(self, log_start: int) -> None:
        """Let the queue begin with the first message that the log still has."""
        if not self.start_offsets:
            return
        last = self.start_offsets[-1]
        first = self.start_offsets[0], self._units(self.start_offsets[0])
        unit = self.unit(self.max_offset - 1) if self.end.position > last else None
        has_last = unit is not None or self._rules.fails_on_empty_last_file
        if not self._rules.has_timer or not has_last:
            self.begin = correct_min_offset(
                first, self.end, before=self.begin, log_start=log_start
            )
            return
        self.begin = correct_min_offset_since_5(
            first, (last, unit), self.end, before=self.begin, log_start=log_start
        )

    def unit(self, index: int) -> Unit | None:
        """Return unit number *index* as it is after the start, None without it."""
        if index >= self.max_offset:
            return None
        return self._unit_in(self.start_offsets, self._data, index)

    def unit_before(self, index: int) -> Unit | None:
        """Return unit number *index* as it lies on disk, None without a file."""
        return self._unit_in(self._on_disk, self._open, index)

    def units(self) -> Iterator[tuple[int, Unit]]:
        """Yield all units as they are after the start, with their numbers."""
        for start in self.start_offsets:
            first = start // UNIT_SIZE
            units = islice(self._units(start), max(self.max_offset - first, 0))
            yield from enumerate(units, first)

    def first_at(self, place: int) -> int:
        """Return the number of the first unit that points at *place* or behind it."""

        def is_behind(index: int) -> bool:
            unit = self.unit(index)
            return unit is not None and unit[0] >= place and unit[1] != INT32_MAX

        first = self.start_offsets[0] // UNIT_SIZE if self.start_offsets else 0
        return first + bisect_left(range(first, self.max_offset), True, key=is_behind)

    def _begin_at(self, position: int) -> None:
        """Create the first file, and fill it up to the first unit at *position*."""
        self._add_file(position - position % self.file_size)
        self.end = self.end._replace(position=self.start_offsets[0])
        if position:
            self.begin = position
        while self.end.position < position:
            self._append(FILLER, self.end.max_physical_offset)

    def _add_file(self, start: int) -> None:
        self.start_offsets.append(start)
        self._copies[start] = bytearray()

    def _append(self, unit: bytes, max_physical_offset: int) -> None:
        self._write(self.end.position, unit)
        self.end = QueueEnd(self.end.position + UNIT_SIZE, max_physical_offset)

    def _write(self, position: int, unit: bytes) -> None:
        start = self.start_offsets[bisect_right(self.start_offsets, position) - 1]
        data, at = self._copy(start), position - start
        data.extend(bytes(max(at - len(data), 0)))
        data[at : at + UNIT_SIZE] = unit

    def _end_at(self, end: QueueEnd) -> None:
        removed = (self.end.position - end.position) // UNIT_SIZE
        self.redispatched = max(self.redispatched - max(removed, 0), 0)
        self.end = end
        self.start_offsets = [n for n in self.start_offsets if n <= end.position]
        if self._rules.clears_tail and self.start_offsets:
            last = self.start_offsets[-1]
            del self._copy(last)[end.position - last :]
        self.lowest_end = min(self.lowest_end, end.position)

    def _units(self, start: int) -> Iterator[Unit]:
        """Yield the units in the file at *start*, and one that was never written."""
        return chain(unit_codec.iter_unpack(self._data(start)), (_NEVER_WRITTEN,))

    def _unit_in(
        self, start_offsets: Sequence[int], open_file: OpenFile, index: int
    ) -> Unit | None:
        """Return unit number *index* in the files at *start_offsets*, or None."""
        number = bisect_right(start_offsets, index * UNIT_SIZE) - 1
        at = index * UNIT_SIZE - start_offsets[number] if number >= 0 else -1
        if not 0 <= at < self.file_size:
            return None
        data = open_file(start_offsets[number])[at : at + UNIT_SIZE]
        return unit_codec.unpack(data) if data else _NEVER_WRITTEN

    def _open(self, start: int) -> memoryview:
        """Return the file at *start* as it lies on disk."""
        return self._view.data(self._paths[start])

    def _data(self, start: int) -> memoryview:
        """Return the file at *start* after its changes, without zeros at its end."""
        copy = self._copies.get(start)
        return self._open(start) if copy is None else memoryview(copy)

    def _copy(self, start: int) -> bytearray:
        """Return the units in the file at *start*, which may be changed."""
        if start not in self._copies:
            self._copies[start] = bytearray(self._open(start)[: self._written(start)])
        return self._copies[start]

    def _written_end(self) -> int:
        """Return the position after the last unit that is not zero."""
        for start in reversed(self.start_offsets):
            if written := self._written(start):
                return start + written
        return 0

    def _written(self, start: int) -> int:
        """Return the size of the units up to the last that is not zero."""
        size = self._view.written_size(self._paths[start])
        return -(-size // UNIT_SIZE) * UNIT_SIZE
