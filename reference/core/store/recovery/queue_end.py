"""
The end and the first unit of one consume queue at a start.

A file is a pair of its start offset and its units, written or not. Positions are bytes
of the queue, as in 4.6.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from reference.core.store.recovery.rules import RecoveryRules
from spec.integers import INT32_MAX, INT64_MAX
from spec.store.consume_queue import UNIT_SIZE

Unit = tuple[int, int, int]
"""Commit-log offset, size, tags code (Java: CqUnit)."""
UnitFile = tuple[int, Iterable[Unit]]
FILES_TO_RECOVER = 3
_NO_LOG_END = INT64_MAX + 1


class QueueEnd(NamedTuple):
    """The end of a queue."""

    position: int
    """Byte of the queue at which the next unit is written."""
    max_physical_offset: int
    """End of the last unit's record in the log, in 4.4 its begin; -1 without units
    (Java: maxPhysicOffset)."""


class EmptyLastFileError(ValueError):
    """A release reads the unit before the first of an empty file, and fails."""


def physical_end_of(unit: Unit, rules: RecoveryRules) -> int:
    """Return the max physical offset of a queue whose last unit is *unit*."""
    return unit[0] if rules.end_is_last_begin else unit[0] + unit[1]


class LeadingUnits(NamedTuple):
    """The valid units with which a file begins."""

    unit_count: int
    last: Unit | None
    is_unwritten: bool = False
    """Whether the only one was never written, and is valid for being the first."""


def leading_units(
    units: Iterable[Unit],
    rules: RecoveryRules,
    log_end: int,
    *,
    trusts_first: bool = False,
) -> LeadingUnits:
    """Return the valid units with which *units* begin, those before *log_end*."""
    count = least_offset = 0
    last = None
    stops_at_steps_back = rules.stops_at_steps_back
    for unit in units:
        offset, size, _ = unit
        is_written = offset >= least_offset and size > 0  # [STORE-QUEUE-008]
        is_valid = is_written or (trusts_first and count == 0)
        if offset >= log_end or not is_valid:
            break
        count, last = count + 1, unit
        if stops_at_steps_back:
            is_filler = offset == 0 and size == INT32_MAX
            least_offset = 0 if is_filler else offset + size
    is_unwritten = count == 1 and last is not None and (last[0] < 0 or last[1] <= 0)
    return LeadingUnits(count, last, is_unwritten)


def find_queue_end(
    files: Sequence[UnitFile], file_size: int, rules: RecoveryRules
) -> QueueEnd:
    """Return the end of a queue, given its last files, at most three.

    4.6.0 org.apache.rocketmq.store.ConsumeQueue#recover. [REC-QUEUE-001]
    """
    position, max_physical_offset = files[0][0], -1
    for start, units in files:
        count, last, _ = leading_units(units, rules, _NO_LOG_END)
        if last is not None:
            max_physical_offset = physical_end_of(last, rules)
        position = start + count * UNIT_SIZE
        if position < start + file_size:
            break
    return QueueEnd(position, max_physical_offset)


class TruncatedQueue(NamedTuple):
    """A queue without the units behind the log's end."""

    end: QueueEnd
    deleted: int
    """Files to delete, from the last on."""
    ends_with_unwritten_unit: bool = False
    """Whether the last unit was never written: the queue ends one unit too late."""


def truncate_queue(
    newest_first: Iterable[UnitFile], log_end: int, rules: RecoveryRules
) -> TruncatedQueue:
    """Return the queue's end where the commit log ends at *log_end*.

    4.6.0 org.apache.rocketmq.store.ConsumeQueue#truncateDirtyLogicFiles reads no file
    before the last that keeps a unit. [REC-QUEUE-002]
    """
    trusts_first = rules.trusts_first_unit
    deleted = start = 0
    for start, units in newest_first:
        found = leading_units(units, rules, log_end, trusts_first=trusts_first)
        if found.last is not None:
            position = start + found.unit_count * UNIT_SIZE
            end = QueueEnd(position, physical_end_of(found.last, rules))
            return TruncatedQueue(end, deleted, found.is_unwritten)
        deleted += 1
    max_physical_offset = log_end - 1 if rules.end_is_last_begin else log_end
    if rules.keeps_place and start:
        end = QueueEnd(start, max_physical_offset)
        return TruncatedQueue(end, deleted - 1)
    return TruncatedQueue(QueueEnd(0, max_physical_offset), deleted)


def lacks_unit(
    physical_offset: int, size: int, queue: QueueEnd, rules: RecoveryRules
) -> bool:
    """Return whether a queue has no unit of a record, by its max physical offset."""
    record_end = physical_end_of((physical_offset, size, 0), rules)
    return record_end > queue.max_physical_offset


def correct_min_offset(
    first: UnitFile, queue: QueueEnd, *, before: int, log_start: int
) -> int:
    """Return the position of the first unit whose record the log still has.

    4.6.0 org.apache.rocketmq.store.ConsumeQueue#correctMinOffset searches *first*, the
    queue's first file, only. The result is *before*, the former position in bytes, if
    no unit of it qualifies. *log_start* is the first commit-log offset.
    """
    start, units = first
    for number, unit in enumerate(units):
        position = start + number * UNIT_SIZE
        if position >= queue.position:
            break
        if unit[0] >= log_start:
            return position
    return before


def correct_min_offset_since_5(
    first: UnitFile,
    last: tuple[int, Unit | None],
    queue: QueueEnd,
    *,
    before: int,
    log_start: int,
) -> int:
    """Return the position as 5.3.3 does, which reads the queue's last unit first.

    *last* is the start offset of the last file, and the last unit in that file.
    """
    if before >= queue.position:
        return before
    last_start, unit = last
    if unit is None:
        raise EmptyLastFileError(f"the file that begins at {last_start} has no unit")
    if unit[0] < log_start:
        return queue.position
    start, units = first
    if before > start:  # the search begins at the former minimum
        units = islice(units, (before - start) // UNIT_SIZE, None)
        start = before
    return correct_min_offset((start, units), queue, before=before, log_start=log_start)
