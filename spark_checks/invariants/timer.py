"""
Invariants of the timer's files: log, wheel and checkpoint (since 5.0).

The timer log has one unit for each message with a delivery time. Units of one due time
are chained, and the wheel's slot of that time names the ends of the chain. The files
are small, so the driver reads them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from columns.gather import Ints
from spark_checks.findings import Finding, Invariant
from spark_checks.invariants.file_findings import (
    begin_of,
    file_finding,
    severity_if_closed,
)
from spark_checks.readers.schemas import as_dtype
from spark_checks.store_files import Store, StoreFile, queue_of, read_json, reading
from spec.derive.numpy_dtype import dtype_spec, leading_fields
from spec.integers import java_string_hash
from spec.layout import LayoutError
from spec.store.config.config_files import TOPICS_FILE
from spec.store.consume_queue import UNIT_SIZE as QUEUE_UNIT_SIZE
from spec.store.consume_queue import unit_layout
from spec.store.message_record import decode_record
from spec.store.timer import timer_log, timer_wheel
from spec.store.timer.timer_log import (
    BLANK_MAGIC,
    BLANK_SIZE_MIN,
    NONE_BEFORE,
    TIMER_LOG,
    UNIT_SIZE,
    timer_blank_layout,
    timer_unit_layout,
)
from spec.store.timer.timer_wheel import (
    CHECKPOINT_SIZE,
    SLOT_COUNT,
    SLOT_SIZE,
    TIMER_CHECKPOINT,
    TIMER_WHEEL,
    WHEEL_SIZE,
    decode_timer_checkpoint,
    timer_checkpoint_layout,
    timer_slot_layout,
)
from spec.wire.message.properties import decode_properties
from spec.wire.message.system_topics import real_place
from spec.wire.message.topic_names import TIMER_TOPIC

WHOLE_UNITS = Invariant(
    id="INV-TIMER-001",
    title="A timer log holds whole units, then a blank or zeros",
    requirement=timer_log.TIMER_UNIT_FIELDS,
    cost="Messages with a delivery time are not delivered from here on, or a start"
    " truncates the timer log.",
)
CHAIN = Invariant(
    id="INV-TIMER-002",
    title="A timer unit names the previous unit of its due time",
    requirement=timer_log.TIMER_UNIT_CHAIN,
    cost="Messages due at this time are not delivered.",
)
SLOT = Invariant(
    id="INV-TIMER-003",
    title="The slot of a due time names the first and the last timer unit of that time",
    requirement=timer_wheel.WHEEL_LAST,
    cost="Messages due at this time are not delivered.",
)
MESSAGE = Invariant(
    id="INV-TIMER-004",
    title="A timer unit points at a message of the timer's topic",
    requirement=timer_log.TIMER_UNIT_MESSAGE,
    cost="The message is not delivered at its time.",
)
PROGRESS = Invariant(
    id="INV-TIMER-005",
    title="The timer's checkpoint lies within its log and its topic's queue",
    requirement=timer_wheel.TIMER_CHECKPOINT_FIELDS,
    cost="After a start messages with a delivery time are delivered again, or not at"
    " all.",
)
TIMER_INVARIANTS = (WHOLE_UNITS, CHAIN, SLOT, MESSAGE, PROGRESS)
MAGIC_MAX = 7
"""All bits of TimerMagic."""
FILES_MAX = 4
"""Files of the timer log that are read, from the last one back; each has 100 MB."""
LISTED_MAX = 50
"""Findings of one invariant; later ones have the same cause."""
Rows = npt.NDArray[Any]
_units = as_dtype(dtype_spec(timer_unit_layout))
_slots = as_dtype(dtype_spec(timer_slot_layout))
_queue_units = as_dtype(dtype_spec(unit_layout))
_CHECKPOINT_PLACES = {
    field.name: (field.offset, field.size)
    for field in leading_fields(timer_checkpoint_layout)
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Place of a finding in a file."""

    file: str
    offset: int
    length: int


@dataclass(frozen=True, kw_only=True)
class _TimerLog:
    """The whole units of a timer log."""

    units: Rows
    positions: Ints
    """Position of each unit, counted over all files."""
    begin: int
    """Position at which the first file begins."""
    file_size: int

    @cached_property
    def due_ms(self) -> Ints:
        """Due time of each unit: its write time and its delay."""
        found: Ints = self.units["written_at_ms"].astype(np.int64) + self.units[
            "delay_ms"
        ].astype(np.int64)
        return found

    @property
    def end(self) -> int:
        """Position behind the last unit."""
        return int(self.positions[-1]) + UNIT_SIZE if len(self.positions) else 0

    def place(self, index: int) -> _Place:
        """Return the place of the unit with that *index*."""
        position = int(self.positions[index])
        offset = (position - self.begin) % self.file_size
        name = f"{position - offset:020d}"
        return _Place(file=f"{TIMER_LOG}/{name}", offset=offset, length=UNIT_SIZE)


def check_timer(store: Store) -> Iterator[Finding]:
    """Yield the findings in the timer's files of *store*."""
    files = [file for file in store.under(TIMER_LOG) if file.base is not None]
    files = files[-FILES_MAX:]
    damaged: list[tuple[StoreFile, int, str]] = []
    log = _read_log(store, files, damaged)
    for file, offset, found in damaged[:LISTED_MAX]:
        yield file_finding(
            WHOLE_UNITS,
            file.path,
            (offset, UNIT_SIZE),
            expected="a timer unit of 52 bytes, a blank or zeros to the end",
            found=found,
            severity=severity_if_closed(store),
        )
    if log is not None and not damaged:
        yield from _check_chains(store, log)
        yield from _check_wheel(store, log)
    queue = _topic_queue(store)
    if log is not None and queue is not None:
        yield from _check_messages(store, log, queue)
    yield from _check_progress(store, log, queue)


def _read_log(
    store: Store, files: Sequence[StoreFile], damaged: list[tuple[StoreFile, int, str]]
) -> _TimerLog | None:
    """Return the units of *files*, and add the damaged places; None without units."""
    units, positions = [np.zeros(0, dtype=_units)], [np.zeros(0, dtype=np.int64)]
    for number, file in enumerate(files):
        data = begin_of(store, file, file.size)
        rows = np.frombuffer(data[: len(data) // UNIT_SIZE * UNIT_SIZE], dtype=_units)
        end = _end_of(rows)
        is_last = number == len(files) - 1
        blank = _wrong_blank(data, end * UNIT_SIZE, is_last=is_last)
        if blank:
            damaged.append((file, end * UNIT_SIZE, blank))
        is_whole = _are_whole(rows[:end])
        damaged += [
            (file, int(index) * UNIT_SIZE, "other bytes")
            for index in np.flatnonzero(~is_whole)
        ]
        units.append(rows[:end][is_whole])
        positions.append((file.base or 0) + np.flatnonzero(is_whole) * UNIT_SIZE)
    found = np.concatenate(units)
    if not len(found):
        return None
    return _TimerLog(
        units=found,
        positions=np.concatenate(positions),
        begin=files[0].base or 0,
        file_size=max(file.size for file in files),
    )


def _end_of(rows: Rows) -> int:
    """Return the number of rows before the blank, or before zeros to the end."""
    blanks = np.flatnonzero(
        (rows["magic"] == BLANK_MAGIC) | (rows["magic"].astype(np.int64) < 0)
    )
    of_data = rows.view(np.uint8).reshape(-1, UNIT_SIZE)
    written = np.flatnonzero(of_data.any(axis=1))
    last = int(written[-1]) + 1 if len(written) else 0
    if len(blanks) and int(blanks[-1]) == last - 1:
        return int(blanks[-1])
    return last


def _are_whole(rows: Rows) -> npt.NDArray[np.bool_]:
    magic = rows["magic"].astype(np.int64)
    found: npt.NDArray[np.bool_] = (
        (rows["size"] == UNIT_SIZE)
        & (magic >= 1)
        & (magic <= MAGIC_MAX)
        & (magic & 1 == 1)
        & (rows["reserved"] == 0)
    )
    return found


def _wrong_blank(data: bytes, at: int, *, is_last: bool) -> str | None:
    """Return the content in place of the blank at *at*; the last file needs none."""
    rest = len(data) - at
    if rest < BLANK_SIZE_MIN or (is_last and not any(data[at : at + BLANK_SIZE_MIN])):
        return None
    found = timer_blank_layout.parse(data[at : at + BLANK_SIZE_MIN])
    is_blank = (found.size, found.zeros, found.magic) == (rest, 0, BLANK_MAGIC)
    return None if is_blank else f"no blank of {rest} bytes"


def _check_chains(store: Store, log: _TimerLog) -> Iterator[Finding]:
    """Yield the units that do not name the previous unit of their due time."""
    order = np.argsort(log.due_ms, kind="stable")
    expected = np.full(len(order), NONE_BEFORE, dtype=np.int64)
    same = log.due_ms[order][1:] == log.due_ms[order][:-1]
    expected[order[1:][same]] = log.positions[order[:-1][same]]
    found = log.units["previous_position"].astype(np.int64)
    is_earlier = (expected == NONE_BEFORE) & (found >= 0) & (found < log.begin)
    for index in np.flatnonzero((found != expected) & ~is_earlier)[:LISTED_MAX]:
        place = log.place(int(index))
        yield file_finding(
            CHAIN,
            place.file,
            (place.offset, place.length),
            expected=f"the previous unit at {expected[index]}",
            found=f"{found[index]}",
            severity=severity_if_closed(store),
        )


def _check_wheel(store: Store, log: _TimerLog) -> Iterator[Finding]:
    """Yield the slots and units of which the other side differs.

    A killed broker leaves a wheel that is older than the log, so it is not checked.
    """
    file = next((one for one in store.files if one.path == TIMER_WHEEL), None)
    if file is None or file.size != WHEEL_SIZE or store.was_left_open:
        return
    slots = np.frombuffer(begin_of(store, file, WHEEL_SIZE), dtype=_slots)
    precision_ms = _precision_ms(log, slots)
    if precision_ms is None:
        return
    times = log.due_ms // precision_ms
    order = np.argsort(times, kind="stable")
    firsts = order[np.unique(times[order], return_index=True)[1]]
    lasts = order[np.unique(times[order][::-1], return_index=True)[1] * -1 - 1]
    ends = {
        int(times[first]): (int(first), int(last))
        for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True)
    }
    yield from _units_beside_slots(log, precision_ms)
    yield from _units_without_slot(log, slots, ends)
    for number in np.flatnonzero(slots.view(np.uint8).reshape(-1, SLOT_SIZE).any(1)):
        slot = slots[number]
        expected = _expected_slot(slot, log, ends.get(int(slot["time"])))
        if expected is not None or int(slot["time"]) % SLOT_COUNT != number:
            yield file_finding(
                SLOT,
                TIMER_WHEEL,
                (int(number) * SLOT_SIZE, SLOT_SIZE),
                expected=expected or f"a time of slot {number}",
                found="time {time}, units {first_position} to {last_position}".format(
                    **{name: slot[name] for name in _slots.names or ()}
                ),
            )


def _units_beside_slots(log: _TimerLog, precision_ms: int) -> Iterator[Finding]:
    """Yield the units whose due time is not the begin of a slot."""
    for index in np.flatnonzero(log.due_ms % precision_ms)[:LISTED_MAX]:
        place = log.place(int(index))
        yield file_finding(
            SLOT,
            place.file,
            (place.offset, place.length),
            expected=f"a due time in steps of {precision_ms} ms",
            found=str(log.due_ms[index]),
        )


def _units_without_slot(
    log: _TimerLog, slots: Rows, ends: Mapping[int, tuple[int, int]]
) -> Iterator[Finding]:
    """Yield the last units of due times that have no slot, nor a later round one."""
    for time, (_, last) in ends.items():
        of_slot = int(slots[time % SLOT_COUNT]["time"])
        if of_slot == time or (of_slot > time and (of_slot - time) % SLOT_COUNT == 0):
            continue
        place = log.place(last)
        yield file_finding(
            SLOT,
            place.file,
            (place.offset, place.length),
            expected=f"a unit in the slot of time {time}",
            found=f"time {of_slot} there",
        )


def _expected_slot(
    slot: Any, log: _TimerLog, ends: tuple[int, int] | None
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


def _precision_ms(log: _TimerLog, slots: Rows) -> int | None:
    """Return the milliseconds of a slot, by the slots' last units; None if unknown."""
    used = slots[slots["time"] > 0]
    index = np.searchsorted(log.positions, used["last_position"])
    index = np.minimum(index, len(log.positions) - 1)
    known = log.positions[index] == used["last_position"]
    steps = log.due_ms[index[known]] // used["time"][known]
    return Counter(steps.tolist()).most_common(1)[0][0] if len(steps) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _TopicQueue:
    """Consume queue of the timer's topic."""

    sizes: Mapping[int, int]
    """Size of each message by its commit-log offset."""
    begin: int
    """First queue offset that still exists."""

    @property
    def end(self) -> int:
        """Queue offset behind the last message."""
        return self.begin + len(self.sizes)


def _topic_queue(store: Store) -> _TopicQueue | None:
    """Return the queue of the timer's topic; None without messages."""
    files = [
        file for file in store.consume_queues if queue_of(file.path) == (TIMER_TOPIC, 0)
    ]
    sizes: dict[int, int] = {}
    for file in files:
        data = begin_of(store, file, file.size - file.size % QUEUE_UNIT_SIZE)
        units = np.frombuffer(data, dtype=_queue_units)
        units = units[units["size"] > 0]
        sizes.update(
            zip(
                units["commit_log_offset"].tolist(), units["size"].tolist(), strict=True
            )
        )
    if not sizes:
        return None
    return _TopicQueue(sizes=sizes, begin=(files[0].base or 0) // QUEUE_UNIT_SIZE)


def _check_messages(
    store: Store, log: _TimerLog, queue: _TopicQueue
) -> Iterator[Finding]:
    """Yield the units that do not match a message of the timer's topic."""
    least = min(queue.sizes) if queue.begin else 0
    hashes = _known_hashes(store)
    rows = zip(
        *(
            log.units[name].tolist()
            for name in ("commit_log_offset", "record_size", "topic_hash")
        ),
        strict=True,
    )
    listed = 0
    for index, (offset, size, topic_hash) in enumerate(rows):
        if listed == LISTED_MAX or 0 <= offset < max(least, store.min_offset):
            continue
        if queue.sizes.get(offset) == size and (
            topic_hash in hashes or topic_hash == _real_hash(store, offset, size)
        ):
            continue
        listed += 1
        place = log.place(index)
        yield file_finding(
            MESSAGE,
            place.file,
            (place.offset, place.length),
            expected=f"offset, size and topic of a message of {TIMER_TOPIC}",
            found=f"offset {offset}, size {size}, topic's hash {topic_hash}",
            severity=severity_if_closed(store),
        )


def _known_hashes(store: Store) -> set[int]:
    """Return the hashes of all topics that are configured or have queues."""
    queues = (queue_of(file.path) for file in store.consume_queues)
    topics = {queue[0] for queue in queues if queue}
    for file in store.under("config"):
        found = read_json(store.url, file) if file.name == TOPICS_FILE else None
        table = found.get("topicConfigTable") if isinstance(found, dict) else None
        topics |= set(map(str, table)) if isinstance(table, dict) else set()
    return {java_string_hash(topic) for topic in topics}


def _real_hash(store: Store, offset: int, size: int) -> int | None:
    """Return the hash of the real topic of the record at *offset*; None if unknown."""
    for file in store.commit_log:
        base = file.base or 0
        if base <= offset < base + file.size:
            with reading(store.url, file.path) as read_at:
                data = read_at(offset - base, size)
            try:
                record = decode_record(data, check_crc=False)
                place = real_place(decode_properties(record.properties))
            except LayoutError:
                return None
            return java_string_hash(place.topic)
    return None


def _check_progress(
    store: Store, log: _TimerLog | None, queue: _TopicQueue | None
) -> Iterator[Finding]:
    """Yield the fields of the timer's checkpoint that are out of range."""
    path = f"config/{TIMER_CHECKPOINT}"
    file = next((one for one in store.files if one.path == path), None)
    if file is None or file.size < CHECKPOINT_SIZE:
        return
    found = decode_timer_checkpoint(begin_of(store, file, CHECKPOINT_SIZE))
    limits: dict[str, int | None] = {
        **dict.fromkeys(_CHECKPOINT_PLACES),
        "flushed_position": log.end if log is not None else None,
        "queue_offset": queue.end if queue is not None else None,
    }
    for name, limit in limits.items():
        value = getattr(found, name)
        if value >= 0 and (limit is None or value <= limit):
            continue
        yield file_finding(
            PROGRESS,
            path,
            _CHECKPOINT_PLACES[name],
            expected=f"{name} of 0 to {limit if limit is not None else 'any number'}",
            found=str(value),
            severity=severity_if_closed(store),
        )
