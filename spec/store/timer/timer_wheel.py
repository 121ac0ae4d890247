"""
The timer wheel is a ring of slots, one a second, to find due messages.

Each slot names the first and the last unit of the timer log that are due in it. The
file holds twice seven days of slots for any precision. A slot's number is its time
modulo that count, and its time field distinguishes this round from an earlier one. The
timer's checkpoint beside it has the progress of reading the topic and delivering.
"""

from __future__ import annotations

from dataclasses import dataclass

from construct import Int32sb, Int64sb, Struct

from spec.clause import Clause, Level
from spec.layout import LayoutError, build, field, parse

TIMER_WHEEL = "timerwheel"
"""The file, in the store's own directory."""
TIMER_CHECKPOINT = "timercheck"
"""The checkpoint's file, in the directory config."""
SLOT_SIZE = 32
SLOT_COUNT = 2 * 7 * 24 * 3600
"""Slots of the wheel: twice the seconds of seven days."""
WHEEL_SIZE = SLOT_COUNT * SLOT_SIZE
PRECISION_MS_DEFAULT = 1000
"""Milliseconds of a slot by default (timerPrecisionMs)."""
CHECKPOINT_SIZE = 56

_WHEEL = "5.3.3 org.apache.rocketmq.store.timer.TimerWheel"
_CHECKPOINT = "5.3.3 org.apache.rocketmq.store.timer.TimerCheckpoint"

WHEEL_FIELDS = Clause(
    id="STORE-TIMERWHEEL-001",
    level=Level.MUST,
    text="A slot of the timer wheel is its time, the positions of its first and last"
    " timer units, the number of its messages and an unused word, 32 bytes.",
    source="5.3.3 org.apache.rocketmq.store.timer.Slot#SIZE",
    since="5.0",
)
WHEEL_TIME = Clause(
    id="STORE-TIMERWHEEL-002",
    level=Level.MUST,
    text="A slot's time is counted in units of the timer's precision, by default in"
    " seconds.",
    source=f"{_WHEEL}#putSlot",
    since="5.0",
)
WHEEL_PLACE = Clause(
    id="STORE-TIMERWHEEL-003",
    level=Level.MUST,
    text="The slot index of a time is the time over the precision, modulo 1,209,600.",
    source=f"{_WHEEL}#getSlotIndex",
    since="5.0",
)
WHEEL_FILE = Clause(
    id="STORE-TIMERWHEEL-004",
    level=Level.MUST,
    text="The file timerwheel has 38,707,200 bytes.",
    source=f"{_WHEEL}#TimerWheel",
    since="5.0",
)
WHEEL_LAST = Clause(
    id="STORE-TIMERWHEEL-005",
    level=Level.MUST,
    text=(
        "The chain of previous units from a slot's last timer unit leads to its first."
    ),
    source="5.3.3 org.apache.rocketmq.store.timer.TimerMessageStore#doEnqueue",
    since="5.0",
)
TIMER_CHECKPOINT_FIELDS = Clause(
    id="STORE-TIMERCHECKPOINT-001",
    level=Level.MUST,
    text=(
        "The timer's checkpoint begins with the time up to which it delivered, the "
        "flushed position of its log, the next queue offset of its topic and that of "
        "the master. A data version of state, time and counter follows; each field "
        "has 8 bytes."
    ),
    source=f"{_CHECKPOINT}#flush",
    since="5.0",
)
TIMER_CHECKPOINT_BODY = Clause(
    id="STORE-TIMERCHECKPOINT-002",
    level=Level.MUST,
    text="A slave receives the 56 bytes of the timer's checkpoint as a body.",
    source=f"{_CHECKPOINT}#encode",
    since="5.0",
)

timer_slot_layout = Struct(
    field("time", Int64sb, "of the slot, in units of the precision"),
    field("first_position", Int64sb, "of its first timer unit"),
    field("last_position", Int64sb, "of its last timer unit"),
    field("message_count", Int32sb, "messages due in it (Java: num)"),
    field("magic", Int32sb, "0; not used"),
)
assert timer_slot_layout.sizeof() == SLOT_SIZE

timer_checkpoint_layout = Struct(
    field("read_at_ms", Int64sb, "delivered up to here (Java: lastReadTimeMs)"),
    field("flushed_position", Int64sb, "of the timer log (Java: lastTimerLogFlushPos)"),
    field("queue_offset", Int64sb, "next of the timer's topic to be put in the log"),
    field("master_queue_offset", Int64sb, "the master's, as a slave read it"),
    field("state_version", Int64sb, "of the data version"),
    field("version_at_ms", Int64sb, "of the data version"),
    field("version_counter", Int64sb, "of the data version"),
)
assert timer_checkpoint_layout.sizeof() == CHECKPOINT_SIZE


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerSlot:
    """One slot of the timer wheel; of zeros where nothing was ever due."""

    time: int = 0
    first_position: int = 0
    last_position: int = 0
    message_count: int = 0
    magic: int = 0

    @property
    def is_used(self) -> bool:
        """Whether something was due in the slot in this or an earlier round."""
        return self.time > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerCheckpoint:
    """Progress of the timer, as the file timercheck keeps it."""

    read_at_ms: int = 0
    flushed_position: int = 0
    queue_offset: int = 0
    master_queue_offset: int = 0
    state_version: int = 0
    version_at_ms: int = 0
    version_counter: int = 0


def slot_index(time_ms: int, *, precision_ms: int = PRECISION_MS_DEFAULT) -> int:
    """Return the number of the slot in which *time_ms* lies."""
    if time_ms < 0 or precision_ms <= 0:
        raise LayoutError(f"{time_ms} ms in steps of {precision_ms} has no slot")
    return time_ms // precision_ms % SLOT_COUNT


def encode_timer_slot(slot: TimerSlot) -> bytes:
    """Return the 32 bytes of *slot*."""
    names = TimerSlot.__slots__
    return build(timer_slot_layout, {name: getattr(slot, name) for name in names})


def decode_timer_slot(data: bytes | memoryview) -> TimerSlot:
    """Return the slot that begins *data*; ignore later bytes."""
    parsed = parse(timer_slot_layout, data[:SLOT_SIZE])
    return TimerSlot(**{name: parsed[name] for name in TimerSlot.__slots__})


def encode_timer_checkpoint(checkpoint: TimerCheckpoint) -> bytes:
    """Return the 56 bytes of *checkpoint*; its file has zeros up to 4096."""
    values = {n: getattr(checkpoint, n) for n in TimerCheckpoint.__slots__}
    return build(timer_checkpoint_layout, values)


def decode_timer_checkpoint(data: bytes | memoryview) -> TimerCheckpoint:
    """Return the checkpoint that begins *data*; ignore later bytes."""
    parsed = parse(timer_checkpoint_layout, data[:CHECKPOINT_SIZE])
    return TimerCheckpoint(**{n: parsed[n] for n in TimerCheckpoint.__slots__})
