"""
A consume queue: where the messages of one queue are in the commit log.

Unit n is message n: an offset and a size in the log, and a hash of its tags. The
queue holds nothing that the log does not, so recovery may cut it back and have
dispatch fill it again.
"""

from __future__ import annotations

from collections.abc import Sequence

from reference.core.store.consumequeue.extension import QueueExtension, is_address
from reference.core.store.layouts import unit_codec
from reference.core.store.mapped.files import Files, FilesError
from reference.core.store.mapped.mapped_file_queue import MappedFileQueue
from reference.core.store.recovery.queue_end import (
    QueueEnd,
    Unit,
    UnitFile,
    correct_min_offset,
)
from spec.integers import INT32_MAX, INT64_MAX
from spec.store.consume_queue import UNIT_SIZE
from spec.store.file_names import CONSUME_QUEUE

FILLER = unit_codec.pack(0, INT32_MAX, 0)
"""Unit in place of the messages before the first, if a queue does not start at 0."""


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
        self.files = MappedFileQueue(files, directory, file_size)
        self.extension = extension
        """The file of the tags codes; None without enableConsumeQueueExt."""
        self.max_physical_offset = -1
        """End of the last message's record in the log; -1 without messages."""
        self.min_position = 0
        """Position of the first unit whose message still exists, in bytes."""

    @property
    def min_offset(self) -> int:
        """Queue offset of the first message that still exists."""
        return self.min_position // UNIT_SIZE

    @property
    def max_offset(self) -> int:
        """Queue offset that the next message will have."""
        return self.files.end // UNIT_SIZE

    def load(self) -> None:
        """Map the existing files."""
        self.files.load()
        if self.extension is not None:
            self.extension.files.load()

    @property
    def mapped_file_queues(self) -> tuple[MappedFileQueue, ...]:
        """The files to flush and close: those of the queue and of its extension."""
        return (self.files, self.extension.files) if self.extension else (self.files,)

    def put(self, queue_offset: int, units: bytes) -> int:
        """Add encoded units of consecutive messages, the first at *queue_offset*.

        Return how many are new, which are the last of them. Units that are next in the
        queue are one write. Raises FilesError for a first unit that no file can begin
        with.

        For example, units 4, 5 and 6 are put into a queue that ends behind unit 4. They
        are not next, and unit 6 is not there. So each is put by itself: unit 4 exists
        and stays, 5 and 6 are next, and 2 is returned.
        """
        queue, size = self.files, len(units)
        position = queue_offset * UNIT_SIZE
        first_offset, _, _ = unit_codec.unpack_from(units)
        last_offset, last_size, _ = unit_codec.unpack_from(units, size - UNIT_SIZE)
        is_next = position == queue.end and queue.limit - queue.end >= size
        if is_next and first_offset >= self.max_physical_offset:
            # [STORE-QUEUE-001] [STORE-QUEUE-002]
            queue.append(units)
            self.max_physical_offset = last_offset + last_size
            return size // UNIT_SIZE
        if last_offset + last_size <= self.max_physical_offset:
            existing = queue.view(position, size)
            if existing is not None and existing.tobytes() == units:
                return 0  # [STORE-QUEUE-006]
        if size == UNIT_SIZE:
            return self._put_unit(queue_offset, units)
        singles = (units[at : at + UNIT_SIZE] for at in range(0, size, UNIT_SIZE))
        return sum(self.put(queue_offset + n, one) for n, one in enumerate(singles))

    def _put_unit(self, queue_offset: int, unit: bytes) -> int:
        """Add a unit that is not next in the last file, unless the queue has it.

        Return 1 if it is new. 4.6.0 ConsumeQueue#putMessagePositionInfo leaves a unit
        that exists as it is, also one of which a power cut left a part.
        """
        position, queue = queue_offset * UNIT_SIZE, self.files
        physical_offset, size, _ = unit_codec.unpack(unit)
        if physical_offset + size <= self.max_physical_offset:
            self._repair(position, unit)
            return 0
        if queue.end == queue.limit:
            is_first = len(queue) == 0
            if is_first and not 0 <= position <= INT64_MAX - 2 * queue.file_size:
                # 4.6.0 creates a file whose name is not an offset.
                raise FilesError(
                    f"{queue.directory} has no place for queue offset"
                    f" {queue_offset} of the record at {physical_offset} of the log"
                )
            queue.add_file(position)
            if is_first and queue_offset:
                self._fill_before(position)
        if queue_offset and position < queue.end:
            return 0
        queue.append(unit)
        self.max_physical_offset = physical_offset + size
        return 1

    def reserve(self, count: int) -> bool:
        """Return whether *count* units fit into the last file; reserve their space.

        Raises FilesError if the disk has no space.
        """
        has_room = count * UNIT_SIZE <= self.files.limit - self.files.end
        if has_room:
            self.files.reserve(count * UNIT_SIZE)
        return has_room

    def units_from(self, queue_offset: int) -> memoryview | None:
        """Return the units from *queue_offset* to the end of its file."""
        if queue_offset * UNIT_SIZE < self.min_position:
            return None
        return self.files.view(queue_offset * UNIT_SIZE)

    def unit_file(self, start: int) -> UnitFile:
        """Return the file that begins at *start* with all its units, written or not."""
        return start, unit_codec.iter_unpack(self.files.file_data(start))

    def unit(self, queue_offset: int) -> Unit | None:
        """Return the unit at *queue_offset*, None without it."""
        units = self.units_from(queue_offset)
        return None if units is None else unit_codec.unpack_from(units)

    def tags_code(self, code: int) -> int | None:
        """Return the tags code of a unit that has *code*, which may be an address.

        None if the address has no extension unit.
        """
        if self.extension is None or not is_address(code):
            return code
        found = self.extension.get(code)
        return None if found is None else int(found.tags_code)

    def next_file(self, queue_offset: int) -> int:
        """Return the first queue offset in the file behind that of *queue_offset*."""
        per_file = self.files.file_size // UNIT_SIZE
        return queue_offset + per_file - queue_offset % per_file

    def truncate(self, end: QueueEnd) -> None:
        """Remove the units from *end* on."""
        self.files.truncate(end.position)
        self.max_physical_offset = end.max_physical_offset

    def recover_extension(self, start_offsets: Sequence[int]) -> None:
        """End the extension behind the last address in the files at *start_offsets*."""
        if self.extension is not None:
            self.extension.recover(self._last_address(start_offsets))

    def correct_min_offset(self, log_start: int) -> None:
        """Set the min offset to the first message at or behind *log_start*, if any."""
        if len(self.files):
            first = self.unit_file(self.files.start)
            end = QueueEnd(self.files.end, self.max_physical_offset)
            self.min_position = correct_min_offset(
                first, end, before=self.min_position, log_start=log_start
            )
            self._correct_extension(log_start)
        # [STORE-CLEAN-007]

    @property
    def last_physical_end(self) -> int:
        """End of the last unit's record in the log; -1 without units."""
        data = self.files.view(self.files.end - UNIT_SIZE, UNIT_SIZE)
        if data is None:
            return -1
        offset, size, _ = unit_codec.unpack(data)
        return int(offset + size)

    def delete_before(self, log_start: int) -> int:
        """Delete the files whose messages are all before *log_start*; return the count.

        The last file stays, and with it the queue's end. Raises FilesError at the end
        for a file that stays on the disk.
        """
        count, failure = 0, None
        while len(self.files) > 1:
            last_unit = self.files.start + self.files.file_size - UNIT_SIZE
            data = self.files.view(last_unit, UNIT_SIZE)
            if data is None or unit_codec.unpack(data)[0] >= log_start:
                break
            try:
                self.files.delete_first()
            except FilesError as error:
                failure = error
            count += 1
        self.correct_min_offset(log_start)  # [STORE-CLEAN-004]
        if failure is not None:
            raise failure
        return count

    def destroy(self) -> None:
        """Delete the queue."""
        for files in self.mapped_file_queues:
            files.destroy()
        self.max_physical_offset = -1
        self.min_position = 0

    def _repair(self, position: int, unit: bytes) -> None:
        """Write *unit* again if only its commit-log offset is intact."""
        found = self.files.view(position, UNIT_SIZE)
        file = self.files.file_at(position)
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

    def _last_address(self, start_offsets: Sequence[int]) -> int | None:
        for start in reversed(start_offsets):
            units = unit_codec.iter_unpack(self.files.view(start) or b"")
            addresses = [int(code) for _, _, code in units if is_address(code)]
            if addresses:
                return addresses[-1]
        return None

    def _correct_extension(self, log_start: int) -> None:
        """Delete the extension units of messages before the first."""
        unit = self.unit(self.min_offset)
        if self.extension is None or unit is None:
            return
        if unit[0] >= log_start and is_address(unit[2]):
            self.extension.delete_before(unit[2])

    def _fill_before(self, position: int) -> None:
        """Fill the new first file up to *position*, where the first unit will be."""
        self.min_position = position
        self.files.flushed = position
        # [STORE-QUEUE-009]
        self.files.append(FILLER * ((position - self.files.end) // UNIT_SIZE))
