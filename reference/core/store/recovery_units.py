"""
What a start does to one consume queue: finds its end, cuts it, corrects its beginning.

Files are given as pairs of the offset they begin at and their units, all that fit into
the file, whether they were written or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from reference.core.store.recovery_rules import RecoveryRules
from spec.integers import INT32_MAX
from spec.store.consume_queue import UNIT_SIZE

Unit = tuple[int, int, int]
"""Commit-log offset, size, tags code."""
UnitFile = tuple[int, Iterable[Unit]]

FILES_LOOKED_AT = 3


class QueueEnd(NamedTuple):
    """Where a queue ends."""

    position: int
    """The byte of the queue at which the next unit is written."""
    physical: int
    """Where the last unit's record ends in the log, or begins in 4.4; -1 without."""


class EmptyLastFileError(ValueError):
    """A release looks at the unit before the first of an empty file, and fails."""


def reach(unit: Unit, rules: RecoveryRules) -> int:
    """Return how far in the log a queue reaches whose last unit is *unit*."""
    return unit[0] if rules.end_is_last_begin else unit[0] + unit[1]


def found_end(
    files: Sequence[UnitFile], file_size: int, rules: RecoveryRules
) -> QueueEnd:
    """Return the end of a queue, whose last (up to) three files are given.

    4.6.0 org.apache.rocketmq.store.ConsumeQueue#recover. [REC-QUEUE-001]
    """
    position, physical = files[0][0], -1
    for base, units in files:
        count = reached = 0
        for unit in units:
            if unit[0] < reached or unit[1] <= 0:  # [STORE-QUEUE-008]
                break
            count += 1
            physical = reach(unit, rules)
            reached = _least_next(unit, rules)
        position = base + count * UNIT_SIZE
        if position < base + file_size:
            break
    return QueueEnd(position, physical)


def _least_next(unit: Unit, rules: RecoveryRules) -> int:
    """Return what the next unit of the file must point at, or behind."""
    is_filler = unit[:2] == (0, INT32_MAX)
    return unit[0] + unit[1] if rules.stops_at_steps_back and not is_filler else 0


class Cut(NamedTuple):
    """What a queue is after units behind the log's end were cut off."""

    end: QueueEnd
    deleted: int
    """How many files went, from the last on."""
    made_up: bool
    """The last unit was never written: the queue ends one too late."""


def cut_end(
    newest_first: Iterable[UnitFile], log_end: int, rules: RecoveryRules
) -> Cut:
    """Return the queue's end when the commit log ends at *log_end*.

    4.6.0 org.apache.rocketmq.store.ConsumeQueue#truncateDirtyLogicFiles, which looks
    at no file before the last that keeps a unit. [REC-QUEUE-002]
    """
    physical = log_end - 1 if rules.end_is_last_begin else log_end
    deleted = base = 0
    for base, units in newest_first:
        count, made_up, reached = 0, False, 0
        for unit in units:
            is_written = unit[0] >= reached and unit[1] > 0
            trusted = is_written or (count == 0 and rules.trusts_first_unit)
            if unit[0] >= log_end or not trusted:
                break
            made_up = not is_written
            count += 1
            physical = reach(unit, rules)
            reached = _least_next(unit, rules)
        if count:
            end = QueueEnd(base + count * UNIT_SIZE, physical)
            return Cut(end, deleted, made_up and count == 1)
        deleted += 1
    if rules.keeps_place and base:
        return Cut(QueueEnd(base, physical), deleted - 1, False)
    return Cut(QueueEnd(0, physical), deleted, False)


def is_new(
    physical_offset: int, size: int, queue: QueueEnd, rules: RecoveryRules
) -> bool:
    """Return whether a queue lacks the unit of a record, as far as it remembers."""
    return reach((physical_offset, size, 0), rules) > queue.physical


def corrected_begin(
    first: UnitFile, queue: QueueEnd, before: int, log_start: int
) -> int:
    """Return where the queue's first unit lies whose record the log still has.

    4.6.0 org.apache.rocketmq.store.ConsumeQueue#correctMinOffset: *first* is the
    queue's first file; without such a unit in it, the beginning stays what it was.
    """
    base, units = first
    for number, unit in enumerate(units):
        position = base + number * UNIT_SIZE
        if position >= queue.position:
            break
        if unit[0] >= log_start:
            return position
    return before


def corrected_begin_since_5(
    first: UnitFile,
    last: tuple[int, Unit | None],
    queue: QueueEnd,
    before: int,
    log_start: int,
) -> int:
    """Return the same as 5.3.3 finds it, which looks at the queue's last unit first.

    *last* is where the last file begins, and the last unit that is in it.
    """
    if before >= queue.position:
        return before
    base, unit = last
    if unit is None:
        raise EmptyLastFileError(f"the file that begins at {base} has no unit")
    if unit[0] < log_start:
        return queue.position
    first_base, units = first
    if before > first_base:  # what was right once is not looked at again
        units = islice(units, (before - first_base) // UNIT_SIZE, None)
        first_base = before
    return corrected_begin((first_base, units), queue, before, log_start)
