"""
Counts of messages and bytes by topic and by group (Java: BrokerStatsManager).

Each count is sampled every 10 seconds for the last minute, every 10 minutes for the
last hour and every hour for the last day. The first sample is the zero of its period.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from reference.core.store.types import (
    GetMessageResult,
    GetMessageStatus,
    PutResult,
)

SAMPLE_MS = {"minute": 10_000, "hour": 600_000, "day": 3_600_000}
"""Time between two samples of each period."""
_SAMPLES_MAX = {"minute": 7, "hour": 7, "day": 25}

TOPIC_PUT_COUNT = "TOPIC_PUT_NUMS"
TOPIC_PUT_SIZE = "TOPIC_PUT_SIZE"
GROUP_GET_COUNT = "GROUP_GET_NUMS"
GROUP_GET_SIZE = "GROUP_GET_SIZE"
SENT_BACK_COUNT = "SNDBCK_PUT_NUMS"
BROKER_PUT_COUNT = "BROKER_PUT_NUMS"
BROKER_GET_COUNT = "BROKER_GET_NUMS"


class Rate(NamedTuple):
    """A count within a period."""

    total: int
    per_second: float | None
    """None while there is but one sample (Java: NaN)."""
    average: float
    """Average per event, such as messages per batch."""

    def as_json(self) -> dict[str, object]:
        """Return the JSON object of responses to tools."""
        return {"avgpt": self.average, "sum": self.total, "tps": self.per_second}


class _Sample(NamedTuple):
    at_ms: int
    value: int
    times: int


class Count:
    """One count, and its samples by period."""

    __slots__ = ("samples", "times", "value")

    def __init__(self) -> None:
        self.value = 0
        self.times = 0
        self.samples = {
            period: deque[_Sample](maxlen=most) for period, most in _SAMPLES_MAX.items()
        }

    def rate(self, period: str) -> Rate:
        """Return the count between the first and the last sample of a period."""
        samples = self.samples[period]
        if not samples:
            return Rate(0, 0.0, 0.0)
        first, last = samples[0], samples[-1]
        total, times = last.value - first.value, last.times - first.times
        passed_ms = last.at_ms - first.at_ms
        per_second = total * 1000 / passed_ms if passed_ms else None
        return Rate(total, per_second, total / times if times else 0.0)


class BrokerStatistics:
    """All counts of one broker."""

    def __init__(self, cluster: str) -> None:
        self._cluster = cluster
        self._counts: dict[str, dict[str, Count]] = {}
        self._put_counts: dict[str, tuple[Count, Count, Count]] = {}
        self._get_counts: dict[tuple[str, str], tuple[Count, Count, Count]] = {}
        self.uncounted: list[Sequence[PutResult]] = []
        """Puts for `count_puts`, so that no response waits until they are counted."""

    def count_puts(self) -> None:
        """Count the messages that were stored.

        A delayed message counts for the schedule topic, as in 4.6.0, where
        CommitLog#putMessage changes the topic of the message itself.
        """
        stored: dict[str, list[PutResult]] = {}
        for results in self.uncounted:
            for result in results:
                if result.physical_offset >= 0:
                    stored.setdefault(result.topic, []).append(result)
        self.uncounted.clear()
        for topic, of_topic in stored.items():
            counts = self._put_counts.get(topic)
            if counts is None:
                counts = self._put_counts[topic] = (
                    self._made(TOPIC_PUT_COUNT, topic),
                    self._made(TOPIC_PUT_SIZE, topic),
                    self._made(BROKER_PUT_COUNT, self._cluster),
                )
            message_count, size, all_count = counts
            added = sum([len(result.record_offsets) for result in of_topic])
            message_count.value += added
            message_count.times += len(of_topic)
            size.value += sum([result.size for result in of_topic])
            size.times += len(of_topic)
            all_count.value += added

    def on_get(self, group: str, topic: str, result: GetMessageResult) -> None:
        """Count the messages that a group has pulled."""
        if result.status is not GetMessageStatus.FOUND:
            return
        counts = self._get_counts.get((group, topic))
        if counts is None:
            counts = self._get_counts[group, topic] = (
                self._made(GROUP_GET_COUNT, _key(group, topic)),
                self._made(GROUP_GET_SIZE, _key(group, topic)),
                self._made(BROKER_GET_COUNT, self._cluster),
            )
        message_count, size, all_count = counts
        found = len(result.records)
        message_count.value += found
        message_count.times += 1
        size.value += result.size
        size.times += 1
        all_count.value += found

    def on_send_back(self, group: str, topic: str) -> None:
        """Count a message that a group has sent back."""
        count = self._made(SENT_BACK_COUNT, _key(group, topic))
        count.value += 1
        count.times += 1

    def count(self, name: str, key: str) -> Count | None:
        """Return a count by its name and key, or None."""
        self.count_puts()
        return self._counts.get(name, {}).get(key)

    def pulled_per_second(self, group: str, topic: str) -> float:
        """Return the messages per second that a group has pulled in the last minute."""
        count = self.count(GROUP_GET_COUNT, _key(group, topic))
        return (count.rate("minute").per_second or 0.0) if count else 0.0

    def sample(self, period: str, now_ms: int) -> None:
        """Add a sample of every count for a period."""
        self.count_puts()
        for counts in self._counts.values():
            for count in counts.values():
                sample = _Sample(now_ms, count.value, count.times)
                count.samples[period].append(sample)

    def _made(self, name: str, key: str) -> Count:
        """Return a count, created where it does not exist."""
        counts = self._counts.setdefault(name, {})
        count = counts.get(key)
        if count is None:
            count = counts[key] = Count()
        return count


def _key(group: str, topic: str) -> str:
    return f"{topic}@{group}"
