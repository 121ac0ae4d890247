"""Unique message ids of a producer (Java: MessageClientIDSetter)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

from spec.wire.message.unique_key import UniqueKey, encode_unique_key

_COUNTER_END = 2**16
_WORD_END = 2**32


class UniqueIdGenerator:
    """Generates ids of one process that are unique within a month.

    The *address* has 4 bytes of IPv4 or 16 of IPv6. The *program_hash* distinguishes
    programs in one process (Java: the class loader's hash). The *zone_offset_ms* is
    local time minus UTC.
    """

    def __init__(
        self,
        *,
        address: bytes,
        process_id: int,
        program_hash: int = 0,
        zone_offset_ms: int = 0,
    ) -> None:
        self._key = UniqueKey(
            address=address,
            # 4.6.0 uses the high bits, which two processes of a host share. 4.7 uses
            # the low bits, as intended.
            process_id=process_id % _COUNTER_END,
            class_loader_hash=program_hash,
            since_month_ms=0,
            counter=0,
        )
        self._zone_offset_ms = zone_offset_ms

    def next_id(self, now_ms: int) -> str:
        """Return a new id for the time *now_ms*."""
        since_ms = now_ms - month_begins_ms(now_ms, self._zone_offset_ms)
        key = replace(self._key, since_month_ms=since_ms % _WORD_END)
        self._key = replace(key, counter=(key.counter + 1) % _COUNTER_END)
        return encode_unique_key(key)  # [CLIENT-UNIQKEY-006]


def month_begins_ms(now_ms: int, zone_offset_ms: int) -> int:
    """Return the start of the month of *now_ms* in local time, as epoch ms."""
    zone = timezone(timedelta(milliseconds=zone_offset_ms))
    now = datetime.fromtimestamp(now_ms / 1000, UTC).astimezone(zone)
    begin = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return int(begin.timestamp()) * 1000
