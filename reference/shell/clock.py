"""
The one place where the reference reads a clock.

Time may be told to run faster than the system's, so that what takes minutes can be
seen in seconds.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime, timedelta


def zone_offset_ms() -> int:
    """Return how far local time is ahead of UTC."""
    offset = datetime.now().astimezone().utcoffset()
    return 0 if offset is None else offset // timedelta(milliseconds=1)


def hasten(rate: float) -> None:
    """Let time run *rate* times as fast as the system's, from now on."""
    _pace.begin_ns, _pace.rate = time.time_ns(), rate


def now_ms() -> int:
    """Return the time in milliseconds since 1970."""
    now_ns = time.time_ns()
    if _pace.rate != 1.0:
        now_ns = _pace.begin_ns + int((now_ns - _pace.begin_ns) * _pace.rate)
    return now_ns // 1_000_000


def system_s(duration_ms: int) -> float:
    """Return how many seconds of the system's time *duration_ms* takes."""
    return duration_ms / 1000 / _pace.rate


@dataclass(slots=True)
class _Pace:
    begin_ns: int = 0
    rate: float = 1.0


_pace = _Pace()
