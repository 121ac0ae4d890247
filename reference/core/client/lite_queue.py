"""
What a lite pull consumer is set to, and what it knows of each queue that it reads.

Java: DefaultLitePullConsumer and AssignedMessageQueue.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from reference.core.client.allocation import Allocation, averaged
from reference.core.client.backlog import USUAL_LIMITS, Backlog, Limits
from reference.core.client.message import Queue
from reference.core.client.pull_consumer import PullOptions
from spec.routing.route_data import MASTER_ID
from spec.wire.heartbeat import Subscription

LITE_SUSPEND_MS = 20_000
"""How long a broker may hold a pull (Java: brokerSuspendMaxTimeMillis)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiteOptions(PullOptions):
    """What it is set to; the defaults are those of 4.6.0.

    As there, filters see what is polled; hooks hear of what ``pull`` finds alone.
    """

    broadcasts: bool = False
    """Every member reads everything, and keeps to itself how far."""
    auto_commits: bool = True
    """Whether a poll commits, every ``periods.commit_ms``, what was polled before."""
    batch_size: int = 10
    """How many messages a pull asks for (Java: pullBatchSize)."""
    limits: Limits = USUAL_LIMITS
    """How far it pulls a queue ahead of the application."""
    ahead_max: int = 10_000
    """How many messages of all queues may wait, each pull counted as a whole batch
    (Java: pullThresholdForAll)."""
    rule: Allocation = averaged


@dataclass(slots=True, kw_only=True)
class LiteQueue:
    """One queue, for as long as it is ours."""

    queue: Queue
    subscription: Subscription
    next_offset: int | None = None
    """Where to pull next; None: where the group is, which has to be asked."""
    backlog: Backlog = field(default_factory=Backlog)
    """What was pulled and not polled."""
    polled: int | None = None
    """Up to where the application has it, once it has or sought something."""
    told: int | None = None
    """Up to where it was committed."""
    broker_id: int = MASTER_ID
    """The broker that is pulled from next."""
    is_paused: bool = False
    """Whether nothing is pulled; what was pulled can be polled still."""
    turn: int = 0
    """Counts seeks and the end: what was begun in an earlier turn comes to nothing."""
    is_dropped: bool = False
    """Whether it is not ours any more."""

    def seek(self, offset: int) -> None:
        """Go on at *offset*, without what was pulled."""
        self.turn += 1
        self.next_offset = self.polled = offset
        self.backlog = Backlog()

    def drop(self) -> None:
        """Read it no more."""
        self.turn += 1
        self.is_dropped = True
