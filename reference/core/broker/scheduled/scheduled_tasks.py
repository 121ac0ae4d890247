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
from reference.core.store.statistics import SAMPLE_PERIOD_MS
from spec.store.config.config_files import CONSUMER_FILTERS_FILE, CONSUMER_OFFSETS_FILE

CLIENT_SCAN_MS = 10_000
DELIVERY_MS = 100
"""Period of the delivery of delayed messages."""
DELAY_OFFSETS_MS = 10_000
FILTERS_MS = 10_000


def start_scheduled_tasks(
    state: BrokerState, remoting: RemotingServer, now_ms: int
) -> None:
    """Persist tables, deliver delayed messages, find silent clients, check."""
    options = state.options
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
    filters.forget_dead(now_ms, state.options.filter_data_clean_time_span)
    if filters.is_dirty:
        state.store.config.save(CONSUMER_FILTERS_FILE, filters.as_json())
        filters.is_dirty = False


def _persist_delay_offsets(state: BrokerState, _: int) -> None:
    state.store.schedule_service.persist()


def _scan_clients(state: BrokerState, remoting: RemotingServer, now_ms: int) -> None:
    for connection in state.clients.silent(now_ms):
        remoting.close(connection, "the client has been silent for too long")
    for connection in state.filter_servers.silent(now_ms):
        remoting.close(connection, "the filter server has been silent for too long")


def _deliver(state: BrokerState, remoting: RemotingServer, now_ms: int) -> None:
    if state.store.deliver_delayed_messages(now_ms, remoting.log_error):
        state.has_appended = True
