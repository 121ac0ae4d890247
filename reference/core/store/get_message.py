"""
The reads of a store: by queue offset, commit-log offset, time and key.

`StoreReads.get` reads a queue (Java: DefaultMessageStore#getMessage).
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import NamedTuple

from reference.core.store.commitlog.commit_log import CommitLog
from reference.core.store.consumequeue.consume_queue import ConsumeQueue
from reference.core.store.consumequeue.extension import QueueExtension, is_address
from reference.core.store.consumequeue.table import ConsumeQueueTable
from reference.core.store.index.index_service import IndexService
from reference.core.store.layouts import unit_codec
from reference.core.store.statistics import Statistics
from reference.core.store.types import (
    GetMessageResult,
    GetMessageStatus,
    QueryResult,
    StoreOptions,
)
from spec.store.consume_queue import UNIT_SIZE
from spec.store.queue_extension import ExtensionUnit

SCANNED_SIZE_MIN = 16_000
"""A read scans this many bytes of units at least, 800 units, if none match."""
UnitFilter = Callable[[ExtensionUnit], bool]


class MessageFilter(NamedTuple):
    """The messages that a reader selects; by default all (Java: MessageFilter)."""

    tags_codes: Container[int] | None = None
    """The tags codes that the reader selects; None for all."""
    accepts: Callable[[memoryview], bool] | None = None
    """A filter of records; None for all."""
    unit_filter: UnitFilter | None = None
    """A filter of units of the queue's extension, which saves reading the record."""


EVERYTHING = MessageFilter()


class StoreReads:
    """The part of a message store that changes no file."""

    log: CommitLog
    queues: ConsumeQueueTable
    index: IndexService
    options: StoreOptions
    statistics: Statistics

    def get(
        self,
        topic: str,
        queue_id: int,
        offset: int,
        count_max: int,
        message_filter: MessageFilter = EVERYTHING,
    ) -> GetMessageResult:
        """Return up to *count_max* messages of a queue from *offset* on.

        4.6.0 org.apache.rocketmq.store.DefaultMessageStore#getMessage; a queue that
        does not exist is like one that never had a message.
        """
        queue = self.queues.table.get((topic, queue_id))
        first = end = 0
        units = None
        if queue is not None:
            first = queue.min_position // UNIT_SIZE
            end = queue.files.end // UNIT_SIZE
            if first <= offset < end:
                units = queue.files.view(offset * UNIT_SIZE)
        if queue is None or units is None:
            result = _without_units(queue, offset, first, end)
        else:
            scanned = _scan(
                self.log,
                queue.extension,
                units[: max(SCANNED_SIZE_MIN, count_max * UNIT_SIZE)],
                message_filter,
                self.options,
                count_max,
            )
            distance = self.log.files.end - scanned.last_offset
            result = GetMessageResult(
                status=scanned.status,
                # [PULL-FOUND-002] [PULL-FILTER-004]
                next_begin_offset=offset + scanned.unit_count,
                min_offset=first,
                max_offset=end,
                records=tuple(scanned.records),
                size=scanned.size,
                suggest_slave=distance > self.options.memory_size,
            )
        self.statistics.on_get(result)
        return result

    def min_offset(self, topic: str, queue_id: int) -> int:
        """Return the offset of the first message of a queue."""
        queue = self.queues.table.get((topic, queue_id))
        return queue.min_offset if queue else 0

    def max_offset(self, topic: str, queue_id: int) -> int:
        """Return the offset of a queue's next message."""
        queue = self.queues.table.get((topic, queue_id))
        return queue.max_offset if queue else 0

    def offset_by_time(self, topic: str, queue_id: int, timestamp_ms: int) -> int:
        """Return the offset of the message stored nearest to *timestamp_ms*.

        4.6.0 org.apache.rocketmq.store.ConsumeQueue#getOffsetInQueueByTime. It chooses
        the first file that was written at or after that time, or the last, and searches
        it alone.
        """
        queue = self.queues.table.get((topic, queue_id))
        if queue is None or not len(queue.files):
            return 0
        files, numbers = queue.files, range(len(queue.files))
        written_since = (n for n in numbers if files.modified_at_ms(n) >= timestamp_ms)
        start = files.start_offsets[next(written_since, numbers[-1])]
        first = max(queue.min_position - start, 0) // UNIT_SIZE
        number = None
        if (units := files.view(start)) is not None:
            number = _nearest(self.log, units, timestamp_ms, first)
        return 0 if number is None else max(start // UNIT_SIZE + number, 0)

    def stored_at(self, topic: str, queue_id: int, queue_offset: int) -> int:
        """Return the store time of a message; -1 without the message."""
        queue = self.queues.table.get((topic, queue_id))
        unit = queue.unit(queue_offset) if queue else None
        return self.log.stored_at(unit[0], unit[1]) if unit else -1

    def earliest_stored_at(self, topic: str, queue_id: int) -> int:
        """Return the store time of a queue's first message; -1 without one."""
        return self.stored_at(topic, queue_id, self.min_offset(topic, queue_id))

    def record(self, topic: str, queue_id: int, queue_offset: int) -> memoryview | None:
        """Return the record of one message, or None; statistics do not count it."""
        queue = self.queues.table.get((topic, queue_id))
        unit = queue.unit(queue_offset) if queue else None
        return self.log.record(unit[0], unit[1]) if unit else None

    def record_at(self, physical_offset: int) -> memoryview | None:
        """Return the record at a commit-log offset, or None.

        As in 4.6.0, the offset need not be the start of a record.
        """
        return self.log.record_at(physical_offset)

    def query(
        self, topic: str, key: str, count_max: int, begin_ms: int, end_ms: int
    ) -> QueryResult:
        """Return messages that have *key*, or another key of the same hash.

        4.6.0 org.apache.rocketmq.store.DefaultMessageStore#queryMessage has three
        rounds. If no record of the first exists, the others read the same index items
        again.
        """
        count_max = min(count_max, self.options.query_count_max)  # [QUERY-KEY-009]
        offsets = self.index.query(
            topic, key, count_max=count_max, begin_ms=begin_ms, end_ms=end_ms
        )
        if not offsets:
            return QueryResult((), 0, 0)
        records = map(self.log.record_at, sorted(offsets))  # [QUERY-KEY-002]
        found = tuple(record for record in records if record is not None)
        return QueryResult(found, *self.index.last_update)


def _without_units(
    queue: ConsumeQueue | None, offset: int, first: int, end: int
) -> GetMessageResult:
    """Return the result of a get at an offset that has no unit.

    *queue* has the queue offsets from *first* to before *end*; None does not exist.
    """
    next_offset = offset
    if queue is None or end == 0:
        # [PULL-EMPTY-001] [PULL-EMPTY-002]
        status, next_offset, end = GetMessageStatus.NO_MESSAGE_IN_QUEUE, 0, 0
    elif offset < first:
        # [PULL-MINOFFSET-001]
        status, next_offset = GetMessageStatus.OFFSET_TOO_SMALL, first
    elif offset == end:
        status = GetMessageStatus.OFFSET_OVERFLOW_ONE  # [PULL-MAXOFFSET-001]
    elif offset > end:
        status = GetMessageStatus.OFFSET_OVERFLOW_BADLY
        next_offset = end if first else 0  # [PULL-MAXOFFSET-003]
    else:
        status = GetMessageStatus.OFFSET_FOUND_NULL
        next_offset = queue.next_file(offset)
    return GetMessageResult(
        status=status, next_begin_offset=next_offset, min_offset=first, max_offset=end
    )


class _ScannedUnits(NamedTuple):
    """Consecutive units of a queue, and the records that a reader gets for them."""

    status: GetMessageStatus
    records: list[memoryview]
    size: int
    """Bytes of the records."""
    unit_count: int
    last_offset: int
    """Commit-log offset in the last unit."""


def _scan(
    log: CommitLog,
    extension: QueueExtension | None,
    units: memoryview,
    message_filter: MessageFilter,
    options: StoreOptions,
    count_max: int,
) -> _ScannedUnits:
    """Read the records of *units* until a response is full."""
    status = GetMessageStatus.NO_MATCHED_MESSAGE
    records: list[memoryview] = []
    size_so_far = scanned = physical_offset = skip_before = 0
    for physical_offset, size, code in unit_codec.iter_unpack(units):
        if physical_offset >= skip_before:
            distance = log.files.end - physical_offset
            if records and (
                len(records) >= count_max  # [PULL-COUNT-001] [PULL-COUNT-002]
                or _is_full(len(records), size_so_far + size, distance, options)
            ):
                break
            found = _read(log, physical_offset, size, code, extension, message_filter)
            if isinstance(found, memoryview):
                records.append(found)
                size_so_far += size
                skip_before = 0
            else:
                status = found
                if found is GetMessageStatus.MESSAGE_WAS_REMOVING:
                    skip_before = log.next_file(physical_offset)
        scanned += 1
    status = GetMessageStatus.FOUND if records else status
    return _ScannedUnits(
        status=status,
        records=records,
        size=size_so_far,
        unit_count=scanned,
        last_offset=physical_offset,
    )


def _read(
    log: CommitLog,
    physical_offset: int,
    size: int,
    tags_code: int,
    extension: QueueExtension | None,
    message_filter: MessageFilter,
) -> memoryview | GetMessageStatus:
    """Return the record of a unit, or the reason why the reader does not get it.

    A tags code that is lost may be any. [STORE-EXTENSION-014]
    """
    tags_codes, accepts, unit_filter = message_filter
    is_code_known = True
    if extension is not None and is_address(tags_code):
        unit = extension.get(tags_code)
        is_code_known = unit is not None
        if unit is not None:
            if unit_filter is not None and not unit_filter(unit):
                return GetMessageStatus.NO_MATCHED_MESSAGE  # [PULL-SQL-016]
            tags_code = unit.tags_code
    if is_code_known and tags_codes is not None and tags_code not in tags_codes:
        return GetMessageStatus.NO_MATCHED_MESSAGE  # [PULL-FILTER-005]
    record = log.record(physical_offset, size)
    if record is None:
        return GetMessageStatus.MESSAGE_WAS_REMOVING
    if accepts is not None and not accepts(record):
        return GetMessageStatus.NO_MATCHED_MESSAGE
    return record


def _is_full(count: int, size: int, distance: int, options: StoreOptions) -> bool:
    """Return whether a response with *count* records has no room for a further one.

    *size* is the bytes of all of them, *distance* the bytes from the further one to the
    end of the log. 4.6.0 DefaultMessageStore#isTheBatchFull.
    """
    if distance > options.memory_size:
        return (
            size > options.max_transfer_size_on_disk  # [PULL-COUNT-006]
            or count > options.max_transfer_count_on_disk - 1  # [PULL-COUNT-005]
        )
    return (
        size > options.max_transfer_size_in_memory  # [PULL-COUNT-004]
        or count > options.max_transfer_count_in_memory - 1  # [PULL-COUNT-003]
    )


def _nearest(
    log: CommitLog, units: memoryview, timestamp_ms: int, first: int
) -> int | None:
    """Return the number of the unit whose message was stored nearest in time.

    The earlier of two equally near units. -1 without units; None for a unit whose
    record the log does not have.
    """
    low, high = first, len(units) // UNIT_SIZE - 1
    before = behind = -1
    before_ms = behind_ms = None
    while high >= low:
        middle = (low + high) // 2
        physical_offset, size, _ = unit_codec.unpack_from(units, middle * UNIT_SIZE)
        if physical_offset < log.files.start:
            low, before = middle + 1, middle
            continue
        stored_at_ms = log.stored_at(physical_offset, size)
        if stored_at_ms < 0:
            return None
        if stored_at_ms == timestamp_ms:
            return middle  # [OFFSET-SEARCH-001]
        if stored_at_ms > timestamp_ms:
            high, behind, behind_ms = middle - 1, middle, stored_at_ms
        else:
            low, before, before_ms = middle + 1, middle, stored_at_ms
    if before_ms is None:
        return behind  # [OFFSET-SEARCH-002]
    if behind_ms is None:
        return before  # [OFFSET-SEARCH-003]
    # [OFFSET-SEARCH-005]
    return behind if timestamp_ms - before_ms > behind_ms - timestamp_ms else before
