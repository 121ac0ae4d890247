"""Records for the tests of a salvage."""

from __future__ import annotations

from spec.store.message_record import Record


def record(number: int, at: int, body: bytes = b"body") -> Record:
    """Return a record with queue offset *number*, at commit-log offset *at*."""
    return Record(
        topic="T",
        queue_id=0,
        queue_offset=number,
        physical_offset=at,
        body=body,
        properties="KEYS\x01k\x02",
        stored_at_ms=1_000 + number,
    )
