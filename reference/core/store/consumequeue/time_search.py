"""
Searching a queue by time.
"""

from __future__ import annotations

from reference.core.store.commitlog.commit_log import CommitLog
from reference.core.store.consumequeue.consume_queue import ConsumeQueue
from reference.core.store.layouts import unit_codec
from spec.store.consume_queue import UNIT_SIZE


def offset_by_time(log: CommitLog, queue: ConsumeQueue, timestamp_ms: int) -> int:
    """Return the offset of the message stored nearest to *timestamp_ms*.

    4.6.0 org.apache.rocketmq.store.ConsumeQueue#getOffsetInQueueByTime. It chooses the
    first file that was written at or after that time, or the last, and searches it
    alone.
    """
    files = queue.files
    if not len(files):
        return 0
    numbers = range(len(files))
    written_since = (n for n in numbers if files.modified_at_ms(n) >= timestamp_ms)
    start = files.start_offsets[next(written_since, numbers[-1])]
    units = files.view(start)
    if units is None:
        return 0
    first = max(queue.min_position - start, 0) // UNIT_SIZE
    number_in_file = _nearest(log, units, timestamp_ms, first)
    if number_in_file is None:
        return 0
    return max(start // UNIT_SIZE + number_in_file, 0)


def _nearest(
    log: CommitLog, units: memoryview, timestamp_ms: int, first: int
) -> int | None:
    """Return the number of the unit whose message was stored nearest in time.

    The earlier of two equally near units. -1 without units; None for a unit whose
    record the log does not have.
    """
    low, high = first, len(units) // UNIT_SIZE - 1
    before = behind = -1
    before_ms = behind_ms = None
    while high >= low:
        middle = (low + high) // 2
        physical_offset, size, _ = unit_codec.unpack_from(units, middle * UNIT_SIZE)
        if physical_offset < log.files.start:
            low, before = middle + 1, middle
            continue
        stored_at_ms = log.stored_at(physical_offset, size)
        if stored_at_ms < 0:
            return None
        if stored_at_ms == timestamp_ms:
            return middle  # [OFFSET-SEARCH-001]
        if stored_at_ms > timestamp_ms:
            high, behind, behind_ms = middle - 1, middle, stored_at_ms
        else:
            low, before, before_ms = middle + 1, middle, stored_at_ms
    if before_ms is None:
        return behind  # [OFFSET-SEARCH-002]
    if behind_ms is None:
        return before  # [OFFSET-SEARCH-003]
    # [OFFSET-SEARCH-005]
    return behind if timestamp_ms - before_ms > behind_ms - timestamp_ms else before
