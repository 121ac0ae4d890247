"""
The clock whose time the shell passes to the core, and the uptime that never goes back.

The clock can run faster than the system's, so that a test observes minutes in seconds.
"""

from __future__ import annotations

import time
from datetime import datetime, timedelta

from msgspec import Struct


def zone_offset_ms() -> int:
    """Return the offset of local time from UTC in milliseconds."""
    offset = datetime.now().astimezone().utcoffset()
    return 0 if offset is None else offset // timedelta(milliseconds=1)


def speed_up(rate: float) -> None:
    """Run the clock *rate* times as fast as the system's from now on."""
    _clock.start_ns, _clock.rate = time.time_ns(), rate


def now_ms() -> int:
    """Return the time in milliseconds since 1970."""
    now_ns = time.time_ns()
    if _clock.rate != 1.0:
        now_ns = _clock.start_ns + int((now_ns - _clock.start_ns) * _clock.rate)
    return now_ns // 1_000_000


def uptime_ms() -> int:
    """Return milliseconds of this clock since some start; they never go back."""
    return int(time.monotonic_ns() * _clock.rate) // 1_000_000


def system_s(duration_ms: int) -> float:
    """Return *duration_ms* of this clock in seconds of the system's."""
    return duration_ms / 1000 / _clock.rate


class _Clock(Struct):
    start_ns: int = 0
    rate: float = 1.0


_clock = _Clock()
