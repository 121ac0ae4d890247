"""
One queue of a group's member while it is assigned (Java: PullRequest).

`OrderlyQueue` is that of an orderly consumer, `LiteQueue` that of a lite pull consumer.
"""

from __future__ import annotations

from msgspec import Struct, field

from reference.core.client.message import MessageQueue
from reference.core.client.rebalance.process_queue import ProcessQueue
from spec.routing.route_data import MASTER_ID
from spec.wire.bodies.heartbeat import SubscriptionData
from spec.wire.bodies.running_info import ProcessQueueInfo


class AssignedQueue(Struct, kw_only=True):
    """Offsets and messages of one assigned queue."""

    queue: MessageQueue
    subscription: SubscriptionData
    next_offset: int | None = None
    """The queue offset of the next pull; None before the first offset is known."""
    process_queue: ProcessQueue = field(default_factory=ProcessQueue)
    committed_offset: int | None = None
    """The offset of the last commit; None before one, and after one that failed."""
    broker_id: int = MASTER_ID
    """The broker of the next pull."""
    pulled_at_ms: int = 0
    is_dropped: bool = False
    """Whether the queue is not assigned any more."""

    @property
    def is_active(self) -> bool:
        """Whether it is pulled."""
        return not self.is_dropped


class PushQueue(AssignedQueue, kw_only=True):
    """An assigned queue whose messages a listener consumes."""

    start_offset: int | None = None
    """The group's committed offset at the assignment, if it had one."""
    is_suspended: bool = False
    """Whether an offset reset is due: no pull, no delivery, no commit until then."""
    consumed_at_ms: int = 0

    @property
    def is_active(self) -> bool:
        """Whether it is assigned and not suspended."""
        return not self.is_dropped and not self.is_suspended

    @property
    def offset(self) -> int | None:
        """The consumed offset; None if it is not known."""
        offset = self.process_queue.offset
        return self.start_offset if offset is None else offset

    @property
    def has_lock(self) -> bool:
        """Whether a broker has locked it for this consumer; only orderly ones lock."""
        return False

    def clear_messages(self) -> None:
        """Drop every pulled message that is not consumed."""
        self.process_queue = ProcessQueue()

    def running_info(self) -> ProcessQueueInfo:
        """Return its part of GET_CONSUMER_RUNNING_INFO (Java: ProcessQueueInfo)."""
        process_queue = self.process_queue
        return ProcessQueueInfo(
            commit_offset=-1 if self.offset is None else self.offset,
            cached_min_offset=process_queue.first or 0,
            cached_max_offset=process_queue.last or 0,
            cached_count=process_queue.count,
            cached_mib=process_queue.size >> 20,
            is_locked=self.has_lock,
            is_dropped=self.is_suspended,
            pulled_at_ms=self.pulled_at_ms,
            consumed_at_ms=self.consumed_at_ms,
        )
