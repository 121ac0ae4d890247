"""
Dispatch: every record of the log, in order, becomes a unit of its consume queue and
items of the index.

It runs after the append, so a message can be in the log before any reader sees it
(Java: DefaultMessageStore$ReputMessageService).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter

from reference.core.store.commitlog.commit_log import CommitLog
from reference.core.store.commitlog.record_reader import (
    NOT_CONSUMABLE,
    TRANSACTION_MASK,
    Blank,
)
from reference.core.store.consumequeue.extension import QueueExtension
from reference.core.store.consumequeue.table import ConsumeQueueTable
from reference.core.store.flush import CheckpointFile
from reference.core.store.index.index_service import IndexService
from reference.core.store.layouts import unit_codec
from reference.core.store.mapped.files import FilesError
from reference.core.store.types import DispatchRequest, Queue, StoreOptions
from spec.store.queue_extension import ExtensionUnit

_PLACE = attrgetter("physical_offset")
CalcBitMap = Callable[[str, memoryview], bytes]
"""Computes from topic and record the bit map of the subscriptions that match."""


def empty_bit_map(topic: str, record: memoryview) -> bytes:  # noqa: ARG001
    """Return no bits, for a store without filters."""
    return b""


class Dispatcher:
    """The dispatched part of the log, and the steps that extend it."""

    def __init__(
        self,
        log: CommitLog,
        queues: ConsumeQueueTable,
        index: IndexService,
        checkpoint: CheckpointFile,
        options: StoreOptions,
        *,
        calc_bit_map: CalcBitMap,
    ) -> None:
        self.position = 0
        """Commit-log offset of the first record without unit and index items."""
        self.is_indexing = False
        """Whether the index is being written, or was refused by the files."""
        self._log = log
        self._queues = queues
        self._index = index if options.index_enabled else None
        self._checkpoint = checkpoint
        self._is_slave = options.is_slave
        self.calc_bit_map = calc_bit_map
        """Computes the bit map of an extension unit; a broker replaces it."""

    @property
    def is_behind(self) -> bool:
        """Whether the log has bytes behind the position."""
        return self.position < self._log.files.end

    def dispatch(
        self, requests: Sequence[DispatchRequest], visible: list[DispatchRequest]
    ) -> None:
        """Dispatch the log to its end and add the messages that became visible.

        *requests* are those of the last appends. The rest is read from the log: after a
        restart, at a slave, and behind a record whose append returned no request.
        Raises FilesError with the position at the record that the files refused.
        *visible* is an argument so that the messages before that record survive.
        """
        files = self._log.files
        self.position = end = max(self.position, files.start)
        consecutive = []
        for request in requests:
            if request.physical_offset != end:
                break
            consecutive.append(request)
            end += request.size
        if consecutive:
            self.put(consecutive, visible)
        while self.position < files.end:
            read, stop = self._log.read_dispatch_requests(self.position)
            if read:
                self.put(read, visible)
            if stop is None:
                continue
            next_file = self._log.next_file(self.position)
            stated_size = 0 if isinstance(stop, Blank) else stop.size
            if 0 < stated_size <= min(next_file, files.end) - self.position:
                self.position += stated_size
            elif self._is_slave and not isinstance(stop, Blank):
                break  # The rest of the record is still to come. [REC-DISPATCH-007]
            else:
                # A master skips the rest of a file at a blank, and at garbage too.
                # A slave may have received a part of the blank only.
                end = next_file if self._is_slave else min(next_file, files.end)
                self.position = end

    def put(
        self, requests: Sequence[DispatchRequest], visible: list[DispatchRequest]
    ) -> None:
        """Put consecutive records at the position into queues and index.

        Several records are one write of items and one write of units for each queue,
        if all have space. Otherwise each record is put by itself, its units first:
        nothing behind a refused one is visible.

        For example, records at 0 and 200 are messages 5 and 6 of queue A-0, and that at
        100 is message 2 of queue B-1. With space, the index gets the keys of all. Then
        A-0 gets two units in one write, B-1 gets one, and the position is 300. If the
        files refuse the unit of B-1, message 5 is visible and the position stays 100.
        """
        self.is_indexing = False
        groups: dict[Queue, list[DispatchRequest]] = {}
        size = 0
        for request in requests:
            size += request.size
            # [STORE-QUEUE-007]
            if request.system_flags & TRANSACTION_MASK not in NOT_CONSUMABLE:
                groups.setdefault((request.topic, request.queue_id), []).append(request)
        if len(requests) == 1:
            self._put_units(groups, visible)
            if self._index is not None:
                self.is_indexing = True
                self._index.put(requests, self._checkpoint)
        elif self._has_space(groups) and self._put_keys(requests):
            self._put_units(groups, visible)
        else:
            for request in requests:
                self.put((request,), visible)
            return
        self.position += size

    def _put_units(
        self,
        groups: Mapping[Queue, Sequence[DispatchRequest]],
        visible: list[DispatchRequest],
    ) -> None:
        """Put the records into their queues, and add the new ones to *visible*."""
        if not groups:
            return
        last = max((group[-1] for group in groups.values()), key=_PLACE)
        self._checkpoint.logics_ms = last.stored_at_ms
        for (topic, queue_id), group in groups.items():
            queue = self._queues.table.get((topic, queue_id))
            if queue is None:
                queue = self._queues.create(topic, queue_id)
            if queue is None:
                continue
            units = []
            for one in group:
                code = one.tags_code
                if queue.extension is not None:
                    code = self._put_extension(one, queue.extension)
                units.append(unit_codec.pack(one.physical_offset, one.size, code))
            added = queue.put(group[0].queue_offset, b"".join(units))
            visible += group if added == len(group) else group[len(group) - added :]

    def _has_space(self, groups: Mapping[Queue, Sequence[DispatchRequest]]) -> bool:
        """Return whether each group is one write that the disk has now reserved."""
        for (topic, queue_id), group in groups.items():
            queue = self._queues.table.get((topic, queue_id))
            if queue is None or queue.extension is not None:
                return False
            first, count = group[0].queue_offset, len(group)
            if [one.queue_offset for one in group] != [*range(first, first + count)]:
                return False
            try:
                if not queue.reserve(count):
                    return False
            except FilesError:
                return False
        return True

    def _put_keys(self, requests: Sequence[DispatchRequest]) -> bool:
        """Put all keys of *requests* into the index; return False if files refuse."""
        try:
            if self._index is not None:
                self._index.put(requests, self._checkpoint)
        except FilesError:
            return False
        return True

    def _put_extension(
        self, request: DispatchRequest, extension: QueueExtension
    ) -> int:
        """Return the address of a new extension unit, or the tags code without room.

        4.6.0 ConsumeQueue#putMessagePositionInfoWrapper adds it before it checks
        whether the unit exists. [STORE-EXTENSION-011]
        """
        record = self._log.record(request.physical_offset, request.size)
        bit_map = b"" if record is None else self.calc_bit_map(request.topic, record)
        # [STORE-EXTENSION-004] [STORE-EXTENSION-005]
        unit = ExtensionUnit(
            tags_code=request.tags_code,
            stored_at_ms=request.stored_at_ms,
            filter_bits=bit_map,
        )
        return extension.put(unit)
