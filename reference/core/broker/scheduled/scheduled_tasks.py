"""
The periodic tasks of a broker (Java: BrokerController, scheduledExecutorService).

A round of cleaning starts a minute after the broker and then every few seconds. The
store returns the pauses within it (Java: CleanCommitLogService).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from reference.core.broker.admin.broker_statistics import SAMPLE_MS
from reference.core.broker.state import BrokerState
from reference.core.broker.transaction.check import (
    check_transactions,
    correct_check_offsets,
)
from reference.core.remoting.server import RemotingServer
from reference.core.remoting.timers import Timers
from reference.core.store.cleaning import (
    FIRST_ROUND_MS,
    HOUR_MS,
    Retention,
    parse_hours,
)
from reference.core.store.statistics import SAMPLE_PERIOD_MS
from spec.store.config.config_files import CONSUMER_FILTERS_FILE, CONSUMER_OFFSETS_FILE

CLIENT_SCAN_MS = 10_000
DELIVERY_MS = 100
"""Period of the delivery of delayed messages."""
DELAY_OFFSETS_MS = 10_000
FILTERS_MS = 10_000
_LEAST_RATIO, _MOST_RATIO = 10, 95
"""Bounds of diskMaxUsedSpaceRatio."""


def start_scheduled_tasks(
    state: BrokerState, remoting: RemotingServer, now_ms: int
) -> None:
    """Persist tables, deliver delayed messages, find silent clients, check, clean."""
    options = state.options
    StoreCleaning(state, remoting.timers).start(now_ms)
    tasks: list[tuple[int, Callable[[int], None]]] = [
        (options.flush_consumer_offset_interval, partial(persist_offsets, state)),
        (CLIENT_SCAN_MS, partial(_scan_clients, state, remoting)),
        (DELAY_OFFSETS_MS, partial(_persist_delay_offsets, state)),
        (FILTERS_MS, partial(persist_filters, state)),
        (SAMPLE_PERIOD_MS, state.store.statistics.sample),
        *(
            (period_ms, partial(state.statistics.sample, period))
            for period, period_ms in SAMPLE_MS.items()
        ),
    ]
    if not options.is_slave:  # [HA-SLAVE-011]
        correct_check_offsets(state)
        check = partial(check_transactions, state, remoting)
        tasks.append((DELIVERY_MS, partial(_deliver, state, remoting)))
        tasks.append((options.transaction_check_interval, check))
    for period_ms, task in tasks:
        remoting.timers.call_every(period_ms, task, first_ms=now_ms + period_ms)


def persist_offsets(state: BrokerState, _: int) -> None:
    """Write the consumer offsets, if they have changed."""
    if state.offsets.is_dirty:
        state.store.config.save(CONSUMER_OFFSETS_FILE, state.offsets.as_json())
        state.offsets.is_dirty = False


def persist_filters(state: BrokerState, now_ms: int) -> None:
    """Write the consumer filters, if they have changed."""
    filters = state.filters
    filters.remove_dead(now_ms, state.options.filter_data_clean_time_span)
    if filters.is_dirty:
        state.store.config.save(CONSUMER_FILTERS_FILE, filters.as_json())
        filters.is_dirty = False


def _persist_delay_offsets(state: BrokerState, _: int) -> None:
    state.store.schedule_service.persist()


def _scan_clients(state: BrokerState, remoting: RemotingServer, now_ms: int) -> None:
    for connection in state.clients.not_active(now_ms):
        remoting.close(connection, "the client has been silent for too long")


def _deliver(state: BrokerState, remoting: RemotingServer, now_ms: int) -> None:
    if state.store.deliver_delayed_messages(now_ms, remoting.log_error):
        state.has_appended = True


class StoreCleaning:
    """The rounds of cleaning of one store.

    Each round reads the settings again: tools may change them.
    """

    def __init__(self, state: BrokerState, timers: Timers) -> None:
        self._timers = timers
        self._store = state.store
        self._options = state.options
        self._round: Iterator[int] | None = None

    def start(self, now_ms: int) -> None:
        """Start the timer: in a minute, then every cleanResourceInterval."""
        self._timers.call_every(
            self._options.clean_resource_interval,
            self._begin_round,
            first_ms=now_ms + FIRST_ROUND_MS,  # [STORE-CLEAN-010]
        )

    def _begin_round(self, now_ms: int) -> None:
        if self._round is not None:
            return
        options, store = self._options, self._store
        ratio = options.disk_max_used_space_ratio
        retention = Retention(
            reserved_ms=options.file_reserved_time * HOUR_MS,
            hours=parse_hours(options.delete_when),
            used_ratio_max=min(max(ratio, _LEAST_RATIO), _MOST_RATIO) / 100,
            forcing_ratio=options.disk_space_clean_forcibly_ratio,
            warning_ratio=options.disk_space_warning_level_ratio,
            may_force=options.clean_file_forcibly_enable,
            pause_ms=options.delete_commit_log_files_interval,
            queue_pause_ms=options.delete_consume_queue_files_interval,
            retry_ms=options.redelete_hanged_file_interval,
            zone_offset_ms=store.options.zone_offset_ms,
        )
        self._round = store.clean_service.delete_expired_files(retention, now_ms)
        self._continue_round(now_ms)

    def _continue_round(self, now_ms: int) -> None:
        """Continue the round up to its next pause."""
        assert self._round is not None
        pause_ms = None
        try:
            pause_ms = next(self._round, None)
        finally:  # a round that raises has ended
            if pause_ms is None:
                self._round = None
        if pause_ms is not None:
            self._timers.call_at(now_ms + pause_ms, self._continue_round)
