"""
One consume queue during a start: its files on disk, and the units that dispatch adds.

It writes no file. Units from dispatch are consecutive. They stay in one buffer beside
the files, and reads overlay it on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from reference.core.store.commitlog.record_reader import ScannedRecord
from reference.core.store.consumequeue.consume_queue import FILLER
from reference.core.store.layouts import unit_codec
from reference.core.store.recovery.queue_end import (
    FILES_TO_RECOVER,
    QueueEnd,
    TruncatedQueue,
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

_NEVER_WRITTEN: Unit = (0, 0, 0)


class QueueState:
    """A queue: its files on disk, and its units after the start."""

    def __init__(
        self,
        name: tuple[str, int],
        bases: list[int],
        file_size: int,
        open_file: Callable[[int], memoryview],
        rules: RecoveryRules,
    ) -> None:
        self.name = name
        """Topic and queue id."""
        self.file_size = file_size
        self.start_offsets = list(bases)
        self.begin = 0
        """The byte of the first unit whose message still exists."""
        self.end = QueueEnd(bases[-1] + file_size if bases else 0, -1)
        self.added = 0
        """Units that dispatch added."""
        self.ends_with_unwritten_unit = False
        self._on_disk = frozenset(bases)
        self._kept = set(bases)
        """Unchanged files. A file created again may have an old name."""
        self._zeros_from = self.end.position
        """Position from which the units were cleared."""
        self._open = open_file
        self._rules = rules
        self._added_at = self.end.position
        self._added = bytearray()
        self._repaired: dict[int, Unit] = {}
        self.end_before = self._written_end()
        """Position after the last written unit, valid or not."""
        self.lowest_end = self.end_before
        """Lowest position of truncation, before dispatch appended again."""

    @property
    def min_offset(self) -> int:
        """The queue offset that readers begin at."""
        return self.begin // UNIT_SIZE

    @property
    def max_offset(self) -> int:
        """The queue offset that the next message gets."""
        return self.end.position // UNIT_SIZE

    def recover(self) -> None:
        """Find the end of the queue by itself, without the log."""
        if self.start_offsets:
            looked_at = self.start_offsets[-FILES_TO_RECOVER:]
            files = [(base, self._units(base)) for base in looked_at]
            self._end_at(find_queue_end(files, self.file_size, self._rules))

    def cut(self, log_end: int) -> None:
        """Forget the messages at or behind the log's end."""
        newest_first = (
            (base, self._units(base)) for base in reversed(self.start_offsets)
        )
        cut: TruncatedQueue = truncate_queue(newest_first, log_end, self._rules)
        self.start_offsets = self.start_offsets[: len(self.start_offsets) - cut.deleted]
        self.ends_with_unwritten_unit = cut.ends_with_unwritten_unit
        self._end_at(cut.end)

    def destroy(self) -> None:
        """Forget all of it."""
        self.start_offsets = []
        self.begin = 0
        self._end_at(QueueEnd(0, -1))

    def put(self, record: ScannedRecord) -> None:
        """Add the unit of *record* unless the queue has it already.

        4.6.0 org.apache.rocketmq.store.ConsumeQueue#putMessagePositionInfo.
        """
        if not lacks_unit(record.physical_offset, record.size, self.end, self._rules):
            if self._rules.repairs_units:
                self._repair(record)
            return
        index, expected = record.queue_offset, record.queue_offset * UNIT_SIZE
        if not self.start_offsets:
            self._begin_at(expected, index)
        elif self.end.position == self.start_offsets[-1] + self.file_size:
            self.start_offsets.append(self.end.position)
        if index and expected < self.end.position:
            return
        unit = (record.physical_offset, record.size, 0)
        self._append(unit_codec.pack(*unit), physical_end_of(unit, self._rules))
        self.added += 1

    def correct_begin(self, log_start: int) -> None:
        """Let the queue begin with the first message that the log still has."""
        if not self._rules.fails_on_empty_last_file:
            if self.start_offsets:
                first = (self.start_offsets[0], self._units(self.start_offsets[0]))
                self.begin = correct_min_offset(first, self.end, self.begin, log_start)
            return
        if not self.start_offsets:
            return
        last, first_base = self.start_offsets[-1], self.start_offsets[0]
        unit = None
        if self.end.position > last:
            unit = self.unit(self.end.position // UNIT_SIZE - 1)
        self.begin = correct_min_offset_since_5(
            (first_base, self._units(first_base)),
            (last, unit),
            self.end,
            self.begin,
            log_start,
        )

    def unit(self, index: int) -> Unit | None:
        """Return unit number *index* as it is after the start, None without it."""
        position = index * UNIT_SIZE
        if not 0 <= position < self.end.position:
            return None
        if index in self._repaired:
            return self._repaired[index]
        added = position - self._added_at
        if 0 <= added < len(self._added):
            return unit_codec.unpack_from(self._added, added)
        return self.unit_before(index)

    def units(self) -> Iterator[tuple[int, Unit]]:
        """Return all units as they are after the start, with their numbers."""
        for base in self.start_offsets:
            first, end = base // UNIT_SIZE, self.max_offset
            for number, unit in enumerate(self._units(base), first):
                if number >= end:
                    return
                yield number, unit

    def first_at(self, place: int) -> int:
        """Return the number of the first unit that points at *place* or behind it."""
        low, high = self.first_index, self.max_offset
        while low < high:
            middle = (low + high) // 2
            unit = self.unit(middle)
            if unit is None or unit[0] < place or unit[1] == INT32_MAX:
                low = middle + 1
            else:
                high = middle
        return low

    def unit_before(self, index: int) -> Unit | None:
        """Return unit number *index* as it lies on disk, None without a file."""
        position = index * UNIT_SIZE
        start = self._first_on_disk
        base = position - (position - start) % self.file_size
        if base not in self._on_disk:
            return None
        return unit_codec.unpack_from(self._open(base), position - base)

    @property
    def first_index(self) -> int:
        """The index of the first unit that has a place in a file."""
        return self.start_offsets[0] // UNIT_SIZE if self.start_offsets else 0

    @property
    def _first_on_disk(self) -> int:
        return min(self._on_disk, default=0)

    def _begin_at(self, expected: int, index: int) -> None:
        """Make the first file, and fill it up to the first unit."""
        base = expected - expected % self.file_size
        self.start_offsets = [base]
        self.end = QueueEnd(base, self.end.max_physical_offset)
        self._added_at, self._added = base, bytearray()
        if index:
            self.begin = expected
            for _ in range((expected - base) // UNIT_SIZE):
                self._append(FILLER, self.end.max_physical_offset)

    def _repair(self, record: ScannedRecord) -> None:
        """Note that the unit of *record*, which is there, is written again."""
        unit = self.unit(record.queue_offset)
        if unit is not None and unit[:2] == (record.physical_offset, record.size):
            return
        if unit is not None and unit[0] == record.physical_offset:
            self._repaired[record.queue_offset] = (unit[0], record.size, 0)

    def _append(self, unit: bytes, physical: int) -> None:
        if not self._added:
            self._added_at = self.end.position
        self._added += unit
        self.end = QueueEnd(self.end.position + UNIT_SIZE, physical)

    def _end_at(self, end: QueueEnd) -> None:
        self.end = end
        self.start_offsets = [
            base for base in self.start_offsets if base <= end.position
        ]
        self._kept.intersection_update(self.start_offsets)
        if self._rules.clears_tail:
            self._zeros_from = min(self._zeros_from, end.position)
        self.lowest_end = min(self.lowest_end, end.position)
        kept = max(end.position - self._added_at, 0)
        self.added -= max(len(self._added) - kept, 0) // UNIT_SIZE
        del self._added[kept:]

    def _units(self, base: int) -> Iterator[Unit]:
        """Return all units that have a place in the file at *base*."""
        units = self._laid_over(base)
        if not self._repaired:
            return units
        first = base // UNIT_SIZE
        return (self._repaired.get(n, unit) for n, unit in enumerate(units, first))

    def _laid_over(self, base: int) -> Iterator[Unit]:
        """Return the units on disk, and over them those that dispatch added."""
        begin = min(max(self._added_at - base, 0), self.file_size)
        end = min(max(begin, self._added_at + len(self._added) - base), self.file_size)
        added = base + begin - self._added_at
        data = memoryview(b"")
        if base in self._kept:
            whole = min(self._whole, max(self._zeros_from - base, 0))
            data = self._open(base)[:whole]
        if begin == end:
            yield from unit_codec.iter_unpack(data)
        else:
            yield from unit_codec.iter_unpack(data[:begin])
            pieces = memoryview(self._added)[added : added + end - begin]
            yield from unit_codec.iter_unpack(pieces)
            yield from unit_codec.iter_unpack(data[end:])
        yield _NEVER_WRITTEN

    @property
    def _whole(self) -> int:
        return self.file_size - self.file_size % UNIT_SIZE

    def _written_end(self) -> int:
        """Return the position after the last unit that is not zero."""
        for base in reversed(self.start_offsets):
            written = len(bytes(self._open(base)).rstrip(b"\0"))
            if written:
                return base + -(-written // UNIT_SIZE) * UNIT_SIZE
        return 0
