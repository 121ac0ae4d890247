"""
What a broker does now and then without being asked: keep offsets, deliver what was
delayed, look for silent clients, ask about transactions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from reference.core.broker.store_cleaning import StoreCleaning
from reference.core.broker.traffic import (
    DAY_SAMPLE_MS,
    HOUR_SAMPLE_MS,
    MINUTE_SAMPLE_MS,
)
from reference.core.broker.transaction_check import check_transactions
from reference.core.service import IDLE_SCAN_MS
from reference.core.store.config_files import (
    CONSUMER_FILTERS,
    CONSUMER_OFFSETS,
    ConfigFiles,
)
from reference.core.store.statistics import SAMPLE_PERIOD_MS

if TYPE_CHECKING:
    from reference.core.broker.broker import Broker

HOLD_CHECK_MS = 5_000
"""How often a held pull is tried again for messages that it may not want."""
CLIENT_SCAN_MS = 10_000
DELIVERY_MS = 100
"""How often delayed messages are looked for."""
DELAY_OFFSETS_MS = 10_000
FILTERS_MS = 10_000


class Housekeeping:
    """The broker's own business."""

    def __init__(self, broker: Broker, config: ConfigFiles) -> None:
        self._broker = broker
        self._config = config
        self._cleaning = StoreCleaning(broker)

    def start(self, now_ms: int) -> None:
        """Begin."""
        number = self._broker.options.number
        jobs: list[tuple[int, Callable[[int], None]]] = [
            (number("flushConsumerOffsetInterval"), self.keep_offsets),
            (HOLD_CHECK_MS, self._broker.check_held),
            (CLIENT_SCAN_MS, self._scan_clients),
            (IDLE_SCAN_MS, self._broker.close_idle),
            (DELAY_OFFSETS_MS, self._keep_delay_offsets),
            (FILTERS_MS, self.keep_filters),
            (SAMPLE_PERIOD_MS, self._broker.store.statistics.sample),
            (MINUTE_SAMPLE_MS, self._broker.traffic.sample_minute),
            (HOUR_SAMPLE_MS, self._broker.traffic.sample_hour),
            (DAY_SAMPLE_MS, self._broker.traffic.sample_day),
        ]
        if not self._broker.options.is_slave:  # [HA-SLAVE-011]
            check = partial(check_transactions, self._broker)
            jobs.append((DELIVERY_MS, self._deliver))
            jobs.append((number("transactionCheckInterval"), check))
        self._cleaning.start(now_ms)
        for period_ms, job in jobs:
            self._broker.schedule.every(period_ms, job, first_ms=now_ms + period_ms)

    def keep_offsets(self, now_ms: int) -> None:  # noqa: ARG002
        """Write how far consumers are, if that has changed."""
        offsets = self._broker.offsets
        if offsets.is_dirty:
            self._config.save(CONSUMER_OFFSETS, offsets.as_json())
            offsets.is_dirty = False

    def keep_filters(self, now_ms: int) -> None:
        """Write who selects what by expression, if that has changed."""
        filters, options = self._broker.filters, self._broker.options
        filters.forget_dead(now_ms, options.number("filterDataCleanTimeSpan"))
        if filters.is_dirty:
            self._config.save(CONSUMER_FILTERS, filters.as_json())
            filters.is_dirty = False

    def _keep_delay_offsets(self, now_ms: int) -> None:  # noqa: ARG002
        self._broker.store.save_delay_offsets()

    def _scan_clients(self, now_ms: int) -> None:
        broker = self._broker
        for connection in broker.clients.silent(now_ms):
            broker.close(connection, "the client has been silent for too long")
        for connection in broker.filter_servers.silent(now_ms):
            broker.close(connection, "the filter server has been silent for too long")

    def _deliver(self, now_ms: int) -> None:
        for result in self._broker.store.deliver_due(now_ms):
            self._broker.stored(result)
