"""
A commit log that a failover has cut, as a broker in controller mode leaves it.

A slave drops what the new master's log does not have. The bytes stay in the file until
records of the new master take their place. So do units in the queues, and items in the
index stay for ever. What lies behind the log's end is then older than what lies before.

5.3.3 org.apache.rocketmq.store.ha.autoswitch.AutoSwitchHAClient#doTruncate,
org.apache.rocketmq.store.MappedFileQueue#truncateDirtyFiles.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Stretch(NamedTuple):
    """Records one behind the other."""

    last_ms: int
    """Store time of the last one."""
    latest_ms: int
    """Latest store time of all."""


def is_cut_off(before_ms: int | None, behind_ms: int | None) -> bool:
    """Return whether the records behind a place without one were cut off the log.

    *before_ms* is the store time of the record before the place, *behind_ms* the latest
    of those behind it in its file; None without a record. Clocks of two masters may
    differ, but a failover takes seconds.
    """
    return before_ms is not None and behind_ms is not None and behind_ms < before_ms


def cut_place(found: Iterable[int | Stretch]) -> int | None:
    """Return the place at which a failover has cut the log, or None.

    *found* has the stretches of the log's last file, and the places without a record
    between them and behind them, in order.
    """
    before_ms = place = limit_ms = behind_ms = None
    for one in found:
        if not isinstance(one, Stretch):
            if place is None:
                place, limit_ms = one, before_ms
            continue
        if place is not None:
            behind_ms = max(one.latest_ms, behind_ms or 0)
            if not is_cut_off(limit_ms, behind_ms):
                place = behind_ms = None
        before_ms = one.last_ms
    return place if is_cut_off(limit_ms, behind_ms) else None
