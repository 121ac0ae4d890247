"""
The unique keys that a producer gives its messages, one after the other.

Whoever makes the maker says who is sending; the time comes with every key.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

from spec.wire.unique_key import UniqueKey, encode_unique_key

_COUNTER_END = 2**16
_WORD_END = 2**32


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """Who makes the keys."""

    address: bytes
    """4 bytes of IPv4, or 16 of IPv6."""
    process_id: int
    program_hash: int = 0
    """Tells programs in one process apart (Java: the class loader's hash)."""
    zone_offset_ms: int = 0
    """How far local time is ahead of UTC."""


class KeyMaker:
    """Makes a key a message; no two are the same within a month."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender
        self._counter = 0

    def make(self, now_ms: int) -> str:
        """Return a new key, made at *now_ms*."""
        counter = self._counter
        self._counter = (counter + 1) % _COUNTER_END
        since_ms = now_ms - month_begins_ms(now_ms, self._sender.zone_offset_ms)
        return encode_unique_key(
            UniqueKey(
                address=self._sender.address,
                # 4.6.0 takes the high bits; two processes of a host then agree in all
                # but the time. The low ones are what it means, and 4.7 corrects.
                process_id=self._sender.process_id % _COUNTER_END,
                class_loader_hash=self._sender.program_hash,
                since_month_ms=since_ms % _WORD_END,  # [CLIENT-UNIQKEY-006]
                counter=counter,
            )
        )


def month_begins_ms(now_ms: int, zone_offset_ms: int) -> int:
    """Return when the month of *now_ms* began, by the sender's clock on the wall."""
    zone = timezone(timedelta(milliseconds=zone_offset_ms))
    now = datetime.fromtimestamp(now_ms / 1000, UTC).astimezone(zone)
    begin = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return int(begin.timestamp()) * 1000
