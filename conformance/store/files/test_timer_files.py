"""Files that only 5.x has: the timer's log, wheel and checkpoint, and batch queues."""

from __future__ import annotations

from contextlib import suppress
from itertools import accumulate

import pytest

from conformance.harness.blocked.skips import unsupported
from conformance.harness.process.deadline import TooLateError, wait_until
from conformance.harness.pytest_plugin.expectations import expect
from conformance.store.files.special import (
    BATCH_SIZES,
    BATCH_TOPIC_COUNTS,
    TIMED_COUNT,
    TIMED_PER_SLOT,
    Special,
    batch_of,
    batch_units,
)
from spec.integers import java_string_hash
from spec.store.message_record import record_size
from spec.store.timer import timer_log, timer_wheel
from spec.store.timer.timer_log import TimerUnit
from spec.store.timer.timer_wheel import TimerSlot
from spec.wire.message.properties import decode_properties
from spec.wire.message.system_topics import real_place
from spec.wire.message.topic_names import TIMER_TOPIC
from spec.wire.send.batch_body import INNER_BATCH, NEED_UNWRAP


def slot_of(special: Special, unit: TimerUnit) -> tuple[int, TimerSlot]:
    """Return place and slot of the wheel in which *unit* is due."""
    wheel = (special.store / timer_wheel.TIMER_WHEEL).read_bytes()
    number = timer_wheel.slot_index(unit.due_at_ms)
    data = wheel[number * timer_wheel.SLOT_SIZE :][: timer_wheel.SLOT_SIZE]
    return len(wheel), timer_wheel.decode_timer_slot(data)


@pytest.mark.clause("STORE-TIMER-001", "STORE-TIMER-002", "STORE-TIMER-003")
def test_timer_units_of_a_slot_are_chained(special: Special) -> None:
    units = special.timer_units()
    expect("STORE-TIMER-001", found=len(units), expected=TIMED_COUNT, what="units")
    positions = list(units)
    previous = [
        -1 if number % TIMED_PER_SLOT == 0 else positions[number - 1]
        for number in range(TIMED_COUNT)
    ]
    expect(
        "STORE-TIMER-003",
        found=[unit.previous_position for unit in units.values()],
        expected=previous,
        what="positions before",
    )
    expect(
        "STORE-TIMER-002",
        found={unit.magic for unit in units.values()},
        expected={1},
        what="magics",
    )


@pytest.mark.clause("STORE-TIMER-004", "STORE-TIMER-005", "STORE-TIMER-007")
def test_a_timer_unit_is_of_its_message(special: Special) -> None:
    log = special.log()
    for unit in special.timer_units().values():
        record = log[unit.commit_log_offset]
        properties = decode_properties(record.properties)
        place = real_place(properties)
        expect(
            "STORE-TIMER-007",
            found=(place.topic, place.queue_id, properties["TIMER_OUT_MS"]),
            expected=(special.topic, 0, properties["TIMER_DELIVER_MS"][:-3] + "000"),
            what="real topic, real queue and due time",
        )
        expect(
            "STORE-TIMER-005",
            found=(record.topic, unit.topic_hash),
            expected=(TIMER_TOPIC, java_string_hash(special.topic)),
            what="topic of the record, hash in the unit",
        )
        expect(
            "STORE-TIMER-004",
            found=unit.due_at_ms,
            expected=int(properties["TIMER_OUT_MS"]),
            what="when the unit is due",
        )


@pytest.mark.clause("STORE-TIMER-006")
def test_a_full_file_of_the_timers_log_ends_with_a_blank(special: Special) -> None:
    files, size = special.files(timer_log.TIMER_LOG), special.timer_file_size
    if not special.is_alone and len(files) < 2:
        unsupported(
            f"no file of the timer's log is full: mappedFileSizeTimerLog={size}"
        )
    first = files[min(files)]
    room = (size - timer_log.BLANK_SIZE_MIN) // timer_log.UNIT_SIZE
    end = room * timer_log.UNIT_SIZE
    expect(
        "STORE-TIMER-006",
        found=first[end : end + timer_log.BLANK_SIZE_MIN],
        expected=timer_log.encode_timer_blank(size - end),
        what="words after the last unit",
    )


@pytest.mark.clause(
    "STORE-TIMERWHEEL-001",
    "STORE-TIMERWHEEL-002",
    "STORE-TIMERWHEEL-003",
    "STORE-TIMERWHEEL-004",
    "STORE-TIMERWHEEL-005",
)
def test_the_wheel_knows_the_units_of_each_slot(special: Special) -> None:
    units = special.timer_units()
    by_time: dict[int, list[int]] = {}
    for position, unit in units.items():
        by_time.setdefault(unit.due_at_ms, []).append(position)
    for due, positions in by_time.items():
        unit = units[positions[0]]
        wait_until(
            lambda unit=unit: slot_of(special, unit)[1].is_used,  # type: ignore[misc] # a lambda with a default
            what="the wheel is on disk",
            timeout_s=30,
        )
        size, slot = slot_of(special, unit)
        expect("STORE-TIMERWHEEL-004", found=size, expected=38_707_200, what="bytes")
        expect(
            "STORE-TIMERWHEEL-002", found=slot.time, expected=due // 1000, what="time"
        )
        expect(
            "STORE-TIMERWHEEL-001",
            found=(slot.first_position, slot.last_position, slot.message_count),
            expected=(positions[0], positions[-1], len(positions)),
            what="first and last position, count",
        )


@pytest.mark.clause("STORE-TIMERCHECKPOINT-001")
def test_the_timers_checkpoint_counts_what_was_read(special: Special) -> None:
    path = special.store / "config" / timer_wheel.TIMER_CHECKPOINT
    units, log = special.timer_units(), special.log()
    last = max(log[unit.commit_log_offset].queue_offset for unit in units.values())

    def checkpoint() -> timer_wheel.TimerCheckpoint:
        return timer_wheel.decode_timer_checkpoint(path.read_bytes())

    wait_until(
        lambda: checkpoint().queue_offset > last,
        what="the timer's checkpoint has all messages",
        timeout_s=30,
    )
    end = max(units) + timer_log.UNIT_SIZE
    # The read position and the flush position are written in different rounds.
    with suppress(TooLateError):
        wait_until(
            lambda: checkpoint().flushed_position >= end,
            what="the timer's checkpoint has the log's position",
            timeout_s=30,
        )
    is_reached = checkpoint().flushed_position >= end
    expect(
        "STORE-TIMERCHECKPOINT-001",
        found=is_reached,
        expected=True,
        what="log position",
    )


@pytest.mark.clause(
    "STORE-BATCHQUEUE-001",
    "STORE-BATCHQUEUE-002",
    "STORE-BATCHQUEUE-003",
    "STORE-BATCHQUEUE-004",
    "STORE-BATCHQUEUE-005",
)
def test_a_unit_of_a_batch_queue_says_how_many_messages_it_is(
    special: Special,
) -> None:
    units = batch_units(special)
    log = special.log()
    records = [log[unit.commit_log_offset] for unit in units]
    expect(
        "STORE-BATCHQUEUE-001",
        found=[(unit.size, unit.tags_code, unit.stored_at_ms) for unit in units],
        expected=[(record_size(one), 0, one.stored_at_ms) for one in records],
        what="sizes, tags codes and store times",
    )
    first = [0, *accumulate(BATCH_TOPIC_COUNTS)][:-1]
    expect(
        "STORE-BATCHQUEUE-002",
        found=[unit.first_queue_offset for unit in units],
        expected=first,
        what="first queue offsets",
    )
    expect(
        "STORE-BATCHQUEUE-003",
        found=[unit.message_count for unit in units],
        expected=list(BATCH_TOPIC_COUNTS),
        what="message counts",
    )
    expect(
        "STORE-BATCHQUEUE-004",
        found={(unit.compacted_offset, unit.reserved) for unit in units},
        expected={(-1, 0)},
        what="compacted offsets and the word after",
    )


@pytest.mark.clause("STORE-BATCH-001")
def test_a_batch_is_stored_whole(special: Special) -> None:
    log = special.log()
    batches = batch_units(special)[: len(BATCH_SIZES)]
    for unit, count in zip(batches, BATCH_SIZES, strict=True):
        record = log[unit.commit_log_offset]
        flags = record.system_flags & (INNER_BATCH | NEED_UNWRAP)
        number = decode_properties(record.properties).get("INNER_NUM")
        expect(
            "STORE-BATCH-001",
            found=(flags, number, record.body),
            expected=(INNER_BATCH | NEED_UNWRAP, str(count), batch_of(count)),
            what="flags, INNER_NUM and body",
        )
