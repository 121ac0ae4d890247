"""
The timer log has the due times of messages with a delivery time of their own.

From 5.0 on a broker keeps such messages in the topic rmq_sys_wheel_timer. For each it
appends a unit to the timer log. Units of the same slot of the timer wheel are chained:
each names the previous one, and the slot the last. A file ends in a blank, like those
of the commit log. The wheel is the index of the log. A lost log is rebuilt from the
topic.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag

from construct import Int32sb, Int32ub, Int64sb, Struct

from spec.clause import Clause, Level
from spec.layout import LayoutError, build, field, parse
from spec.store.blank import BLANK_MAGIC

TIMER_LOG = "timerlog"
"""The directory of a store that has the files, named by the offset of each."""
UNIT_SIZE = 52
BLANK_SIZE_MIN = 16
FILE_SIZE_DEFAULT = 100 * 1024 * 1024
"""Bytes of a file by default (mappedFileSizeTimerLog)."""
NONE_BEFORE = -1

_STORE = "5.3.3 org.apache.rocketmq.store.timer.TimerMessageStore"
_HOOK = "5.3.3 org.apache.rocketmq.broker.util.HookUtils"
_LOG = "5.3.3 org.apache.rocketmq.store.timer.TimerLog"

TIMER_UNIT_FIELDS = Clause(
    id="STORE-TIMER-001",
    level=Level.MUST,
    text=(
        "A timer log unit has 52 bytes: size, position of the previous unit of its "
        "slot, magic, write time, delay, and offset, size and topic hash of its "
        "message. Its last 8 bytes are zeros."
    ),
    source=f"{_LOG}#UNIT_SIZE",
    since="5.0",
)
TIMER_UNIT_MAGIC = Clause(
    id="STORE-TIMER-002",
    level=Level.MUST,
    text=(
        "A timer unit's magic is 1 (MAGIC_DEFAULT), plus 2 (MAGIC_ROLL) if the "
        "message will be put again, beyond the wheel, plus 4 (MAGIC_DELETE) if it "
        "deletes another."
    ),
    source=f"{_STORE}#doEnqueue",
    since="5.0",
)
TIMER_UNIT_CHAIN = Clause(
    id="STORE-TIMER-003",
    level=Level.MUST,
    text=(
        "A timer unit holds the position of the previous unit of the same slot, or -1."
    ),
    source=f"{_STORE}#doEnqueue",
    since="5.0",
)
TIMER_UNIT_DUE = Clause(
    id="STORE-TIMER-004",
    level=Level.MUST,
    text=(
        "A timer unit's write time plus its delay is its message's TIMER_OUT_MS, "
        "unless the magic has MAGIC_ROLL (2)."
    ),
    source=f"{_STORE}#doEnqueue",
    since="5.0",
    issues=("mxsm/rocketmq-rust#9154",),
)
TIMER_UNIT_MESSAGE = Clause(
    id="STORE-TIMER-005",
    level=Level.MUST,
    text="A timer unit points at a record of rmq_sys_wheel_timer and has the hash of"
    " that record's REAL_TOPIC.",
    source=f"{_STORE}#hashTopicForMetrics",
    since="5.0",
    issues=(
        "apache/rocketmq#10668",
        "apache/rocketmq#9947",
        "apache/rocketmq#9735",
    ),
)
TIMER_BLANK = Clause(
    id="STORE-TIMER-006",
    level=Level.MUST,
    text=(
        "If less than a unit and 16 bytes remain in a timer log's file, a blank of "
        "size, 8 zeros and 0xCBD43194 takes the rest."
    ),
    source=f"{_LOG}#append",
    since="5.0",
)
TIMER_PROPERTIES = Clause(
    id="STORE-TIMER-007",
    level=Level.MUST,
    text=(
        "A message in rmq_sys_wheel_timer has the properties REAL_TOPIC, REAL_QID "
        "and TIMER_OUT_MS, its time rounded down to the timer's precision."
    ),
    source=f"{_HOOK}#transformTimerMessage",
    since="5.0",
)
TIMER_EARLY = Clause(
    id="STORE-TIMER-008",
    level=Level.QUIRK,
    text="A message whose time is a whole multiple of the timer's precision is due one"
    " step of the precision earlier.",
    source=f"{_HOOK}#transformTimerMessage",
    since="5.0",
)
NO_TIMER = Clause(
    id="STORE-TIMER-009",
    level=Level.QUIRK,
    text=(
        "A broker up to 4.9, which has no timer, opens the store of a later release "
        "and never delivers the messages of rmq_sys_wheel_timer."
    ),
    source="4.6.0 org.apache.rocketmq.store.schedule.ScheduleMessageService"
    "#SCHEDULE_TOPIC, the only topic whose messages it delivers later",
    until="4.9",
)


class TimerMagic(IntFlag):
    """Bits of a timer unit's magic."""

    DEFAULT = 1 << 0
    ROLL = 1 << 1
    """The time lies beyond the wheel: when the unit is due it is put in again."""
    DELETE = 1 << 2
    """The message takes another out that has not been delivered yet."""


timer_unit_layout = Struct(
    field("size", Int32sb, "52"),
    field("previous_position", Int64sb, "of the unit before it in its slot, or -1"),
    field("magic", Int32ub, "bits of TimerMagic"),
    field("written_at_ms", Int64sb, "the timer's time (Java: currWriteTime)"),
    field("delay_ms", Int32sb, "from then until the message is due"),
    field("commit_log_offset", Int64sb, "where the record begins (Java: offsetPy)"),
    field("record_size", Int32sb, "bytes of the record (Java: sizePy)"),
    field("topic_hash", Int32sb, "of the real topic's name"),
    field("reserved", Int64sb, "0"),
)
assert timer_unit_layout.sizeof() == UNIT_SIZE

timer_blank_layout = Struct(
    field("size", Int32sb, "bytes from here to the end of the file"),
    field("zeros", Int64sb, "0"),
    field("magic", Int32ub, "0xCBD43194"),
)
assert timer_blank_layout.sizeof() == BLANK_SIZE_MIN


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerUnit:
    """One entry of the timer log."""

    previous_position: int = NONE_BEFORE
    magic: int = TimerMagic.DEFAULT
    written_at_ms: int
    delay_ms: int
    commit_log_offset: int
    record_size: int
    topic_hash: int
    reserved: int = 0

    @property
    def due_at_ms(self) -> int:
        """Time at which the message is delivered or put in again."""
        return self.written_at_ms + self.delay_ms


def encode_timer_unit(unit: TimerUnit) -> bytes:
    """Return the 52 bytes of *unit*."""
    values = {name: getattr(unit, name) for name in TimerUnit.__slots__}
    return build(timer_unit_layout, values | {"size": UNIT_SIZE})


def decode_timer_unit(data: bytes | memoryview) -> TimerUnit:
    """Return the unit that begins *data*; ignore later bytes."""
    parsed = parse(timer_unit_layout, data[:UNIT_SIZE])
    if parsed.size != UNIT_SIZE:
        reason = f"{parsed.size} bytes, a timer unit has {UNIT_SIZE}"
        raise LayoutError(reason, field="size")
    if parsed.magic > 0xF:
        raise LayoutError(f"{parsed.magic:#x} is no magic", field="magic", offset=12)
    return TimerUnit(**{name: parsed[name] for name in TimerUnit.__slots__})


def decode_timer_units(data: bytes | memoryview) -> dict[int, TimerUnit]:
    """Return the units of a file by their place in it, up to a blank or zeros."""
    found: dict[int, TimerUnit] = {}
    for position in range(0, len(data) - UNIT_SIZE + 1, UNIT_SIZE):
        blank = data[position + 12 : position + 16] == BLANK_MAGIC.to_bytes(4, "big")
        if blank or not any(data[position : position + 4]):
            break
        try:
            found[position] = decode_timer_unit(data[position : position + UNIT_SIZE])
        except LayoutError as error:
            raise error.moved(position) from error
    return found


def encode_timer_blank(size: int) -> bytes:
    """Return the words of a blank of *size* bytes; what follows them is free."""
    if size < BLANK_SIZE_MIN:
        raise LayoutError(f"{size} bytes, a blank has 16 at least", field="size")
    values = {"size": size, "zeros": 0, "magic": BLANK_MAGIC}
    return build(timer_blank_layout, values)
