"""
Dispatch: every record of the log, in order, becomes a unit of its queue and items of
the index.

It runs after the put, so a message can be in the log before any reader sees it
(Java: ReputMessageService).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from reference.core.store.api import Arrival, StoreOptions
from reference.core.store.checkpoint import CheckpointFile
from reference.core.store.commit_log import CommitLog
from reference.core.store.dispatch_at_once import take_at_once
from reference.core.store.index import Index
from reference.core.store.queue_extension import QueueExtension
from reference.core.store.queue_table import QueueTable
from reference.core.store.records import NOT_CONSUMABLE, TRANSACTION_MASK, Found
from spec.store.queue_extension import ExtensionUnit

if TYPE_CHECKING:
    from reference.core.store.run_dispatch import RunDispatcher

AT_ONCE_FROM = 4
"""Of fewer records it takes longer to put them together than to take each."""
FilterBits = Callable[[str, memoryview], bytes]
"""Says of a message, by topic and record, which subscriptions it matches."""


def no_bits(topic: str, record: memoryview) -> bytes:  # noqa: ARG001
    """Return no bits, of whatever message."""
    return b""


class Dispatcher:
    """How far the log has been read, and what is made of it."""

    def __init__(
        self,
        log: CommitLog,
        queues: QueueTable,
        index: Index,
        *,
        checkpoint: CheckpointFile,
        options: StoreOptions,
    ) -> None:
        self.position = 0
        """Offset of the first record that queues and index do not have yet."""
        self.is_indexing = False
        """Whether what is done now, or was refused by the files, is for the index."""
        self._log = log
        self._queues = queues
        self._index = index
        self._checkpoint = checkpoint
        self._index_enabled = options.index_enabled
        self._is_copy = options.is_copy
        self.filter_bits: FilterBits = no_bits
        self._in_runs: RunDispatcher | None = None

    @property
    def is_behind(self) -> bool:
        """Whether the log has bytes that were not read."""
        return self.position < self._log.queue.end

    def run(self) -> list[Arrival]:
        """Read the log to its end and return what became visible."""
        arrivals: list[Arrival] = []
        self.position = max(self.position, self._log.queue.start)
        self._take_at_once(arrivals)
        self._take_fresh(arrivals)
        unread = self._log.find_all(self.position) if self.is_behind else ()
        for found in unread:
            if isinstance(found, Found):
                arrival = self.take(found)
                if arrival is not None:
                    arrivals.append(arrival)
            if found.size > 0:
                self.position += found.size
            elif found.size < 0 and self._is_copy:
                break  # The rest of the record is still to come. [REC-DISPATCH-007]
            else:
                # A blank, or garbage: a master gives the rest of the file up.
                next_file = self._log.next_file(self.position)
                # The rest of a blank may still be on its way to a copy.
                end = next_file if self._is_copy else self._log.queue.end
                self.position = min(next_file, end)
        self._log.fresh.clear()
        return arrivals

    def _take_at_once(self, arrivals: list[Arrival]) -> None:
        """Dispatch in one go what the log has just been given, if that may be."""
        run = self._log.fresh
        if len(run) < AT_ONCE_FROM or run[0].physical_offset != self.position:
            return
        last = run[-1]
        # Where not all was told, the rest has to be read.
        if last.physical_offset + last.size != self._log.queue.end:
            return
        index = self._index if self._index_enabled else None
        taken = take_at_once(run, self._queues, index)
        if taken is None:
            return
        arrivals += taken
        self._checkpoint.logics_ms = last.stored_at_ms
        self.position = self._log.queue.end
        run.clear()

    def _take_fresh(self, arrivals: list[Arrival]) -> None:
        """Dispatch what the log has just been given, as far as it tells."""
        fresh = self._log.fresh
        while fresh and fresh[0].physical_offset == self.position:
            found = fresh[0]
            arrival = self.take(found)
            if arrival is not None:
                arrivals.append(arrival)
            self.position += found.size
            fresh.popleft()

    def take(self, found: Found) -> Arrival | None:
        """Put one record into its queue and the index."""
        arrival, self.is_indexing = None, False
        # [STORE-QUEUE-007]
        if found.system_flags & TRANSACTION_MASK not in NOT_CONSUMABLE:
            queue = self._queues.get_or_make(found.topic, found.queue_id)
            self._checkpoint.logics_ms = found.stored_at_ms
            if self._is_copy:  # whoever appends pieces knows of no times
                self._checkpoint.physic_ms = found.stored_at_ms
            code = found.tags_code
            if queue is not None and queue.extension is not None:
                code = self._code_of(found, queue.extension)
            if queue is not None and queue.put(
                found.physical_offset, found.size, code, found.queue_offset
            ):
                arrival = Arrival(
                    found.topic,
                    found.queue_id,
                    found.queue_offset + 1,
                    found.tags_code,
                    found.stored_at_ms,
                )
        if self._index_enabled:
            self.is_indexing = True
            self._index.put(found, self._checkpoint)
        return arrival

    def in_runs(self, least: int) -> RunDispatcher:
        """Return what dispatches runs of *least* records or more, as `take` each.

        Not for queues with extensions.
        """
        if self._in_runs is None:
            from reference.core.store.run_dispatch import RunDispatcher

            self._in_runs = RunDispatcher(
                lambda offset: self._log.find(offset, check_crc=False),
                self.take,
                queues=self._queues,
                index=self._index if self._index_enabled else None,
                checkpoint=self._checkpoint,
                is_copy=self._is_copy,
                least=least,
            )
        return self._in_runs

    def _code_of(self, found: Found, extension: QueueExtension) -> int:
        """Return the tags code for a unit, or the address of what has it.

        4.6.0 ConsumeQueue#putMessagePositionInfoWrapper puts it before it looks
        whether the unit is there already. [STORE-EXTENSION-011]
        """
        record = self._log.record(found.physical_offset, found.size)
        bits = b"" if record is None else self.filter_bits(found.topic, record)
        # [STORE-EXTENSION-004] [STORE-EXTENSION-005]
        unit = ExtensionUnit(
            tags_code=found.tags_code,
            stored_at_ms=found.stored_at_ms,
            filter_bits=bits,
        )
        return extension.put(unit)
