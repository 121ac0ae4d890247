"""
Latency fault tolerance: a producer avoids brokers that were slow or failed.

The latency of a send gives, by a table, the time for which its broker is not available.
Java: MQFaultStrategy, LatencyFaultToleranceImpl.
"""

from __future__ import annotations

from dataclasses import dataclass

from spec.wire.producer.latency_fault import ABSENCES_MS, LATENCIES_MS

FAILED_COUNTS_AS_MS = 30_000
"""Latency assumed for a failed send."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultItem:
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
