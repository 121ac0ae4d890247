"""Slots of the timer wheel, compared with the ends of the chains of units."""

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


Ends = Mapping[int, tuple[int, int]]
"""First and last unit of each due time, as indexes."""


def check_wheel(store: Store, log: TimerLog, flushed: int) -> Iterator[Finding]:
    """Yield the slots that differ from their units, and the units without a slot.

    A killed broker leaves a wheel that is older than the log, so it is not checked.
    Nor does a stop flush the wheel. Units from position *flushed* on may be missing in
    it: a start adds them (5.3.3 TimerMessageStore#shutdown and #recoverAndRevise).
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
    ends, flushed_ends = _ends(times), _ends(times[log.positions < flushed])
    yield from _units_beside_slots(log, precision_ms)
    yield from _units_without_slot(log, slots, flushed_ends)
    for number in np.flatnonzero(slots.view(np.uint8).reshape(-1, SLOT_SIZE).any(1)):
        slot = slots[number]
        time = int(slot["time"])
        of_time = ends.get(time)
        at = int(np.searchsorted(log.positions, slot["last_position"]))
        if of_time and _may_be_last(at, times, flushed_ends.get(time), time):
            of_time = of_time[0], at
        expected = _expected_slot(slot, log, of_time)
        if expected is not None or int(slot["time"]) % SLOT_COUNT != number:
            place = TIMER_WHEEL, (int(number) * SLOT_SIZE, SLOT_SIZE)
            units = f"units {slot['first_position']} to {slot['last_position']}"
            expected = expected or f"a time of slot {number}"
            found = f"time {slot['time']}, {units}"
            yield file_finding("INV-TIMER-003", *place, expected=expected, found=found)


def _ends(times: Rows) -> Ends:
    """Return the ends of each due time in *times*."""
    if not len(times):
        return {}
    order = np.argsort(times, kind="stable")
    distinct, first = np.unique(times[order], return_index=True)
    last = np.append(first[1:], len(order)) - 1
    pairs = zip(order[first].tolist(), order[last].tolist(), strict=True)
    return dict(zip(distinct.tolist(), pairs, strict=True))


def _may_be_last(
    at: int, times: Rows, flushed: tuple[int, int] | None, time: int
) -> bool:
    """Return whether a slot may name unit *at* as its last: no flushed one is later."""
    is_of_time = at < len(times) and bool(times[at] == time)
    return is_of_time and (flushed is None or at >= flushed[1])


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
