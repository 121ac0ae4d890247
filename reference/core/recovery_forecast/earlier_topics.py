"""
Records of deleted topics, and of topics that were created again behind them.

They have no unit, and a start makes none. Nothing is lost with them.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property

from msgspec.structs import replace

from reference.core.recovery_forecast.outcome import Cause, Outcome
from reference.core.recovery_forecast.queue_state import QueueState
from reference.core.recovery_forecast.queues_state import QueuesState
from reference.core.store.commitlog.record_reader import ScannedRecord
from reference.core.store.types import Queue
from spec.store.earlier_topics import BOTH_CAUSES, may_be_created_again
from spec.wire.message.topic_names import UNLISTED_BEGINS

_DELETED = Cause(
    "its topic is neither in a queue nor in topics.json", "REC-DISPATCH-002"
)
_CREATED_AGAIN = Cause("its queue was created again after it", "REC-DISPATCH-002")
_TOPIC_CREATED_AGAIN = Cause("its topic was created again after it", "REC-DISPATCH-002")
_PERHAPS_CREATED_AGAIN = Cause(BOTH_CAUSES, "REC-DISPATCH-002")


class EarlierTopics:
    """Finds the records without a unit whose topic or queue was deleted."""

    def __init__(
        self, outcome: Outcome, queues: QueuesState, topics: Collection[str] | None
    ) -> None:
        self._outcome = outcome
        self._log = outcome.log
        self._queues = queues
        self._topics = topics
        """Topics of topics.json; empty if it was not read.

        None if a database may have them, and the consumed offsets.
        """
        self._begins: dict[Queue, int] = {}
        """By queue: the place of its first record."""
        self._created_again: dict[str, int] = {}
        """By topic: the last place at which one of its queues began again."""
        self._without_units: dict[Queue, int] = {}
        """By queue without a unit: the place of its last record."""

    def cause(
        self, place: int, record: ScannedRecord, queue: QueueState | None
    ) -> Cause | None:
        """Return why *record* at *place* needs no unit; None if it needs one."""
        if self._is_deleted(record.queue[0]):
            return _DELETED
        if queue and self._is_created_after(place, record, queue):
            return _CREATED_AGAIN
        if queue is None or queue.max_offset == 0:
            self._without_units[record.queue] = place
        return None

    def move(self) -> None:
        """Move messages of topics that were created again, or perhaps, behind them.

        A deletion destroys all queues of a topic (5.3.3
        store.DefaultMessageStore#deleteTopics). Some get no message afterwards, or
        none of them does.
        """
        found = self._outcome
        gone = {
            queue
            for queue, place in self._without_units.items()
            if place < self._created_again.get(queue[0], 0)
        }
        listed, consumed = self._topics, {one.topic for one in found.offsets}
        if listed is None:
            listed, consumed = {one.topic for one in found.invisible}, set()
        perhaps = may_be_created_again(
            listed=listed,
            queued=self._queued,
            consumed=consumed,
            emptied=self._queues.emptied,
        )
        for one in [*found.invisible]:
            is_gone = (one.topic, one.queue_id) in gone
            if is_gone or one.topic in perhaps:
                found.invisible.remove(one)
                cause = _TOPIC_CREATED_AGAIN if is_gone else _PERHAPS_CREATED_AGAIN
                found.of_deleted_topics.append(replace(one, cause=cause))

    def _is_deleted(self, topic: str) -> bool:
        """Return whether *topic* was deleted: topics.json and queues did not have it.

        Its messages stay in the log until their files expire (5.3.3
        store.DefaultMessageStore#deleteTopics). A start dispatches the last of them.
        """
        if not self._topics or topic in self._topics:
            return False
        return not topic.startswith(UNLISTED_BEGINS) and topic not in self._queued

    def _is_created_after(
        self, place: int, record: ScannedRecord, queue: QueueState
    ) -> bool:
        """Return whether *queue* was deleted and created again behind *record*.

        Its first unit then points behind the record, at one that counts from the begin.
        """
        if queue.name not in self._begins:
            self._begins[queue.name] = self._begin_of(queue)
        begin = self._begins[queue.name]
        is_before = record.queue_offset >= queue.min_offset and place < begin
        if is_before:
            topic = queue.name[0]
            self._created_again[topic] = max(begin, self._created_again.get(topic, 0))
        return is_before

    def _begin_of(self, queue: QueueState) -> int:
        """Return the place of the first record of *queue*, -1 with another number."""
        unit = queue.unit(queue.min_offset)
        record = self._log.record_at(unit[0]) if unit else None
        if unit is None or record is None or record.queue != queue.name:
            return -1
        return unit[0] if record.queue_offset == queue.min_offset else -1

    @cached_property
    def _queued(self) -> frozenset[str]:
        """Topics with files of queues before the start."""
        return frozenset(queue.name[0] for queue in self._queues if queue.had_files)
