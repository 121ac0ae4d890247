"""
When a broker gives up the oldest files of its store, and by which settings.

A minute after the start, and every few seconds from then on, it begins a round; the
store says how long to pause in it. The settings are read anew each time, because
tools may change them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from reference.core.answer import Answer
from reference.core.broker.options import BrokerOptions, OptionError
from reference.core.request import Request
from reference.core.store.retention import (
    FIRST_ROUND_MS,
    HOUR_MS,
    Retention,
    hours_of,
)

if TYPE_CHECKING:
    from reference.core.broker.broker import Broker

FORCING_RATIO = "rocketmq.broker.diskSpaceCleanForciblyRatio"
WARNING_RATIO = "rocketmq.broker.diskSpaceWarningLevelRatio"
"""4.6.0 takes these two as properties of the Java process."""
_DEFAULT = Retention()
_LEAST_RATIO, _MOST_RATIO = 10, 95
"""What diskMaxUsedSpaceRatio is kept between."""


class StoreCleaning:
    """The rounds of one broker's store."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._round: Iterator[int] | None = None

    def start(self, now_ms: int) -> None:
        """Begin a minute from now, and then at every cleanResourceInterval."""
        self._broker.schedule.every(
            self._broker.options.number("cleanResourceInterval"),
            self._begin,
            first_ms=now_ms + FIRST_ROUND_MS,  # [STORE-CLEAN-010]
        )

    def _begin(self, now_ms: int) -> None:
        if self._round is not None:
            return
        store = self._broker.store
        try:
            retention = retention_of(self._broker.options, store.options.zone_offset_ms)
        except OptionError:
            return  # a tool has set what is no number: not now
        self._round = store.cleaner.round(retention, now_ms)
        self._go_on(now_ms)

    def _go_on(self, now_ms: int) -> None:
        """Let the round go on to its next pause."""
        assert self._round is not None
        pause_ms = next(self._round, None)
        if pause_ms is None:
            self._round = None
        else:
            self._broker.schedule.at(now_ms + pause_ms, self._go_on)


def delete_expired_queues(broker: Broker, _: Request) -> Answer:
    """Delete the queues that have no message any more."""
    broker.store.cleaner.delete_expired_queues()
    return Answer()


def retention_of(options: BrokerOptions, zone_offset_ms: int) -> Retention:
    """Return what *options* say about the cleaning."""
    ratio = options.number("diskMaxUsedSpaceRatio")
    return Retention(
        reserved_ms=options.number("fileReservedTime") * HOUR_MS,
        hours=hours_of(options.settings["deleteWhen"]),
        used_ratio_max=min(max(ratio, _LEAST_RATIO), _MOST_RATIO) / 100,
        forcing_ratio=_ratio(options, FORCING_RATIO, _DEFAULT.forcing_ratio),
        warning_ratio=_ratio(options, WARNING_RATIO, _DEFAULT.warning_ratio),
        may_force=options.truth("cleanFileForciblyEnable"),
        pause_ms=options.number("deleteCommitLogFilesInterval"),
        queue_pause_ms=options.number("deleteConsumeQueueFilesInterval"),
        retry_ms=options.number("redeleteHangedFileInterval"),
        zone_offset_ms=zone_offset_ms,
    )


def _ratio(options: BrokerOptions, name: str, default: float) -> float:
    value = options.settings.get(name, default)
    try:
        return float(value)
    except ValueError:
        raise OptionError(f"{name} is {value!r}, which is no number") from None
