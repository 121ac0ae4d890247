"""
Reading a queue: which messages a reader gets, and where it goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from typing import cast

from reference.core.store.commitlog.commit_log import CommitLog
from reference.core.store.consumequeue.consume_queue import ConsumeQueue
from reference.core.store.consumequeue.extension import QueueExtension, is_address
from reference.core.store.layouts import unit_codec
from reference.core.store.types import GetMessageResult, GetMessageStatus, StoreOptions
from spec.store.consume_queue import UNIT_SIZE
from spec.store.queue_extension import ExtensionUnit

SCANNED_SIZE_MIN = 16_000
"""A read looks at this many bytes of units at least, 800 units, if none match."""


Unit = tuple[int, int, int]
"""Commit-log offset, size, tags code."""
UnitFilter = Callable[[ExtensionUnit], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a reader asks for."""

    offset: int
    count_max: int
    tags_codes: Container[int] | None = None
    """Tags codes that the reader wants; None for all."""
    accepts: Callable[[memoryview], bool] | None = None
    """A filter that looks at the record itself; None for all."""
    unit_filter: UnitFilter | None = None
    """A filter that looks at the unit of the queue's extension, before the record."""


class Reader:
    """Reads queues of one log."""

    def __init__(self, log: CommitLog, options: StoreOptions) -> None:
        self._log = log
        self._options = options

    def read(self, queue: ConsumeQueue | None, wish: Wish) -> GetMessageResult:
        """Return what *queue* has for *wish*.

        4.6.0 org.apache.rocketmq.store.DefaultMessageStore#getMessage; a queue that
        does not exist looks like one that never had a message.
        """
        offset = wish.offset
        if queue is None or queue.max_offset == 0:
            first = 0 if queue is None else queue.min_offset
            # [PULL-EMPTY-001] [PULL-EMPTY-002]
            return GetMessageResult(GetMessageStatus.NO_MESSAGE_IN_QUEUE, 0, first, 0)
        first, end = queue.min_offset, queue.max_offset
        if offset < first:
            # [PULL-MINOFFSET-001]
            return GetMessageResult(
                GetMessageStatus.OFFSET_TOO_SMALL, first, first, end
            )
        if offset == end:
            # [PULL-MAXOFFSET-001]
            return GetMessageResult(
                GetMessageStatus.OFFSET_OVERFLOW_ONE, offset, first, end
            )
        if offset > end:
            next_offset = end if first else 0  # [PULL-MAXOFFSET-003]
            return GetMessageResult(
                GetMessageStatus.OFFSET_OVERFLOW_BADLY, next_offset, first, end
            )
        units = queue.units_from(offset)
        if units is None:
            next_offset = queue.next_file(offset)
            return GetMessageResult(
                GetMessageStatus.OFFSET_FOUND_NULL, next_offset, first, end
            )
        return self._collect(queue, units, wish, (first, end))

    def _collect(
        self,
        queue: ConsumeQueue,
        units: memoryview,
        wish: Wish,
        bounds: tuple[int, int],
    ) -> GetMessageResult:
        """Return the records of *units* that *wish* wants and that fit one answer."""
        records: list[memoryview] = []
        status = GetMessageStatus.NO_MATCHED_MESSAGE
        size_so_far = scanned = physical_offset = skip_before = 0
        log_end = self._log.queue.end
        for unit in _scanned(units, wish):
            physical_offset, size, _ = unit
            if physical_offset >= skip_before:
                distance = log_end - physical_offset
                if records and self._is_full(
                    len(records), size_so_far, size, distance, wish
                ):
                    break
                found = self._wanted(unit, queue.extension, wish)
                if isinstance(found, memoryview):
                    records.append(found)
                    size_so_far += size
                    skip_before = 0
                else:
                    status = found
                    if found is GetMessageStatus.MESSAGE_WAS_REMOVING:
                        skip_before = self._log.next_file(physical_offset)
            scanned += 1
        return GetMessageResult(
            GetMessageStatus.FOUND if records else status,
            wish.offset + scanned,  # [PULL-FOUND-002] [PULL-FILTER-004]
            *bounds,
            tuple(records),
            size_so_far,
            log_end - physical_offset > self._options.memory_size,
        )

    def _wanted(
        self, unit: Unit, extension: QueueExtension | None, wish: Wish
    ) -> memoryview | GetMessageStatus:
        """Return the record of a unit, or why the reader does not get it."""
        if not _may_be_wanted(unit[2], extension, wish):
            return GetMessageStatus.NO_MATCHED_MESSAGE  # [PULL-FILTER-005]
        record = self._log.record(unit[0], unit[1])
        if record is None:
            return GetMessageStatus.MESSAGE_WAS_REMOVING
        if wish.accepts is not None and not wish.accepts(record):
            return GetMessageStatus.NO_MATCHED_MESSAGE
        return record

    def _is_full(
        self, count: int, size_so_far: int, size: int, distance: int, wish: Wish
    ) -> bool:
        """Return whether the answer has no room for a further record of *size*.

        4.6.0 DefaultMessageStore#isTheBatchFull. The first record always fits.
        """
        if wish.count_max <= count:
            return True  # [PULL-COUNT-001] [PULL-COUNT-002]
        options = self._options
        if distance > options.memory_size:
            return (
                size_so_far + size > options.max_transfer_size_on_disk
                or count > options.max_transfer_count_on_disk - 1
            )
        return (
            size_so_far + size > options.max_transfer_size_in_memory  # [PULL-COUNT-004]
            or count > options.max_transfer_count_in_memory - 1  # [PULL-COUNT-003]
        )


def _may_be_wanted(
    tags_code: int, extension: QueueExtension | None, wish: Wish
) -> bool:
    """Return whether the queue leaves it open that a message is wanted.

    A tags code that is lost may be any. [STORE-EXTENSION-014]
    """
    if extension is not None and is_address(tags_code):
        found = extension.get(tags_code)
        if found is None:
            return True
        if wish.unit_filter is not None and not wish.unit_filter(found):
            return False  # [PULL-SQL-016]
        tags_code = found.tags_code
    return wish.tags_codes is None or tags_code in wish.tags_codes


def _scanned(units: memoryview, wish: Wish) -> Iterator[Unit]:
    """Return the units that one read looks at, however many of them match."""
    size = max(SCANNED_SIZE_MIN, wish.count_max * UNIT_SIZE)
    return cast(Iterator[Unit], unit_codec.iter_unpack(units[:size]))
