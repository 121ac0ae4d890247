"""
A consume queue: where the messages of one queue are in the commit log.

Unit n is message n: an offset and a size in the log, and a hash of its tags. The
queue holds nothing that the log does not, so recovery may cut it back and have
dispatch fill it again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import starmap

from reference.core.store.file_queue import FileQueue
from reference.core.store.files import Files, FilesError
from reference.core.store.layouts import unit_codec
from reference.core.store.queue_extension import QueueExtension, is_address
from reference.core.store.records import Found
from reference.core.store.recovery_rules import REFERENCE
from reference.core.store.recovery_units import (
    FILES_LOOKED_AT,
    Cut,
    QueueEnd,
    UnitFile,
    corrected_begin,
    cut_end,
    found_end,
)
from spec.integers import INT64_MAX
from spec.store.consume_queue import UNIT_SIZE
from spec.store.file_names import CONSUME_QUEUE

FEW, MANY = 1024, 16_384
"""Files with many units are looked at all at once, for starts on large stores."""
Unit = tuple[int, int, int]
"""Where a record is in the log, how long it is, and its tags code."""
FILLER_SIZE = 2**31 - 1
FILLER = unit_codec.pack(0, FILLER_SIZE, 0)
"""Stands for the messages before the first, in a queue that does not begin at 0."""


class ConsumeQueue:
    """The units of one queue."""

    def __init__(
        self,
        files: Files,
        topic: str,
        queue_id: int,
        file_size: int,
        *,
        extension: QueueExtension | None = None,
    ) -> None:
        self.topic = topic
        self.queue_id = queue_id
        directory = f"{CONSUME_QUEUE}/{topic}/{queue_id}"  # [STORE-NAME-003]
        self.queue = FileQueue(files, directory, file_size)
        self.extension = extension
        """Where the tags codes really are; None without (enableConsumeQueueExt)."""
        self.max_physical_offset = -1
        """Where the last message's record ends in the log; -1 without messages."""
        self.min_position = 0
        """The byte at which the first unit begins whose message still exists."""

    @property
    def min_offset(self) -> int:
        """Index of the first message that still exists."""
        return self.min_position // UNIT_SIZE

    @property
    def max_offset(self) -> int:
        """Index that the next message will have."""
        return self.queue.end // UNIT_SIZE

    def load(self) -> None:
        """Map the files that are there."""
        self.queue.load()
        if self.extension is not None:
            self.extension.queue.load()

    @property
    def file_queues(self) -> tuple[FileQueue, ...]:
        """All that is to be flushed and closed."""
        both = (self.queue, self.extension.queue) if self.extension else (self.queue,)
        return both

    def put(self, physical_offset: int, size: int, tags_code: int, index: int) -> bool:
        """Add the unit of message number *index* unless it is there already.

        4.6.0 ConsumeQueue#putMessagePositionInfo, which leaves a unit that is there
        as it is, also one of which a power cut left a part. Raises FilesError for the
        first of a queue that no file can begin with.
        """
        expected, queue = index * UNIT_SIZE, self.queue
        if physical_offset + size <= self.max_physical_offset:
            # [STORE-QUEUE-006]
            self._repair(expected, unit_codec.pack(physical_offset, size, tags_code))
            return False
        if queue.space() == 0:
            is_first = len(queue) == 0
            if is_first and not 0 <= expected <= INT64_MAX - 2 * queue.file_size:
                # 4.6.0 makes a file of which the name is no offset.
                raise FilesError(
                    f"{queue.directory} has no place for message {index}, which the"
                    f" record at {physical_offset} of the log says it is"
                )
            queue.add_file(expected)
            if is_first and index:
                self._fill_before(expected)
        if index and expected < queue.end:
            return False
        # [STORE-QUEUE-001] [STORE-QUEUE-002]
        queue.append(unit_codec.pack(physical_offset, size, tags_code))
        self.max_physical_offset = physical_offset + size
        return True

    def put_row(self, row: bytes, index: int) -> None:
        """Add the units in *row* as `put` adds each, that of message *index* first.

        They point at records that follow one another in the log.
        """
        known = bisect_right(
            range(len(row) // UNIT_SIZE),
            self.max_physical_offset,
            key=lambda number: _reach(row, number),
        )
        # [STORE-QUEUE-006]
        there = self.queue.view(index * UNIT_SIZE, known * UNIT_SIZE)
        is_there = there is not None and there.tobytes() == row[: known * UNIT_SIZE]
        at = known * UNIT_SIZE if is_there else 0
        while at < len(row):
            position = (index * UNIT_SIZE) + at
            size = min(len(row) - at, self.queue.space())
            if at < known * UNIT_SIZE or size == 0 or position != self.queue.end:
                size = UNIT_SIZE
                offset, length, code = unit_codec.unpack_from(row, at)
                self.put(offset, length, code, position // UNIT_SIZE)
            else:
                self.queue.append(row[at : at + size])
                last = (at + size) // UNIT_SIZE - 1
                self.max_physical_offset = _reach(row, last)
            at += size

    def goes_on_with(self, found: Found) -> bool:
        """Return whether the unit of *found* is the next, and nothing but a unit."""
        return (
            self.extension is None
            and found.queue_offset * UNIT_SIZE == self.queue.end
            and found.physical_offset >= self.max_physical_offset
        )

    def reserve(self, count: int) -> bool:
        """Return whether *count* units fit into the last file, and have their space.

        Raises FilesError where the disk has none.
        """
        is_room = count * UNIT_SIZE <= self.queue.space()
        if is_room:
            self.queue.reserve(count * UNIT_SIZE)
        return is_room

    def put_all(self, units: Sequence[Unit]) -> None:
        """Add what is next, as `put` does one by one; there is room for it."""
        self.queue.append(b"".join(starmap(unit_codec.pack, units)))
        physical_offset, size, _ = units[-1]
        self.max_physical_offset = physical_offset + size

    def units_from(self, index: int) -> memoryview | None:
        """Return the units from number *index* to the end of its file."""
        if index * UNIT_SIZE < self.min_position:
            return None
        return self.queue.view_from(index * UNIT_SIZE)

    def unit(self, index: int) -> tuple[int, int, int] | None:
        """Return unit number *index*: log offset, size, tags code; None without it."""
        units = self.units_from(index)
        return None if units is None else unit_codec.unpack_from(units)

    def tags_code(self, code: int) -> int | None:
        """Return the tags code of a unit that has *code*, which may be an address.

        None where nothing is at the address: it may be any.
        """
        if self.extension is None or not is_address(code):
            return code
        found = self.extension.get(code)
        return None if found is None else int(found.tags_code)

    def next_file(self, index: int) -> int:
        """Return the index of the first unit in the file behind that of *index*."""
        per_file = self.queue.file_size // UNIT_SIZE
        return index + per_file - index % per_file

    def recover(self) -> None:
        """Find the end in the last three files: the first unit that is none."""
        bases = self.queue.bases[-FILES_LOOKED_AT:]
        if bases:
            self._end_at(self._found_end(bases))
        if bases and self.extension is not None:
            self.extension.recover(self._last_address(bases))

    def truncate(self, physical_end: int) -> None:
        """Forget the messages that lie at or behind *physical_end* in the log.

        The extension keeps what it has of them. [STORE-EXTENSION-011]
        """
        cut = self._cut_end(physical_end)
        for _ in range(cut.deleted):
            self.queue.delete_last()
        self._end_at(cut.end)

    def correct_min(self, log_start: int) -> None:
        """Let the queue begin with the first message at or behind *log_start*.

        Where there is none, it begins where it did.
        """
        if len(self.queue):
            first = self._units(self.queue.start)
            end = QueueEnd(self.queue.end, self.max_physical_offset)
            before = self.min_position
            self.min_position = corrected_begin(first, end, before, log_start)
            self._correct_extension(log_start)
        # [STORE-CLEAN-007]

    @property
    def last_physical_end(self) -> int:
        """Where the record of the last unit ends in the log; -1 without units."""
        data = self.queue.view(self.queue.end - UNIT_SIZE, UNIT_SIZE)
        if data is None:
            return -1
        offset, size, _ = unit_codec.unpack(data)
        return int(offset + size)

    def delete_before(self, log_start: int) -> int:
        """Delete the files whose messages all lie before *log_start*; return how many.

        The last file stays, and with it the queue's end.
        """
        count = 0
        while len(self.queue) > 1:
            last_unit = self.queue.start + self.queue.file_size - UNIT_SIZE
            data = self.queue.view(last_unit, UNIT_SIZE)
            if data is None or unit_codec.unpack(data)[0] >= log_start:
                break
            self.queue.delete_first()
            count += 1
        self.correct_min(log_start)  # [STORE-CLEAN-004]
        return count

    def destroy(self) -> None:
        """Delete the queue."""
        for files in self.file_queues:
            files.destroy()
        self.max_physical_offset = -1
        self.min_position = 0

    def _found_end(self, bases: list[int]) -> QueueEnd:
        """Return where the files at *bases*, the last ones, say that the queue ends."""
        end = None
        if self._is_long(bases[0]):
            from reference.core.store.unit_rows import found_end_at_once

            data = [(base, self._data(base)) for base in bases]
            end = found_end_at_once(data, self.queue.file_size)
        files = (self._units(base) for base in bases)
        return end or found_end([*files], self.queue.file_size, REFERENCE)

    def _cut_end(self, physical_end: int) -> Cut:
        """Return what is left where the log ends at *physical_end*."""
        cut, newest_first = None, self.queue.bases[::-1]
        if newest_first and self._is_long(newest_first[0]):
            from reference.core.store.unit_rows import cut_end_at_once

            data = ((base, self._data(base)) for base in newest_first)
            cut = cut_end_at_once(data, physical_end)
        files = (self._units(base) for base in newest_first)
        return cut or cut_end(files, physical_end, REFERENCE)

    def _is_long(self, base: int) -> bool:
        """Return whether the file at *base* has so many units that numpy is worth it.

        A queue that has few is not touched where nothing was ever written.
        """
        data = self._data(base)
        sizes_at = (number * UNIT_SIZE + 8 for number in (FEW, MANY))
        return all(any(data[at : at + 4]) for at in sizes_at)

    def _data(self, base: int) -> memoryview:
        """Return the whole file that begins at *base*."""
        found = self.queue.file_at(base)
        assert found is not None
        return found[0].view

    def _units(self, base: int) -> UnitFile:
        """Return the file that begins at *base* with all units that fit into it."""
        return base, unit_codec.iter_unpack(self._data(base))

    def _end_at(self, end: QueueEnd) -> None:
        self.queue.truncate(end.position)
        self.max_physical_offset = end.physical

    def _repair(self, position: int, unit: bytes) -> None:
        """Write *unit* again where it is there in part, its offset at least."""
        found = self.queue.view(position, UNIT_SIZE)
        file = self.queue.file_at(position)
        if found is None or file is None or found == unit:
            return
        if self.extension is not None and self._is_whole(found):
            return
        if found[:8] == unit[:8]:
            file[0].write(unit, position - file[1])

    def _is_whole(self, unit: memoryview) -> bool:
        """Return whether *unit* has the address of an extension unit."""
        _, size, code = unit_codec.unpack(unit)
        return bool(size) and is_address(code) and self.tags_code(code) is not None

    def _last_address(self, bases: list[int]) -> int | None:
        """Return the last address that a unit in the files at *bases* has."""
        for base in reversed(bases):
            units = unit_codec.iter_unpack(self.queue.view_from(base) or b"")
            addresses = [int(code) for _, _, code in units if is_address(code)]
            if addresses:
                return addresses[-1]
        return None

    def _correct_extension(self, log_start: int) -> None:
        """Delete what the extension has of messages before the first."""
        unit = self.unit(self.min_offset)
        if self.extension is None or unit is None:
            return
        if unit[0] >= log_start and is_address(unit[2]):
            self.extension.delete_before(unit[2])

    def _fill_before(self, position: int) -> None:
        """Fill the new first file up to *position*, where the first unit will be."""
        self.min_position = position
        self.queue.flushed = position
        # [STORE-QUEUE-009]
        self.queue.append(FILLER * ((position - self.queue.end) // UNIT_SIZE))


def _reach(row: bytes, number: int) -> int:
    """Return where the record of unit *number* in a row ends."""
    offset, size, _ = unit_codec.unpack_from(row, number * UNIT_SIZE)
    return int(offset + size)
