"""
What a producer remembers of slow and failed brokers, where it was asked to.

How long a send took is looked up in a table; for so long its broker is passed over.
The article on the send path and 4.6.0 differ in details; see the clauses.
"""

from __future__ import annotations

from dataclasses import dataclass

from spec.wire.producer_faults import ABSENCES_MS, LATENCIES_MS

FAILED_COUNTS_AS_MS = 30_000
"""What a failed send is looked up as, however long it took."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What the last send to a broker was like."""

    latency_ms: int
    available_at_ms: int
    """When messages may go there again (Java: startTimestamp)."""


def absence_ms(latency_ms: int, *, failed: bool = False) -> int:
    """Return for how long a broker is passed over after a send of *latency_ms*."""
    shown = FAILED_COUNTS_AS_MS if failed else latency_ms  # [CLIENT-FAULT-005]
    absence = 0  # [CLIENT-FAULT-004]
    for least_ms, found_ms in zip(LATENCIES_MS, ABSENCES_MS, strict=True):
        if shown >= least_ms:  # [CLIENT-FAULT-002]
            absence = found_ms
    return absence


class FaultTable:
    """The last send to every broker, by its name."""

    def __init__(self) -> None:
        self._faults: dict[str, Fault] = {}
        self._picked = 0

    def note(
        self, broker_name: str, latency_ms: int, *, now_ms: int, failed: bool = False
    ) -> None:
        """Remember that a send took *latency_ms*; only the last one counts."""
        available_at_ms = now_ms + absence_ms(latency_ms, failed=failed)
        fault = Fault(latency_ms=latency_ms, available_at_ms=available_at_ms)
        self._faults[broker_name] = fault  # [CLIENT-FAULT-008]

    def forget(self, broker_name: str) -> None:
        """Forget *broker_name*, which then counts as available."""
        self._faults.pop(broker_name, None)

    def is_available(self, broker_name: str, now_ms: int) -> bool:
        """Return whether a message may go to *broker_name* at *now_ms*."""
        fault = self._faults.get(broker_name)
        return fault is None or now_ms >= fault.available_at_ms  # [CLIENT-FAULT-007]

    def least_bad(self, now_ms: int) -> str | None:
        """Return one of the better half of the brokers (Java: pickOneAtLeast).

        Every call returns the next of them. Java shuffles those that are equal; here
        they stand by name.
        """
        if not self._faults:
            return None
        ranked = sorted(self._faults, key=lambda name: self._rank(name, now_ms))
        half = len(ranked) // 2  # [CLIENT-FAULT-011]
        if half == 0:
            return ranked[0]
        self._picked += 1
        return ranked[self._picked % half]

    def _rank(self, broker_name: str, now_ms: int) -> tuple[bool, int, int, str]:
        fault = self._faults[broker_name]
        is_away = now_ms < fault.available_at_ms
        return is_away, fault.latency_ms, fault.available_at_ms, broker_name
