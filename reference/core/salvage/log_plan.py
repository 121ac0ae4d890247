"""
Parts of a new commit-log file: its readable records, and what bridges the rest.

Each record keeps its place, so that message ids and prepared transaction offsets stay
valid. A damaged range between records is bridged by records that no queue and no index
gets: rolled-back messages (TRANSACTION_ROLLBACK_TYPE). A range up to the end of a file
is bridged by a blank.

4.6.0 org.apache.rocketmq.store.DefaultMessageStore$CommitLogDispatcherBuildConsumeQueue
passes over rolled-back messages, and so does IndexService#buildIndex.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from reference.core.salvage.readable_records import FoundRecord
from spec.store.blank import BLANK_SIZE_MIN, Blank, encode_blank
from spec.store.message_record import SMALLEST_SIZE, Record, SystemFlag, encode_record
from spec.store.record_checksum import CHECKSUM_SIZE, agrees, encode_checksum

BRIDGE_TOPIC = "SALVAGE_BRIDGE"
"""Topic of the bridging records; it is cut to the room there is."""
BRIDGE_SIZE_MIN = SMALLEST_SIZE + 1
"""Size of a record with a topic of one character, as small as any original one."""
BRIDGE_SIZE_MAX = 1 << 20


class NewBytes(NamedTuple):
    """Bytes that are not in the original file."""

    offset: int
    data: bytes
    is_bridge: bool = False


def is_bridge(record: Record) -> bool:
    """Return whether a salvage has written *record* in the place of damage."""
    is_rolled_back = record.system_flags == SystemFlag.TRANSACTION_ROLLBACK
    return is_rolled_back and BRIDGE_TOPIC.startswith(record.topic)


def plan_file(
    records: Iterable[FoundRecord], start_offset: int, size: int, *, is_last: bool
) -> Iterator[FoundRecord | NewBytes]:
    """Yield the records of a file that stay, and what is written between them.

    A range that is too small to be bridged takes the record behind it, or at the end of
    a file the one before it. No writer of records leaves such a range.
    """
    pending: list[FoundRecord] = []
    end, file_end = start_offset, start_offset + size
    for found in records:
        if 0 < found.offset - end < BRIDGE_SIZE_MIN:
            continue
        yield from pending
        yield from bridge(end, found.offset, found.record.stored_at_ms)
        pending, end = [found], found.offset + found.size
    if is_last:
        yield from pending
        return
    if pending and 0 < file_end - end < BLANK_SIZE_MIN:
        end = pending.pop().offset
    yield from pending
    if end < file_end:
        yield NewBytes(end, encode_blank(Blank(size=file_end - end)))


def bridge(begin: int, end: int, stored_at_ms: int) -> Iterator[NewBytes]:
    """Yield bridging records from *begin* to *end*, with a store time."""
    while begin < end:
        size = min(end - begin, BRIDGE_SIZE_MAX)
        if 0 < end - begin - size < BRIDGE_SIZE_MIN:
            size -= BRIDGE_SIZE_MIN
        yield NewBytes(begin, _one_bridge(begin, size, stored_at_ms), is_bridge=True)
        begin += size


def _one_bridge(offset: int, size: int, stored_at_ms: int) -> bytes:
    topic = BRIDGE_TOPIC[: size - SMALLEST_SIZE]
    return encode_record(
        Record(
            topic=topic,
            queue_id=0,
            queue_offset=0,
            physical_offset=offset,
            system_flags=SystemFlag.TRANSACTION_ROLLBACK,
            body=bytes(size - SMALLEST_SIZE - len(topic)),
            born_at_ms=stored_at_ms,
            stored_at_ms=stored_at_ms,
        )
    )


def encode_changed(record: Record, original: bytes) -> bytes:
    """Return the bytes of a record with other values at the place of *original*.

    It has a checksum of the whole if *original* has one.
    """
    data = encode_record(record)
    if agrees(original) is None:
        return data
    before = data[:-CHECKSUM_SIZE]
    return before + encode_checksum(before)
