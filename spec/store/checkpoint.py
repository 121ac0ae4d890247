"""
The checkpoint has the store times up to which the store's files are on disk.

The broker flushes it at intervals, and reads it when it starts after a crash. Recovery
begins at a file that is older than these times. It is one page with three numbers, from
5.0 on four, from 5.1.1 on five, from 5.5 on six. From 5.5 on, the sixth decides where
recovery begins (REC-FIRSTFILE-006).
"""

from __future__ import annotations

from dataclasses import dataclass

from construct import Int64sb, Struct

from spec.clause import Clause, Level
from spec.layout import build, field, parse

FILE_SIZE = 4096
"""Bytes of the file (Java: MappedFile.OS_PAGE_SIZE)."""
SAFETY_MS = 3000
"""Time by which recovery begins before the checkpoint's times."""

_CHECKPOINT = "org.apache.rocketmq.store.StoreCheckpoint"

CHECKPOINT_FIELDS = Clause(
    id="STORE-CHECKPOINT-001",
    level=Level.MUST,
    text="The checkpoint begins with the store times of the last flushed record, unit"
    " and index item, 8 bytes each.",
    source=f"4.6.0 {_CHECKPOINT}#flush",
)
CHECKPOINT_PADDING = Clause(
    id="STORE-CHECKPOINT-002",
    level=Level.MUST,
    text="The checkpoint file has 4096 bytes, with zeros outside of its fields.",
    source=f"4.6.0 {_CHECKPOINT}#StoreCheckpoint",
)
CHECKPOINT_MORE = Clause(
    id="STORE-CHECKPOINT-003",
    level=Level.MUST,
    text=(
        "From 5.0 on, bytes 24 to 32 of the checkpoint are the master's flushed "
        "offset. From 5.1.1 on, bytes 32 to 40 are the confirmed offset."
    ),
    source=f"5.3.3 {_CHECKPOINT}#flush",
    since="5.0",
)
CHECKPOINT_OF_QUEUES = Clause(
    id="STORE-CHECKPOINT-004",
    level=Level.MUST,
    text=(
        "From 5.5 on, bytes 40 to 48 of the checkpoint are the commit-log offset of "
        "the last record whose unit was flushed, or 0."
    ),
    source=f"5.5.0 {_CHECKPOINT}#flush",
    since="5.5",
)
CHECKPOINT_SAFETY = Clause(
    id="REC-CHECKPOINT-001",
    level=Level.MUST,
    text=(
        "Up to 5.4, recovery after a crash begins at the last commit-log file whose "
        "first record is old enough. It was stored at least 3000 ms before the "
        "smaller of the checkpoint's first two times."
    ),
    source=f"4.6.0 {_CHECKPOINT}#getMinTimestamp",
    until="5.4",
)
CHECKPOINT_INDEX = Clause(
    id="REC-CHECKPOINT-002",
    level=Level.MUST,
    text="After a crash an index file whose end time is after the checkpoint's index"
    " time is deleted.",
    source="4.6.0 org.apache.rocketmq.store.index.IndexService#load",
    issues=(
        "apache/rocketmq#8007",
        "apache/rocketmq#7539",
        "apache/rocketmq#8041",
    ),
)

checkpoint_layout = Struct(
    field("physic_ms", Int64sb, "commit log (Java: physicMsgTimestamp)"),
    field("logics_ms", Int64sb, "consume queues (Java: logicsMsgTimestamp)"),
    field("index_ms", Int64sb, "index files that are full (Java: indexMsgTimestamp)"),
    field("master_flushed_offset", Int64sb, "since 5.0, else 0"),
    field("confirmed_offset", Int64sb, "since 5.1.1, else 0 (Java: confirmPhyOffset)"),
    field("queues_offset", Int64sb, "since 5.5, else 0 (Java: logicsPhysicalOffset)"),
)
assert checkpoint_layout.sizeof() == 48


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """Times up to which the store's files are on disk."""

    physic_ms: int = 0
    logics_ms: int = 0
    index_ms: int = 0
    master_flushed_offset: int = 0
    confirmed_offset: int = 0
    queues_offset: int = 0

    @property
    def safe_ms(self) -> int:
        """The time before which records and units are certainly on disk."""
        return max(min(self.physic_ms, self.logics_ms) - SAFETY_MS, 0)

    @property
    def safe_with_index_ms(self) -> int:
        """The time before which index items are on disk too."""
        return min(self.safe_ms, self.index_ms)


def encode_checkpoint(checkpoint: Checkpoint) -> bytes:
    """Return the file that holds *checkpoint*."""
    names = Checkpoint.__slots__
    fields = build(
        checkpoint_layout, {name: getattr(checkpoint, name) for name in names}
    )
    return fields.ljust(FILE_SIZE, b"\0")


def decode_checkpoint(data: bytes | memoryview) -> Checkpoint:
    """Return the checkpoint that begins *data*; ignore later bytes."""
    parsed = parse(checkpoint_layout, data[: checkpoint_layout.sizeof()])
    return Checkpoint(**{name: parsed[name] for name in Checkpoint.__slots__})
