"""A record with other values at the same place: its checksums follow the values."""

from __future__ import annotations

from spec.store.message_record import Record, encode_record
from spec.store.record_checksum import CHECKSUM_SIZE, agrees, encode_checksum


def encode_changed(record: Record, original: bytes) -> bytes:
    """Return the bytes of *record*, with a checksum of the whole as *original* has."""
    data = encode_record(record)
    if agrees(original) is None:
        return data
    before = data[:-CHECKSUM_SIZE]
    return before + encode_checksum(before)
