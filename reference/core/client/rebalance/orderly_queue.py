"""
One queue of an orderly consumer while it is assigned: its lock and its current message.

A broadcasting group has no locks. There the lock's state is never read.
"""

from __future__ import annotations

from collections import deque
from enum import Enum, auto

from msgspec import field

from reference.core.client.pull.message_ext import MessageExt
from reference.core.client.rebalance.assigned_queue import PushQueue
from reference.core.state_machine import StateMachine, Transition


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


class OrderlyQueue(PushQueue, kw_only=True):
    """An assigned queue whose messages are consumed one at a time."""

    waiting: deque[MessageExt] = field(default_factory=deque)
    """Pulled messages behind the current one."""
    current: MessageExt | None = None
    """The message that is due or being consumed."""
    orderly_state: OrderlyState = ORDERLY_CONSUMPTION_TRANSITIONS.initial
    lock_state: LockState = QUEUE_LOCK_TRANSITIONS.initial
    locked_at_ms: int = 0
    """Time of the last confirmation of the lock."""

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
        super().clear_messages()
        self.waiting.clear()
        self.current = None
        self.orderly_state = ORDERLY_CONSUMPTION_TRANSITIONS.initial
