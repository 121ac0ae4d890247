"""
The periodic tasks of a broker (Java: BrokerController, scheduledExecutorService).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from reference.core.broker.admin.broker_statistics import SAMPLE_MS
from reference.core.broker.state import BrokerState
from reference.core.broker.transaction.check import check_transactions
from reference.core.remoting.server import RemotingServer
from reference.core.store.config_files import ConfigFiles
from reference.core.store.statistics import SAMPLE_PERIOD_MS
from spec.store.config.config_files import CONSUMER_FILTERS_FILE, CONSUMER_OFFSETS_FILE

CLIENT_SCAN_MS = 10_000
DELIVERY_MS = 100
"""Period of the delivery of delayed messages."""
DELAY_OFFSETS_MS = 10_000
FILTERS_MS = 10_000


class ScheduledTasks:
    """Persist tables, deliver delayed messages, find silent clients, check."""

    def __init__(
        self, state: BrokerState, remoting: RemotingServer, config: ConfigFiles
    ) -> None:
        self._state = state
        self._remoting = remoting
        self._config = config

    def start(self, now_ms: int) -> None:
        """Start the timers."""
        state, options = self._state, self._state.options
        tasks: list[tuple[int, Callable[[int], None]]] = [
            (options.flush_consumer_offset_interval, self.persist_offsets),
            (CLIENT_SCAN_MS, self._scan_clients),
            (DELAY_OFFSETS_MS, self.persist_delay_offsets),
            (FILTERS_MS, self.persist_filters),
            (SAMPLE_PERIOD_MS, state.store.statistics.sample),
            *(
                (period_ms, partial(state.statistics.sample, period))
                for period, period_ms in SAMPLE_MS.items()
            ),
        ]
        if not state.options.is_slave:  # [HA-SLAVE-011]
            check = partial(check_transactions, state, self._remoting)
            tasks.append((DELIVERY_MS, self._deliver))
            tasks.append((options.transaction_check_interval, check))
        for period_ms, task in tasks:
            self._remoting.timers.call_every(
                period_ms, task, first_ms=now_ms + period_ms
            )

    def persist_offsets(self, now_ms: int) -> None:  # noqa: ARG002
        """Write the consumer offsets, if they have changed."""
        offsets = self._state.offsets
        if offsets.is_dirty:
            self._config.save(CONSUMER_OFFSETS_FILE, offsets.as_json())
            offsets.is_dirty = False

    def persist_delay_offsets(self, now_ms: int) -> None:  # noqa: ARG002
        """Write the offsets of the delay levels, if they have changed."""
        self._state.store.persist_delay_offsets()

    def persist_filters(self, now_ms: int) -> None:
        """Write the consumer filters, if they have changed."""
        filters, options = self._state.filters, self._state.options
        filters.forget_dead(now_ms, options.filter_data_clean_time_span)
        if filters.is_dirty:
            self._config.save(CONSUMER_FILTERS_FILE, filters.as_json())
            filters.is_dirty = False

    def _scan_clients(self, now_ms: int) -> None:
        for connection in self._state.clients.silent(now_ms):
            reason = "the client has been silent for too long"
            self._remoting.close(connection, reason)
        for connection in self._state.filter_servers.silent(now_ms):
            reason = "the filter server has been silent for too long"
            self._remoting.close(connection, reason)

    def _deliver(self, now_ms: int) -> None:
        store = self._state.store
        if store.deliver_delayed_messages(now_ms, self._remoting.log_error):
            self._state.has_appended = True
