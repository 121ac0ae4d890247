"""
What a store counts while it runs: messages put and got, and how many a second.

Counts begin at 0 with each start. Rates come from samples, one a second: the rate of
the last 10, 60 or 600 seconds is known once there are more samples than that.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from reference.core.store.types import GetMessageResult, GetMessageStatus, PutResult

SAMPLE_PERIOD_MS = 1_000
SPANS = (10, 60, 600)
"""Samples that each rate reaches back."""


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
        """Puts that were stored, a batch counted once."""
        self.put_count = 0
        """Messages stored, those of a batch counted one by one."""
        self.put_size = 0
        """Bytes of all records stored."""
        self.found_count = 0
        """Reads that found something."""
        self.missed_count = 0
        self.transferred_count = 0
        """Messages handed out."""
        self._samples: deque[Sample] = deque(maxlen=max(SPANS) + 1)

    def on_append(self, results: Sequence[PutResult]) -> None:
        """Count the stored messages and batches among *results*."""
        for result in results:
            if result.physical_offset >= 0:
                self.put_calls += 1
                self.put_count += result.message_count
                self.put_size += result.size

    def on_get(self, result: GetMessageResult) -> None:
        """Count what was read."""
        if result.status is GetMessageStatus.FOUND:
            self.found_count += 1
            self.transferred_count += len(result.records)
        else:
            self.missed_count += 1

    def sample(self, now_ms: int) -> None:
        """Note the counts as they are, for the rates."""
        self._samples.append(
            Sample(
                now_ms,
                self.put_count,
                self.found_count,
                self.missed_count,
                self.transferred_count,
            )
        )

    def put_rates(self) -> str:
        """Return messages put a second; a rate that is not known yet is empty."""
        return self._rates(lambda sample: sample.put)

    def found_rates(self) -> str:
        """Return successful reads a second."""
        return self._rates(lambda sample: sample.found)

    def missed_rates(self) -> str:
        """Return reads a second that found nothing."""
        return self._rates(lambda sample: sample.missed)

    def transferred_rates(self) -> str:
        """Return messages handed out a second."""
        return self._rates(lambda sample: sample.transferred)

    def read_rates(self) -> str:
        """Return reads a second; one that is not known yet is 0.0."""
        rates = [self._rate(lambda s: s.found + s.missed, span) for span in SPANS]
        return " ".join(str(rate or 0.0) for rate in rates)

    def _rates(self, count: Callable[[Sample], int]) -> str:
        rates = [self._rate(count, span) for span in SPANS]
        return " ".join("" if rate is None else str(rate) for rate in rates)

    def _rate(self, count: Callable[[Sample], int], span: int) -> float | None:
        if len(self._samples) <= span:
            return None
        last, before = self._samples[-1], self._samples[-1 - span]
        return (count(last) - count(before)) / max(last.at_ms - before.at_ms, 1) * 1000
