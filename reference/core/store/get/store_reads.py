"""
The reads of a store: by queue offset, commit-log offset, time and key.
"""

from __future__ import annotations

from collections.abc import Callable, Container

from reference.core.store.commitlog.commit_log import CommitLog
from reference.core.store.consumequeue.table import ConsumeQueueTable
from reference.core.store.consumequeue.time_search import offset_by_time
from reference.core.store.get.get_message import MessageFilter, UnitFilter, get_message
from reference.core.store.index.index_service import IndexService
from reference.core.store.statistics import Statistics
from reference.core.store.types import GetMessageResult, QueryResult, StoreOptions


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
        tags_codes: Container[int] | None = None,
        accepts: Callable[[memoryview], bool] | None = None,
        *,
        unit_filter: UnitFilter | None = None,
    ) -> GetMessageResult:
        """Return messages of a queue from *offset* on; see `MessageFilter`."""
        result = get_message(
            self.log,
            self.queues.table.get((topic, queue_id)),
            MessageFilter(tags_codes, accepts, unit_filter),
            self.options,
            offset=offset,
            count_max=count_max,
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
        """Return the offset of the message stored nearest to a time."""
        queue = self.queues.table.get((topic, queue_id))
        return offset_by_time(self.log, queue, timestamp_ms) if queue else 0

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
