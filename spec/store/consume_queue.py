"""
A consume queue is the table of contents of one queue of one topic (Java: ConsumeQueue).

It consists of files of equal units, each pointing at one message in the commit log.
The broker writes it after the commit log, and can always rebuild it from there.
A queue offset is the number of a unit, counted over all files of the queue; it is not
a byte position.
"""

from __future__ import annotations

from dataclasses import dataclass

from construct import Int32sb, Int64sb, Struct

from spec.clause import Clause, Level
from spec.derive.struct_codec import compile_codec
from spec.integers import INT32_MAX
from spec.layout import LayoutError, field

UNIT_SIZE = 20
"""Bytes of a unit (Java: CQ_STORE_UNIT_SIZE)."""
EXTENSION_ADDRESS_MAX = -(2**31) - 1
"""A tags code not above this is an address in consumequeue_ext instead."""

_QUEUE = "4.6.0 org.apache.rocketmq.store.ConsumeQueue"

UNIT_PLACE = Clause(
    id="STORE-QUEUE-001",
    level=Level.MUST,
    text="The unit of queue offset n begins at byte 20 * n of its consume queue, over"
    " all files.",
    source=f"{_QUEUE}#CQ_STORE_UNIT_SIZE",
)
UNIT_FIELDS = Clause(
    id="STORE-QUEUE-002",
    level=Level.MUST,
    text="A unit is the record's commit-log offset in 8 bytes, its size in 4 and its"
    " tags code in 8.",
    source=f"{_QUEUE}#putMessagePositionInfo",
)
UNIT_POINTS_AT_ITS_RECORD = Clause(
    id="STORE-QUEUE-003",
    level=Level.MUST,
    text=(
        "The record at a unit's commit-log offset has that unit's size, topic, queue "
        "id and queue offset."
    ),
    source=f"{_QUEUE}#putMessagePositionInfoWrapper",
)
UNIT_TAGS_CODE = Clause(
    id="STORE-QUEUE-004",
    level=Level.MUST,
    text="A unit's tags code is the hash of the record's TAGS property, 0 without one.",
    source="4.6.0 org.apache.rocketmq.store.CommitLog#checkMessageAndReturnSize",
)
UNIT_DELIVERY_TIME = Clause(
    id="STORE-QUEUE-005",
    level=Level.MUST,
    text="In a queue of SCHEDULE_TOPIC_XXXX a unit's tags code is the time in"
    " milliseconds at which the message is due.",
    source="4.6.0 org.apache.rocketmq.store.CommitLog#checkMessageAndReturnSize",
)
UNIT_ORDER = Clause(
    id="STORE-QUEUE-006",
    level=Level.MUST,
    text="The commit-log offsets of a consume queue rise from unit to unit.",
    source=f"{_QUEUE}#putMessagePositionInfo",
)
UNIT_EVERY_MESSAGE = Clause(
    id="STORE-QUEUE-007",
    level=Level.MUST,
    text=(
        "Every record without TRANSACTION_PREPARED_TYPE (4) or "
        "TRANSACTION_ROLLBACK_TYPE (12) has one unit."
    ),
    source="4.6.0 org.apache.rocketmq.store.DefaultMessageStore"
    "$CommitLogDispatcherBuildConsumeQueue#dispatch",
)
UNIT_ZEROS = Clause(
    id="STORE-QUEUE-008",
    level=Level.MUST,
    text="A unit of size 0 has not been written yet; the queue ends before it.",
    source=f"{_QUEUE}#recover",
)
UNIT_FILLER = Clause(
    id="STORE-QUEUE-009",
    level=Level.MUST,
    text="A queue that begins in the middle of a file has units of offset 0, size"
    " 2147483647 and tags code 0 before its first.",
    source=f"{_QUEUE}#fillPreBlank",
)
QUEUE_FILE_SIZE = Clause(
    id="STORE-QUEUE-010",
    level=Level.MUST,
    text="A consume-queue file's size is the configured one rounded up to whole units.",
    source="4.6.0 org.apache.rocketmq.store.config.MessageStoreConfig"
    "#getMappedFileSizeConsumeQueue",
)
UNIT_WITHOUT_SIZE = Clause(
    id="STORE-QUEUE-011",
    level=Level.QUIRK,
    text=(
        "Up to 5.0, a pull that reaches a unit of size 0 within a queue is refused "
        "with SYSTEM_ERROR (1): no consumer gets past the unit."
    ),
    source="4.6.0 org.apache.rocketmq.store.CommitLog#getMessage",
    until="5.0",
)
UNIT_WITHOUT_SIZE_IS_SILENT = Clause(
    id="STORE-QUEUE-012",
    level=Level.QUIRK,
    text=(
        "From 5.1 on, a pull that reaches a unit of size 0 within a queue is never "
        "answered: no consumer gets past the unit."
    ),
    source="5.3.3 org.apache.rocketmq.store.CommitLog#getMessage",
    since="5.1",
)

unit_layout = Struct(
    field("commit_log_offset", Int64sb, "where the record begins in the commit log"),
    field("size", Int32sb, "bytes of the record"),
    field("tags_code", Int64sb, "hash of the tag, or when a delayed message is due"),
)
assert unit_layout.sizeof() == UNIT_SIZE
unit_codec = compile_codec(unit_layout, compiled_for=[()])


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One entry of a consume queue."""

    commit_log_offset: int
    size: int
    tags_code: int = 0
    """Java: tagsCode."""

    @property
    def is_written(self) -> bool:
        """Whether the unit points at a record, or fills the space before the first."""
        return self.commit_log_offset >= 0 and self.size > 0

    @property
    def is_filler(self) -> bool:
        """Whether the unit stands for offsets before the queue's first."""
        return (self.commit_log_offset, self.size) == (0, INT32_MAX)

    @property
    def is_extended(self) -> bool:
        """Whether the tags code is an address in consumequeue_ext."""
        return self.tags_code <= EXTENSION_ADDRESS_MAX


def encode_unit(unit: Unit) -> bytes:
    """Return the 20 bytes of *unit*."""
    return unit_codec.encode((unit.commit_log_offset, unit.size, unit.tags_code))


def decode_unit(data: bytes | memoryview) -> Unit:
    """Return the unit that begins *data*; ignore later bytes."""
    commit_log_offset, size, tags_code = unit_codec.decode(data[:UNIT_SIZE])
    return Unit(commit_log_offset=commit_log_offset, size=size, tags_code=tags_code)


def decode_units(data: bytes | memoryview) -> list[Unit]:
    """Return the units of *data* up to the first that has not been written.

    Bytes that are no whole unit at the end are a LayoutError: files have none.
    """
    if len(data) % UNIT_SIZE:
        whole = len(data) // UNIT_SIZE * UNIT_SIZE
        raise LayoutError(f"{len(data) - whole} bytes of a unit of 20", offset=whole)
    found: list[Unit] = []
    for position in range(0, len(data), UNIT_SIZE):
        unit = decode_unit(data[position : position + UNIT_SIZE])
        if not unit.is_written:
            break
        found.append(unit)
    return found


def unit_position(queue_offset: int) -> int:
    """Return the byte at which the unit of *queue_offset* begins, over all files."""
    return queue_offset * UNIT_SIZE
