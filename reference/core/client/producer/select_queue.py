"""
Selection of the queue for a message: round robin, away from failed brokers.

Java keeps one index per thread and starts it at random. Here the caller chooses its
start (Java: TopicPublishInfo#selectOneMessageQueue, MQFaultStrategy).
"""

from __future__ import annotations

from collections.abc import Sequence

from reference.core.client.message import MessageQueue
from reference.core.client.producer.latency_fault import LatencyFaultTolerance

_INDEX_END = 2**31


class RoundRobin:
    """An index that grows by one with each use, and stays a Java int."""

    def __init__(self, start: int = 0) -> None:
        self._next = start % _INDEX_END  # [CLIENT-SELECT-002]

    def next_index(self) -> int:
        """Return the index and increment it."""
        index = self._next
        self._next = (index + 1) % _INDEX_END
        return index


def select_queue(
    queues: Sequence[MessageQueue],
    round_robin: RoundRobin,
    *,
    last_broker: str | None = None,
) -> MessageQueue:
    """Select the next queue, of another broker than *last_broker* if there is one.

    *last_broker* is the broker of the message's last attempt.
    """
    first = round_robin.next_index()
    if last_broker is not None:
        for queue in _rotated(queues, first):
            if queue.broker_name != last_broker:  # [CLIENT-SELECT-003]
                return queue
        first = round_robin.next_index()
    return queues[first % len(queues)]  # [CLIENT-SELECT-001]


def select_available_queue(
    queues: Sequence[MessageQueue],
    round_robin: RoundRobin,
    latency_faults: LatencyFaultTolerance,
    *,
    now_ms: int,
    last_broker: str | None = None,
) -> MessageQueue:
    """Select the next queue of an available broker.

    QUIRK of 4.6.0: a retry selects an available queue only on the broker that failed.
    Without an available queue `pick_one_at_least` decides.
    """
    for queue in _rotated(queues, round_robin.next_index()):
        if last_broker is not None and queue.broker_name != last_broker:
            continue  # [CLIENT-FAULT-009]
        if latency_faults.is_available(queue.broker_name, now_ms):
            return queue
    name = latency_faults.pick_one_at_least(now_ms)
    if name is None:
        return select_queue(queues, round_robin)
    own = [queue for queue in queues if queue.broker_name == name]
    if not own:
        latency_faults.remove(name)
        return select_queue(queues, round_robin)
    round_robin.next_index()
    return own[round_robin.next_index() % len(own)]


def _rotated(queues: Sequence[MessageQueue], first: int) -> list[MessageQueue]:
    start = first % len(queues)
    return [*queues[start:], *queues[:start]]
