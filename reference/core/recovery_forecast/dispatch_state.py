"""
Dispatch at a start: records after the queues' last unit get consume-queue units.

4.5 to 4.9 complete it before they serve. It does not check bodies. It skips the rest of
a file after garbage. It waits for ever at a missing file
(Java: DefaultMessageStore$ReputMessageService#doReput).
"""

from __future__ import annotations

from collections.abc import Callable

from reference.core.recovery_forecast.log_state import LogState
from reference.core.store.commitlog.record_reader import (
    ArrayTooLarge,
    Blank,
    ScannedRecord,
    read_record,
)
from reference.core.store.recovery.rules import RecoveryRules


def dispatch(
    log: LogState,
    begin: int,
    take: Callable[[ScannedRecord], None],
    rules: RecoveryRules,
) -> int | None:
    """Pass each record from *begin* on to *take*.

    Return the commit-log offset at which dispatch waits for ever, None without one.
    """
    place = max(begin, log.start)
    while place < log.end:
        base = log.file_of(place)
        if base is None:
            if rules.waits_at_holes:
                return place
            place = min(
                (one for one in log.start_offsets if one > place), default=log.end
            )
            continue
        data = log.open(base)[: min(log.end - base, log.file_size)]
        if place - base >= len(data):
            return place
        after = _dispatch_file(data, place - base, take, rules)
        if after is None:
            return place
        # A blank leads to the next file by arithmetic, whether it is there or not.
        place = base + log.file_size if after < 0 else base + after
    return None


def _dispatch_file(
    data: memoryview,
    at: int,
    take: Callable[[ScannedRecord], None],
    rules: RecoveryRules,
) -> int | None:
    """Return the position in its file at which dispatch continues.

    -1 is the next file. None: dispatch never continues. After a record whose size
    contradicts its fields, Java counts the size but reads on after the fields.
    """
    counted, size_read, size = at, 0, len(data) - at
    while size_read < size:
        seen = read_record(data, at, rules, check_crc=False)
        if isinstance(seen, ScannedRecord):
            take(seen)
            at, counted = at + seen.size, counted + seen.size
            size_read += seen.size
        elif isinstance(seen, Blank):
            return -1
        elif isinstance(seen, ArrayTooLarge):
            return None
        elif seen.size > 0:
            at, counted = at + seen.fields_size, counted + seen.size
        else:
            return counted + size - size_read
    return counted
