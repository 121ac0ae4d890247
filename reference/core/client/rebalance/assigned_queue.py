"""
One queue of a group's member while it is assigned (Java: PullRequest).

Its state machines, of the lock and of orderly consumption, belong to orderly consumers
alone. A broadcasting group has no locks: there every queue counts as locked.
"""

from __future__ import annotations

from collections import deque
from enum import Enum, auto

from msgspec import Struct, field

from reference.core.client.message import MessageQueue
from reference.core.client.pull.message_ext import MessageExt
from reference.core.client.rebalance.process_queue import ProcessQueue
from reference.core.state_machine import StateMachine, Transition
from spec.routing.route_data import MASTER_ID
from spec.wire.bodies.heartbeat import SubscriptionData
from spec.wire.bodies.running_info import ProcessQueueInfo


class LockState(Enum):
    """State of a queue's lock, as the client sees it."""

    UNLOCKED = auto()
    """Not confirmed.

    Another member may still consume the queue, so nothing is pulled.
    """
    LOCKED = auto()
    """Confirmed by the broker.

    No other member gets the queue before the lock expires there.
    """
    EXPIRED = auto()
    """Not confirmed for LOCK_LIVES_MS.

    The broker may give the lock away, so no message is delivered; pulling goes on.
    """
    RELEASED = auto()
    """The queue is not assigned any more.

    A late confirmation must not lock it again.
    """


class LockEvent(Enum):
    """Events of a queue's lock."""

    CONFIRMED = auto()
    RENEWAL_REFUSED = auto()
    LIFETIME_OVER = auto()
    UNLOCK = auto()


_LOCK, _ON = LockState, LockEvent
QUEUE_LOCK_TRANSITIONS = StateMachine(
    "Rebalance lock of a queue",
    initial=LockState.UNLOCKED,
    transitions=[
        Transition(_LOCK.UNLOCKED, _ON.CONFIRMED, _LOCK.LOCKED, "LOCK_BATCH_MQ"),
        Transition(_LOCK.UNLOCKED, _ON.RENEWAL_REFUSED, _LOCK.UNLOCKED),
        Transition(_LOCK.UNLOCKED, _ON.UNLOCK, _LOCK.RELEASED),
        Transition(_LOCK.LOCKED, _ON.CONFIRMED, _LOCK.LOCKED, "every 20 s"),
        Transition(_LOCK.LOCKED, _ON.RENEWAL_REFUSED, _LOCK.UNLOCKED),
        Transition(_LOCK.LOCKED, _ON.LIFETIME_OVER, _LOCK.EXPIRED, "30 s"),
        Transition(_LOCK.LOCKED, _ON.UNLOCK, _LOCK.RELEASED, "UNLOCK_BATCH_MQ"),
        Transition(_LOCK.EXPIRED, _ON.CONFIRMED, _LOCK.LOCKED),
        Transition(_LOCK.EXPIRED, _ON.RENEWAL_REFUSED, _LOCK.UNLOCKED),
        Transition(_LOCK.EXPIRED, _ON.UNLOCK, _LOCK.RELEASED),
    ],
)


class OrderlyState(Enum):
    """State of orderly consumption of one queue."""

    IDLE = auto()
    """No message is due. Only here a pulled message may become current."""
    LOCKING = auto()
    """A message is due and the queue is not locked. It waits, and those behind it."""
    CONSUMING = auto()
    """The application has the message. The next one would overtake it."""
    SUSPENDED = auto()
    """The message failed. It is delivered again after a second, before the next one."""
    SENDING_BACK = auto()
    """The message failed too often and goes to the retry topic.

    It stays current until a broker has it.
    """


class OrderlyEvent(Enum):
    """Events of orderly consumption."""

    MESSAGE_DUE = auto()
    QUEUE_LOCKED = auto()
    LOCK_REFUSED = auto()
    CONSUMED = auto()
    FAILED = auto()
    RETRIES_EXHAUSTED = auto()
    SENT_BACK = auto()
    SEND_BACK_FAILED = auto()
    SUSPEND_OVER = auto()


_IS, _ORDERLY = OrderlyState, OrderlyEvent
ORDERLY_CONSUMPTION_TRANSITIONS = StateMachine(
    "Orderly consumption of a queue",
    initial=OrderlyState.IDLE,
    transitions=[
        Transition(_IS.IDLE, _ORDERLY.MESSAGE_DUE, _IS.LOCKING),
        Transition(_IS.LOCKING, _ORDERLY.QUEUE_LOCKED, _IS.CONSUMING),
        Transition(_IS.LOCKING, _ORDERLY.LOCK_REFUSED, _IS.LOCKING, "again in 3 s"),
        Transition(_IS.CONSUMING, _ORDERLY.CONSUMED, _IS.IDLE),
        Transition(_IS.CONSUMING, _ORDERLY.FAILED, _IS.SUSPENDED),
        Transition(_IS.CONSUMING, _ORDERLY.RETRIES_EXHAUSTED, _IS.SENDING_BACK),
        Transition(_IS.SENDING_BACK, _ORDERLY.SENT_BACK, _IS.IDLE),
        Transition(_IS.SENDING_BACK, _ORDERLY.SEND_BACK_FAILED, _IS.SUSPENDED),
        Transition(_IS.SUSPENDED, _ORDERLY.SUSPEND_OVER, _IS.LOCKING, "1 s"),
    ],
)


class AssignedQueue(Struct, kw_only=True):
    """Offsets, messages and lock of one assigned queue."""

    queue: MessageQueue
    subscription: SubscriptionData
    next_offset: int | None = None
    """The queue offset of the next pull; None before the first offset is known."""
    process_queue: ProcessQueue = field(default_factory=ProcessQueue)
    start_offset: int | None = None
    """The group's committed offset at the assignment, if it had one."""
    committed_offset: int | None = None
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
    orderly_state: OrderlyState = ORDERLY_CONSUMPTION_TRANSITIONS.initial
    lock_state: LockState = QUEUE_LOCK_TRANSITIONS.initial
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
        if QUEUE_LOCK_TRANSITIONS.is_final(self.lock_state):
            return
        self.lock_state = QUEUE_LOCK_TRANSITIONS[self.lock_state, event]
        if event is LockEvent.CONFIRMED:
            self.locked_at_ms = now_ms

    def on_orderly(self, event: OrderlyEvent) -> None:
        """Change the state of orderly consumption."""
        self.orderly_state = ORDERLY_CONSUMPTION_TRANSITIONS[self.orderly_state, event]

    def clear_messages(self) -> None:
        """Drop every pulled message that is not consumed."""
        self.process_queue = ProcessQueue()
        self.waiting.clear()
        self.current = None
        self.orderly_state = ORDERLY_CONSUMPTION_TRANSITIONS.initial

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
