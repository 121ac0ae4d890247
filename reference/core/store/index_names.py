"""
Names of index files: when they were made, as ``yyyyMMddHHmmssSSS``.

They are in local time; readers only rely on their order.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_MS = 253_402_300_799_999
"""The end of the year 9999: a damaged record may have been stored at any time."""


def index_name(now_ms: int, previous: str) -> str:
    """Return the name of a file made at a local time, behind *previous*."""
    moment = _EPOCH + timedelta(milliseconds=min(max(now_ms, 0), _LAST_MS))
    name = f"{moment:%Y%m%d%H%M%S}{moment.microsecond // 1000:03d}".zfill(17)
    return name if name > previous else str(int(previous) + 1).zfill(17)
