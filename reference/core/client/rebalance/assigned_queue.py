"""One queue of a group's member while it is assigned (Java: PullRequest)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from reference.core.client.message import MessageQueue
from reference.core.client.pull.message_ext import MessageExt
from reference.core.client.rebalance.process_queue import ProcessQueue
from reference.core.client.rebalance.queue_states import (
    ORDERLY_CONSUMPTION,
    QUEUE_LOCK,
    LockEvent,
    LockState,
    OrderlyEvent,
    OrderlyState,
)
from spec.routing.route_data import MASTER_ID
from spec.wire.bodies.heartbeat import SubscriptionData
from spec.wire.bodies.running_info import ProcessQueueInfo


@dataclass(slots=True, kw_only=True)
class AssignedQueue:
    """Offsets, messages and lock of one assigned queue."""

    queue: MessageQueue
    subscription: SubscriptionData
    next_offset: int | None = None
    """The queue offset of the next pull; None before the first offset is known."""
    process_queue: ProcessQueue = field(default_factory=ProcessQueue)
    start_offset: int | None = None
    """The group's committed offset at the assignment, if it had one."""
    committed_offset: int | None = None
    """The offset of the last commit."""
    broker_id: int = MASTER_ID
    """The broker of the next pull."""
    is_suspended: bool = False
    """Whether an offset reset is due: no pull, no delivery, no commit until then."""
    is_dropped: bool = False
    """Whether the queue is not assigned any more."""
    is_paused: bool = False
    """Lite: pulling is paused; messages pulled before can be polled."""
    waiting: deque[MessageExt] = field(default_factory=deque)
    """Orderly: pulled messages behind the current one."""
    current: MessageExt | None = None
    """Orderly: the message that is due or being consumed."""
    orderly_state: OrderlyState = ORDERLY_CONSUMPTION.initial
    lock_state: LockState = QUEUE_LOCK.initial
    locked_at_ms: int = 0
    """Time of the last confirmation of the lock."""
    pulled_at_ms: int = 0
    consumed_at_ms: int = 0

    @property
    def offset(self) -> int | None:
        """The consumed offset; None if it is not known."""
        offset = self.process_queue.offset
        return self.start_offset if offset is None else offset

    @property
    def is_active(self) -> bool:
        """Whether it is assigned and not suspended."""
        return not self.is_dropped and not self.is_suspended

    @property
    def has_lock(self) -> bool:
        """Whether the lock was confirmed and not refused since."""
        return self.lock_state in (LockState.LOCKED, LockState.EXPIRED)

    def on_lock(self, event: LockEvent, now_ms: int = 0) -> None:
        """Change the state of the lock, unless the queue is not assigned any more."""
        if QUEUE_LOCK.is_final(self.lock_state):
            return
        self.lock_state = QUEUE_LOCK[self.lock_state, event]
        if event is LockEvent.CONFIRMED:
            self.locked_at_ms = now_ms

    def on_orderly(self, event: OrderlyEvent) -> None:
        """Change the state of orderly consumption."""
        self.orderly_state = ORDERLY_CONSUMPTION[self.orderly_state, event]

    def clear_messages(self) -> None:
        """Drop every pulled message that is not consumed."""
        self.process_queue = ProcessQueue()
        self.waiting.clear()
        self.current = None
        self.orderly_state = ORDERLY_CONSUMPTION.initial

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
