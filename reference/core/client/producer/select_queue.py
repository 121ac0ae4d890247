"""
Selection of the queue for a message: round robin, away from failed brokers.

Java keeps one index per topic and thread, and starts it at random. Here the caller
chooses its start (Java: TopicPublishInfo#selectOneMessageQueue).

Latency fault tolerance avoids brokers that were slow or failed. The latency of a send
gives, by a table, the time for which its broker is not available (Java:
MQFaultStrategy, LatencyFaultToleranceImpl).
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from reference.core.client.message import MessageQueue
from spec.wire.producer.latency_fault import ABSENCES_MS, LATENCIES_MS

FAILED_COUNTS_AS_MS = 30_000
"""Latency assumed for a failed send."""
_INDEX_END = 2**31


class FaultItem(Struct, frozen=True, kw_only=True):
    """The last send to a broker (Java: FaultItem)."""

    latency_ms: int
    available_at_ms: int
    """Java: startTimestamp."""


def not_available_duration_ms(latency_ms: int, *, failed: bool = False) -> int:
    """Return for how many ms a broker is avoided after a send of *latency_ms*."""
    shown = FAILED_COUNTS_AS_MS if failed else latency_ms  # [CLIENT-FAULT-005]
    duration = 0  # [CLIENT-FAULT-004]
    for least_ms, duration_ms in zip(LATENCIES_MS, ABSENCES_MS, strict=True):
        if shown >= least_ms:  # [CLIENT-FAULT-002]
            duration = duration_ms
    return duration


class LatencyFaultTolerance:
    """The fault item of every broker, by its name."""

    def __init__(self) -> None:
        self._items: dict[str, FaultItem] = {}
        self._picked = 0

    def update_fault_item(
        self, broker_name: str, latency_ms: int, *, now_ms: int, failed: bool = False
    ) -> None:
        """Replace the broker's item after a send."""
        duration_ms = not_available_duration_ms(latency_ms, failed=failed)
        item = FaultItem(latency_ms=latency_ms, available_at_ms=now_ms + duration_ms)
        self._items[broker_name] = item  # [CLIENT-FAULT-008]

    def remove(self, broker_name: str) -> None:
        """Remove the item of *broker_name*, which makes it available."""
        self._items.pop(broker_name, None)

    def is_available(self, broker_name: str, now_ms: int) -> bool:
        """Return whether *broker_name* may get a message at *now_ms*."""
        item = self._items.get(broker_name)
        return item is None or now_ms >= item.available_at_ms  # [CLIENT-FAULT-007]

    def pick_one_at_least(self, now_ms: int) -> str | None:
        """Return the next broker from the better half (Java: pickOneAtLeast).

        Java shuffles equal items; here they are sorted by name.
        """
        if not self._items:
            return None
        ranked = sorted(self._items, key=lambda name: self._rank(name, now_ms))
        half = len(ranked) // 2  # [CLIENT-FAULT-011]
        if half == 0:
            return ranked[0]
        self._picked += 1
        return ranked[self._picked % half]

    def _rank(self, broker_name: str, now_ms: int) -> tuple[bool, int, int, str]:
        item = self._items[broker_name]
        is_away = now_ms < item.available_at_ms
        return is_away, item.latency_ms, item.available_at_ms, broker_name


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
