"""How often a client does by itself what it does again and again."""

from __future__ import annotations

from dataclasses import dataclass

from spec.client.liveness import HEARTBEAT_PERIOD_MS
from spec.client.ordering import LOCK_LIVES_MS, LOCK_PERIOD_MS
from spec.client.subscribing import COMMIT_PERIOD_MS
from spec.wire.producer_queues import ROUTE_PERIOD_MS


@dataclass(frozen=True, slots=True, kw_only=True)
class Periods:
    """The periods that an application may set; the defaults are those of 4.6.0."""

    route_ms: int = ROUTE_PERIOD_MS
    """Java: pollNameServerInterval."""
    heartbeat_ms: int = HEARTBEAT_PERIOD_MS
    """Java: heartbeatBrokerInterval."""
    commit_ms: int = COMMIT_PERIOD_MS
    """Java: persistConsumerOffsetInterval."""
    lock_ms: int = LOCK_PERIOD_MS
    """Java: the system property rocketmq.client.rebalance.lockInterval."""
    lock_lives_ms: int = LOCK_LIVES_MS
    """Java: the system property rocketmq.client.rebalance.lockMaxLiveTime."""


USUAL_PERIODS = Periods()
