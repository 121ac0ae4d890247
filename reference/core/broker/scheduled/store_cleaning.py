"""
The deletion of the oldest files of a store (Java: CleanCommitLogService).

A round starts a minute after the broker and then every few seconds; the store returns
the pauses within it. Each round reads the settings again: tools may change them.
"""

from __future__ import annotations

from collections.abc import Iterator

from reference.core.broker.broker_config import BrokerOptions
from reference.core.broker.state import BrokerState
from reference.core.remoting.request import Request
from reference.core.remoting.response import Response
from reference.core.remoting.timers import Timers
from reference.core.store.cleaning import (
    FIRST_ROUND_MS,
    HOUR_MS,
    Retention,
    parse_hours,
)
from reference.core.store.message_store import MessageStore

_LEAST_RATIO, _MOST_RATIO = 10, 95
"""Bounds of diskMaxUsedSpaceRatio."""


class StoreCleaning:
    """The rounds of one store."""

    def __init__(
        self, timers: Timers, store: MessageStore, options: BrokerOptions
    ) -> None:
        self._timers = timers
        self._store = store
        self._options = options
        self._round: Iterator[int] | None = None

    def start(self, now_ms: int) -> None:
        """Start the timer: in a minute, then every cleanResourceInterval."""
        self._timers.call_every(
            self._options.clean_resource_interval,
            self._begin,
            first_ms=now_ms + FIRST_ROUND_MS,  # [STORE-CLEAN-010]
        )

    def _begin(self, now_ms: int) -> None:
        if self._round is not None:
            return
        retention = retention_of(self._options, self._store.options.zone_offset_ms)
        self._round = self._store.clean_service.delete_expired_files(retention, now_ms)
        self._go_on(now_ms)

    def _go_on(self, now_ms: int) -> None:
        """Continue the round up to its next pause."""
        assert self._round is not None
        pause_ms = None
        try:
            pause_ms = next(self._round, None)
        finally:  # a round that raises has ended
            if pause_ms is None:
                self._round = None
        if pause_ms is not None:
            self._timers.call_at(now_ms + pause_ms, self._go_on)


def delete_expired_queues(state: BrokerState, _: Request) -> Response:
    """Delete the consume queues without messages (CLEAN_EXPIRED_CONSUMEQUEUE)."""
    state.store.clean_service.delete_expired_queues()
    return Response()


def retention_of(options: BrokerOptions, zone_offset_ms: int) -> Retention:
    """Return the settings of the cleaning."""
    ratio = options.disk_max_used_space_ratio
    return Retention(
        reserved_ms=options.file_reserved_time * HOUR_MS,
        hours=parse_hours(options.delete_when),
        used_ratio_max=min(max(ratio, _LEAST_RATIO), _MOST_RATIO) / 100,
        forcing_ratio=options.disk_space_clean_forcibly_ratio,
        warning_ratio=options.disk_space_warning_level_ratio,
        may_force=options.clean_file_forcibly_enable,
        pause_ms=options.delete_commit_log_files_interval,
        queue_pause_ms=options.delete_consume_queue_files_interval,
        retry_ms=options.redelete_hanged_file_interval,
        zone_offset_ms=zone_offset_ms,
    )
