"""
One queue that is a consumer's: where it is read, and how far it has come.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from reference.core.client.backlog import Backlog
from reference.core.client.message import Queue
from reference.core.client.pulling import Received
from spec.routing.route_data import MASTER_ID
from spec.wire.heartbeat import Subscription
from spec.wire.running_info import QueueInHand


@dataclass(slots=True, kw_only=True)
class Share:
    """One queue, for as long as it is ours."""

    queue: Queue
    subscription: Subscription
    next_offset: int = 0
    """Where to pull next."""
    backlog: Backlog = field(default_factory=Backlog)
    committed: int | None = None
    """Where the group was when it began, if it had been there."""
    told: int | None = None
    """How far the broker was told that the queue has come."""
    broker_id: int = MASTER_ID
    """The broker that is asked next."""
    is_resting: bool = False
    """Whether it waits to go on elsewhere: nothing is pulled, handled or committed."""
    is_dropped: bool = False
    """Whether it is not ours any more."""
    waiting: deque[Received] = field(default_factory=deque)
    """In order: what was pulled and not handed out."""
    in_hand: Received | None = None
    """In order: the message that the application has, or waits to get again."""
    locked_at_ms: int | None = None
    """In order: when its lock was last confirmed; None where it is not locked."""
    pulled_at_ms: int = 0
    handled_at_ms: int = 0

    @property
    def offset(self) -> int | None:
        """How far it has come; None where nobody knows."""
        return self.committed if self.backlog.offset is None else self.backlog.offset

    @property
    def is_read(self) -> bool:
        """Whether it is ours still, and does not rest."""
        return not self.is_dropped and not self.is_resting

    def drop_what_waits(self) -> None:
        """Forget whatever was pulled and is not handled."""
        self.backlog = Backlog()
        self.waiting.clear()
        self.in_hand = None

    def state(self) -> QueueInHand:
        """Return what an administrator is told of it."""
        backlog = self.backlog
        return QueueInHand(
            commit_offset=-1 if self.offset is None else self.offset,
            cached_min_offset=backlog.first or 0,
            cached_max_offset=backlog.last or 0,
            cached_count=backlog.count,
            cached_mib=backlog.size >> 20,
            is_locked=self.locked_at_ms is not None,
            is_dropped=self.is_resting,
            pulled_at_ms=self.pulled_at_ms,
            consumed_at_ms=self.handled_at_ms,
        )
