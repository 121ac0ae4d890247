"""
Statistics of a store: counters of puts and gets, and rates (Java: StoreStatsService).

Counters start at 0. Rates are computed from one sample each second. The rate of the
last 10, 60 or 600 seconds requires more samples than that.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import NamedTuple

from reference.core.store.types import GetMessageResult, GetMessageStatus, PutResult

SAMPLE_PERIOD_MS = 1_000
SPANS = (10, 60, 600)
"""Samples between the ends of each rate."""


class Sample(NamedTuple):
    """The counts at one time."""

    at_ms: int
    put: int
    found: int
    missed: int
    transferred: int


class Statistics:
    """Counts and rates of one store.

    4.6.0 org.apache.rocketmq.store.StoreStatsService.
    """

    def __init__(self) -> None:
        self.put_calls = 0
        """Successful puts; a batch counts once."""
        self.put_count = 0
        """Stored messages; each message of a batch counts."""
        self.put_size = 0
        """Bytes of all records stored."""
        self.found_count = 0
        """Gets that found a message."""
        self.missed_count = 0
        self.transferred_count = 0
        """Messages returned by gets."""
        self._samples: deque[Sample] = deque(maxlen=max(SPANS) + 1)

    def on_append(self, results: Sequence[PutResult]) -> None:
        """Count the stored messages and batches among *results*."""
        for result in results:
            if result.physical_offset >= 0:
                self.put_calls += 1
                self.put_count += len(result.record_offsets)
                self.put_size += result.size

    def on_get(self, result: GetMessageResult) -> None:
        """Count one get and its messages."""
        if result.status is GetMessageStatus.FOUND:
            self.found_count += 1
            self.transferred_count += len(result.records)
        else:
            self.missed_count += 1

    def sample(self, now_ms: int) -> None:
        """Add a sample of the counters, for the rates."""
        sample = Sample(
            at_ms=now_ms,
            put=self.put_count,
            found=self.found_count,
            missed=self.missed_count,
            transferred=self.transferred_count,
        )
        self._samples.append(sample)

    def rates(self, count: str) -> str:
        """Return the rates of a count of `Sample` a second.

        A rate without enough samples is empty.
        """
        rates = [self._rate(attrgetter(count), span) for span in SPANS]
        return " ".join("" if rate is None else str(rate) for rate in rates)

    def read_rates(self) -> str:
        """Return gets a second; a rate without enough samples is 0.0."""
        rates = [self._rate(lambda one: one.found + one.missed, span) for span in SPANS]
        return " ".join(str(rate or 0.0) for rate in rates)

    def _rate(self, count: Callable[[Sample], int], span: int) -> float | None:
        if len(self._samples) <= span:
            return None
        last, before = self._samples[-1], self._samples[-1 - span]
        return (count(last) - count(before)) / max(last.at_ms - before.at_ms, 1) * 1000
