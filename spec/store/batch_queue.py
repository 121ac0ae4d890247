"""
A batch consume queue has one unit for each record, with the record's message count.

From 5.0 on a topic may have the attribute queue.type=BatchCQ. A batch sent to it is
stored as one record, and queue offsets advance by its messages. A message that is sent
alone is a record of one message. A unit names the first
queue offset, so a reader must search for it; in a plain consume queue it computes the
unit's place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from construct import Int16sb, Int32sb, Int64sb, Struct

from spec.clause import Clause, Level
from spec.layout import LayoutError, build, field, parse

BATCH_QUEUE = "batchconsumequeue"
"""The directory of a store that has the files, as TOPIC/QUEUE/OFFSET."""
QUEUE_TYPE = "queue.type"
"""Attribute of a topic with the type of its queues (since 5.0)."""
SIMPLE, BATCH = "SimpleCQ", "BatchCQ"
"""Types of consume queues (Java: CQType). A topic without the attribute has SIMPLE."""
UNIT_SIZE = 46
"""Bytes of a unit (Java: CQ_STORE_UNIT_SIZE)."""
NOT_COMPACTED = -1
"""Missing position in a compacted log (Java: INVALID_POS)."""

_QUEUE = "5.3.3 org.apache.rocketmq.store.queue.BatchConsumeQueue"

BATCH_UNIT_FIELDS = Clause(
    id="STORE-BATCHQUEUE-001",
    level=Level.MUST,
    text=(
        "A unit of a batch consume queue has 46 bytes: those of a consume-queue "
        "unit, then store time, first queue offset, message count, compacted offset "
        "and 4 more."
    ),
    source=f"{_QUEUE}#CQ_STORE_UNIT_SIZE",
    since="5.0",
)
BATCH_UNIT_BASE = Clause(
    id="STORE-BATCHQUEUE-002",
    level=Level.MUST,
    text=(
        "A unit's first queue offset is that of the previous unit plus its message "
        "count."
    ),
    source=f"{_QUEUE}#putBatchMessagePositionInfo",
    since="5.0",
)
BATCH_UNIT_COUNT = Clause(
    id="STORE-BATCHQUEUE-003",
    level=Level.MUST,
    text=(
        "A unit's count is the property INNER_NUM of the record at which it points, or "
        "1 if that has not both INNER_NUM and INNER_BASE, as a message sent alone."
    ),
    source="5.3.3 org.apache.rocketmq.store.CommitLog#checkMessageAndReturnSize"
    "; DispatchRequest#msgBaseOffset, #batchSize",
    since="5.0",
)
BATCH_UNIT_REST = Clause(
    id="STORE-BATCHQUEUE-004",
    level=Level.MUST,
    text="A new unit's compacted offset is -1 and its last 4 bytes are 0.",
    source=f"{_QUEUE}#putBatchMessagePositionInfo",
    since="5.0",
)

BATCH_QUEUE_PLACE = Clause(
    id="STORE-BATCHQUEUE-005",
    level=Level.MUST,
    text="The files of a batch consume queue lie in batchconsumequeue/TOPIC/QUEUE, each"
    " named after the byte offset of its first unit.",
    source="5.3.3 org.apache.rocketmq.store.config.StorePathConfigHelper"
    "#getStorePathBatchConsumeQueue",
    since="5.0",
)
NO_BATCH_QUEUES = Clause(
    id="STORE-BATCHQUEUE-006",
    level=Level.QUIRK,
    text=(
        "A broker up to 4.9, which has no batch consume queues, opens the store of a "
        "later release and shows the topics of batch consume queues as empty."
    ),
    source="4.6.0 org.apache.rocketmq.store.DefaultMessageStore#loadConsumeQueue",
    until="4.9",
)
BATCHES_BECOME_UNITS = Clause(
    id="STORE-BATCHQUEUE-007",
    level=Level.QUIRK,
    text=(
        "A broker up to 4.9 that opens the store of a later release after a crash "
        "gives each recovered batch one unit of a consume queue. The queue's offsets "
        "then count batches and not messages."
    ),
    source="4.6.0 org.apache.rocketmq.store.ConsumeQueue#putMessagePositionInfo",
    until="4.9",
)

TYPE_OF_QUEUES = Clause(
    id="STORE-BATCHQUEUE-008",
    level=Level.MUST,
    text=(
        "A broker does not start if a topic has queues in batchconsumequeue without "
        "queue.type=BatchCQ in topics.json, or queues in consumequeue with it."
    ),
    source="5.3.3 org.apache.rocketmq.store.queue.ConsumeQueueStore#queueTypeShouldBe",
    since="5.0",
)


def queue_type(topic: object) -> object:
    """Return the type of a *topic*'s queues; *topic* is its entry in topics.json."""
    attributes = topic.get("attributes") if isinstance(topic, Mapping) else None
    found = attributes.get(QUEUE_TYPE) if isinstance(attributes, Mapping) else None
    return found or SIMPLE


batch_unit_layout = Struct(
    field("commit_log_offset", Int64sb, "where the record begins in the commit log"),
    field("size", Int32sb, "bytes of the record"),
    field("tags_code", Int64sb, "hash of the tag"),
    field("stored_at_ms", Int64sb, "store time of the record"),
    field("first_queue_offset", Int64sb, "of the batch (Java: msgBaseOffset)"),
    field("message_count", Int16sb, "messages in the record (Java: batchSize)"),
    field("compacted_offset", Int32sb, "place in a compacted log, or -1"),
    field("reserved", Int32sb, "0"),
)
assert batch_unit_layout.sizeof() == UNIT_SIZE


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchUnit:
    """One entry of a batch consume queue."""

    commit_log_offset: int
    size: int
    tags_code: int = 0
    stored_at_ms: int
    first_queue_offset: int
    """Queue offset of the record's first message, counted in messages."""
    message_count: int
    compacted_offset: int = NOT_COMPACTED
    reserved: int = 0

    @property
    def is_written(self) -> bool:
        """Whether the unit points at a record."""
        return self.commit_log_offset >= 0 and self.size > 0

    @property
    def next_queue_offset(self) -> int:
        """The queue offset after the record's last message."""
        return self.first_queue_offset + self.message_count


def encode_batch_unit(unit: BatchUnit) -> bytes:
    """Return the 46 bytes of *unit*."""
    names = BatchUnit.__slots__
    return build(batch_unit_layout, {name: getattr(unit, name) for name in names})


def decode_batch_unit(data: bytes | memoryview) -> BatchUnit:
    """Return the unit that begins *data*; ignore later bytes."""
    parsed = parse(batch_unit_layout, data[:UNIT_SIZE])
    return BatchUnit(**{name: parsed[name] for name in BatchUnit.__slots__})


def decode_batch_units(data: bytes | memoryview) -> list[BatchUnit]:
    """Return the units of *data* up to the first that has not been written."""
    if len(data) % UNIT_SIZE:
        whole = len(data) // UNIT_SIZE * UNIT_SIZE
        raise LayoutError(f"{len(data) - whole} bytes of a unit of 46", offset=whole)
    found: list[BatchUnit] = []
    for position in range(0, len(data), UNIT_SIZE):
        unit = decode_batch_unit(data[position : position + UNIT_SIZE])
        if not unit.is_written:
            break
        found.append(unit)
    return found
