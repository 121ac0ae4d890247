"""
Slots of the timer wheel, compared with the ends of the chains of units.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from columns.gather import dtype_of
from spark_checks.findings import LISTED_MAX, Finding
from spark_checks.invariants.file_findings import file_finding
from spark_checks.invariants.timer.timer_units import Rows, TimerLog
from spark_checks.store_files import Store, read_whole
from spec.store.timer.timer_wheel import (
    SLOT_COUNT,
    SLOT_SIZE,
    TIMER_WHEEL,
    WHEEL_SIZE,
    timer_slot_layout,
)

_slots = dtype_of(timer_slot_layout)


def check_wheel(store: Store, log: TimerLog) -> Iterator[Finding]:
    """Yield the slots that differ from their units, and the units without a slot.

    A killed broker leaves a wheel that is older than the log, so it is not checked.
    """
    file = store.file(TIMER_WHEEL)
    if file is None or file.size != WHEEL_SIZE or store.was_left_open:
        return
    data = read_whole(store.url, file, size_max=WHEEL_SIZE)
    slots = np.frombuffer(data, dtype=_slots)
    precision_ms = _precision_ms(log, slots)
    if precision_ms is None:
        return
    times = log.due_ms // precision_ms
    order = np.argsort(times, kind="stable")
    distinct, first = np.unique(times[order], return_index=True)
    last = np.append(first[1:], len(order)) - 1
    pairs = zip(order[first].tolist(), order[last].tolist(), strict=True)
    ends = dict(zip(distinct.tolist(), pairs, strict=True))
    yield from _units_beside_slots(log, precision_ms)
    yield from _units_without_slot(log, slots, ends)
    for number in np.flatnonzero(slots.view(np.uint8).reshape(-1, SLOT_SIZE).any(1)):
        slot = slots[number]
        expected = _expected_slot(slot, log, ends.get(int(slot["time"])))
        if expected is not None or int(slot["time"]) % SLOT_COUNT != number:
            place = TIMER_WHEEL, (int(number) * SLOT_SIZE, SLOT_SIZE)
            units = f"units {slot['first_position']} to {slot['last_position']}"
            expected = expected or f"a time of slot {number}"
            found = f"time {slot['time']}, {units}"
            yield file_finding("INV-TIMER-003", *place, expected=expected, found=found)


def _units_beside_slots(log: TimerLog, precision_ms: int) -> Iterator[Finding]:
    """Yield the units whose due time is not the begin of a slot."""
    for index in np.flatnonzero(log.due_ms % precision_ms)[:LISTED_MAX]:
        expected = f"a due time in steps of {precision_ms} ms"
        texts = {"expected": expected, "found": log.due_ms[index]}
        yield file_finding("INV-TIMER-003", *log.place(int(index)), **texts)


def _units_without_slot(
    log: TimerLog, slots: Rows, ends: Mapping[int, tuple[int, int]]
) -> Iterator[Finding]:
    """Yield the last unit of each due time that its slot does not have.

    A later round of the wheel may have taken the slot.
    """
    for time, (_, last) in ends.items():
        of_slot = int(slots[time % SLOT_COUNT]["time"])
        if of_slot == time or (of_slot > time and (of_slot - time) % SLOT_COUNT == 0):
            continue
        expected = f"a unit in the slot of time {time}"
        texts = {"expected": expected, "found": f"time {of_slot} there"}
        yield file_finding("INV-TIMER-003", *log.place(last), **texts)


def _expected_slot(
    slot: Any, log: TimerLog, ends: tuple[int, int] | None
) -> str | None:
    """Return the expectation of a *slot* that differs from the units of its time.

    The units of an earlier round may have been deleted.
    """
    first, last = int(slot["first_position"]), int(slot["last_position"])
    if ends is None:
        return "the time of its last unit" if last >= log.begin else None
    expected = int(log.positions[ends[0]]), int(log.positions[ends[1]])
    is_first = first == expected[0] or 0 <= first < log.begin
    if is_first and last == expected[1] and not slot["magic"]:
        return None
    return f"the units {expected[0]} to {expected[1]}, and 0 at its end"


def _precision_ms(log: TimerLog, slots: Rows) -> int | None:
    """Return the milliseconds of a slot, by the slots' last units; None if unknown."""
    used = slots[slots["time"] > 0]
    index = np.searchsorted(log.positions, used["last_position"])
    index = np.minimum(index, len(log.positions) - 1)
    known = log.positions[index] == used["last_position"]
    steps = log.due_ms[index[known]] // used["time"][known]
    return Counter(steps.tolist()).most_common(1)[0][0] if len(steps) else None
