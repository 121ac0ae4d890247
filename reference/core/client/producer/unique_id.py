"""Unique message ids of a producer (Java: MessageClientIDSetter)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

from spec.wire.message.unique_key import UniqueKey, encode_unique_key

_COUNTER_END = 2**16
_WORD_END = 2**32


@dataclass(frozen=True, slots=True, kw_only=True)
class IdSource:
    """The process that generates ids."""

    address: bytes
    """4 bytes of IPv4, or 16 of IPv6."""
    process_id: int
    program_hash: int = 0
    """Distinguishes programs in one process (Java: the class loader's hash)."""
    zone_offset_ms: int = 0
    """Local time minus UTC."""


class UniqueIdGenerator:
    """Generates ids that are unique within a month."""

    def __init__(self, source: IdSource) -> None:
        self._source = source
        self._counter = 0

    def next_id(self, now_ms: int) -> str:
        """Return a new id for the time *now_ms*."""
        counter = self._counter
        self._counter = (counter + 1) % _COUNTER_END
        since_ms = now_ms - month_begins_ms(now_ms, self._source.zone_offset_ms)
        return encode_unique_key(
            UniqueKey(
                address=self._source.address,
                # 4.6.0 uses the high bits, which two processes of a host share. 4.7
                # uses the low bits, as intended.
                process_id=self._source.process_id % _COUNTER_END,
                class_loader_hash=self._source.program_hash,
                since_month_ms=since_ms % _WORD_END,  # [CLIENT-UNIQKEY-006]
                counter=counter,
            )
        )


def month_begins_ms(now_ms: int, zone_offset_ms: int) -> int:
    """Return the start of the month of *now_ms* in local time, as epoch ms."""
    zone = timezone(timedelta(milliseconds=zone_offset_ms))
    now = datetime.fromtimestamp(now_ms / 1000, UTC).astimezone(zone)
    begin = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return int(begin.timestamp()) * 1000
