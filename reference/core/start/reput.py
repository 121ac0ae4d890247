"""
Dispatch at a start: what lies behind the queues' end gets its units.

4.5 to 4.9 wait for it before they serve. It does not check bodies, it passes over the
rest of a file where it meets garbage, and it waits for ever where a file is missing
(Java: DefaultMessageStore$ReputMessageService#doReput).
"""

from __future__ import annotations

from collections.abc import Callable

from reference.core.start.log_state import LogState
from reference.core.store.recovery_rules import RecoveryRules
from reference.core.store.recovery_scan import (
    ArrayTooLarge,
    Blank,
    Sighted,
    read_record,
)


def dispatch(
    log: LogState,
    begin: int,
    take: Callable[[Sighted], None],
    rules: RecoveryRules,
) -> int | None:
    """Give *take* every record from *begin* on; return where it waits for ever."""
    place = max(begin, log.start)
    while place < log.end:
        base = log.file_of(place)
        if base is None:
            if rules.waits_at_holes:
                return place
            place = min((one for one in log.bases if one > place), default=log.end)
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
    take: Callable[[Sighted], None],
    rules: RecoveryRules,
) -> int | None:
    """Return where in its file dispatch goes on; -1: in the next; None: never.

    Where a record contradicts itself, Java counts its size and reads on where its
    fields ended, so that place and count drift apart.
    """
    counted, size_read, size = at, 0, len(data) - at
    while size_read < size:
        seen = read_record(data, at, rules, check_crc=False)
        if isinstance(seen, Sighted):
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
