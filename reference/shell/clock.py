"""The one place where the reference reads a clock."""

from __future__ import annotations

import time
from datetime import datetime, timedelta


def zone_offset_ms() -> int:
    """Return how far local time is ahead of UTC."""
    offset = datetime.now().astimezone().utcoffset()
    return 0 if offset is None else offset // timedelta(milliseconds=1)


def now_ms() -> int:
    """Return the time in milliseconds since 1970."""
    return time.time_ns() // 1_000_000
