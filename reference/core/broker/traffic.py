"""
Traffic: how many messages and bytes, by topic and by group, lately.

Each count is sampled every 10 seconds for the last minute, every 10 minutes for the
last hour and every hour for the last day. What came before a count's first sample is
never seen. 4.6.0 org.apache.rocketmq.store.stats.BrokerStatsManager.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from reference.core.store.api import GetResult, GetStatus, PutResult
from reference.core.store.records import Found

MINUTE_SAMPLE_MS = 10_000
HOUR_SAMPLE_MS = 600_000
DAY_SAMPLE_MS = 3_600_000
PERIODS = ("minute", "hour", "day")
_SAMPLES_MAX = (7, 7, 25)

TOPIC_PUT_COUNT = "TOPIC_PUT_NUMS"
TOPIC_PUT_SIZE = "TOPIC_PUT_SIZE"
GROUP_GET_COUNT = "GROUP_GET_NUMS"
GROUP_GET_SIZE = "GROUP_GET_SIZE"
SENT_BACK_COUNT = "SNDBCK_PUT_NUMS"
BROKER_PUT_COUNT = "BROKER_PUT_NUMS"
BROKER_GET_COUNT = "BROKER_GET_NUMS"


class Rate(NamedTuple):
    """What was counted in a period."""

    total: int
    per_second: float | None
    """None while there is but one sample (Java: NaN)."""
    average: float
    """Of one event, as the messages of a batch."""

    def as_json(self) -> dict[str, object]:
        """Return it as the answer to tools spells it."""
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
        self.samples = tuple(deque[_Sample](maxlen=most) for most in _SAMPLES_MAX)

    def rate(self, period: str) -> Rate:
        """Return what was counted between the first sample of a period and the last."""
        samples = self.samples[PERIODS.index(period)]
        if not samples:
            return Rate(0, 0.0, 0.0)
        first, last = samples[0], samples[-1]
        total, times = last.value - first.value, last.times - first.times
        passed_ms = last.at_ms - first.at_ms
        per_second = total * 1000 / passed_ms if passed_ms else None
        return Rate(total, per_second, total / times if times else 0.0)


class Traffic:
    """All counts of one broker."""

    def __init__(self, cluster: str) -> None:
        self._cluster = cluster
        self._counts: dict[str, dict[str, Count]] = {}
        self._of_puts: dict[str, tuple[Count, Count, Count]] = {}
        """The counts of each topic that what is stored changes."""

    def has_put(self, topic: str, result: PutResult) -> None:
        """Count what was stored."""
        self._add_puts(topic, 1, messages=result.message_count, size=result.size)

    def has_put_row(self, stored: Sequence[Found]) -> None:
        """Count messages that were stored one by one."""
        for topic in {one.topic for one in stored}:
            sizes = [one.size for one in stored if one.topic == topic]
            self._add_puts(topic, len(sizes), messages=len(sizes), size=sum(sizes))

    def _add_puts(self, topic: str, times: int, *, messages: int, size: int) -> None:
        counts = self._of_puts.get(topic)
        if counts is None:
            counts = self._of_puts[topic] = (
                self._made(TOPIC_PUT_COUNT, topic),
                self._made(TOPIC_PUT_SIZE, topic),
                self._made(BROKER_PUT_COUNT, self._cluster),
            )
        of_messages, of_sizes, of_all = counts
        of_messages.value += messages
        of_messages.times += times
        of_sizes.value += size
        of_sizes.times += times
        of_all.value += messages

    def has_got(self, group: str, topic: str, result: GetResult) -> None:
        """Count what a group was given."""
        if result.status is GetStatus.FOUND:
            key = _key(group, topic)
            self._add(GROUP_GET_COUNT, key, result.message_count)
            self._add(GROUP_GET_SIZE, key, result.size)
            self._add(BROKER_GET_COUNT, self._cluster, result.message_count, times=0)

    def has_sent_back(self, group: str, topic: str) -> None:
        """Count what a group could not digest."""
        self._add(SENT_BACK_COUNT, _key(group, topic), 1)

    def count(self, name: str, key: str) -> Count | None:
        """Return a count by its name and key, None where nothing was counted."""
        return self._counts.get(name, {}).get(key)

    def got_per_second(self, group: str, topic: str) -> float:
        """Return the messages a second that a group was given in the last minute."""
        count = self.count(GROUP_GET_COUNT, _key(group, topic))
        return (count.rate("minute").per_second or 0.0) if count else 0.0

    def sample_minute(self, now_ms: int) -> None:
        """Sample for the last minute."""
        self._sample(0, now_ms)

    def sample_hour(self, now_ms: int) -> None:
        """Sample for the last hour."""
        self._sample(1, now_ms)

    def sample_day(self, now_ms: int) -> None:
        """Sample for the last day."""
        self._sample(2, now_ms)

    def _add(self, name: str, key: str, value: int, *, times: int = 1) -> None:
        count = self._made(name, key)
        count.value += value
        count.times += times

    def _made(self, name: str, key: str) -> Count:
        """Return a count, which begins now if there is none."""
        counts = self._counts.setdefault(name, {})
        count = counts.get(key)
        if count is None:
            count = counts[key] = Count()
        return count

    def _sample(self, period: int, now_ms: int) -> None:
        for counts in self._counts.values():
            for count in counts.values():
                sample = _Sample(now_ms, count.value, count.times)
                count.samples[period].append(sample)


def _key(group: str, topic: str) -> str:
    return f"{topic}@{group}"
