"""
One queue that is a consumer's: where it is read, and how far it has come.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from reference.core.client.backlog import Backlog
from reference.core.client.message import Queue
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
    pulled_at_ms: int = 0
    handled_at_ms: int = 0

    @property
    def offset(self) -> int | None:
        """How far it has come; None where nobody knows."""
        return self.committed if self.backlog.offset is None else self.backlog.offset

    def state(self, *, is_locked: bool) -> QueueInHand:
        """Return what an administrator is told of it."""
        backlog = self.backlog
        return QueueInHand(
            commit_offset=-1 if self.offset is None else self.offset,
            cached_min_offset=backlog.first or 0,
            cached_max_offset=backlog.last or 0,
            cached_count=backlog.count,
            cached_mib=backlog.size >> 20,
            is_locked=is_locked,
            is_dropped=self.is_resting,
            pulled_at_ms=self.pulled_at_ms,
            consumed_at_ms=self.handled_at_ms,
        )
