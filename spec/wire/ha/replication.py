"""
A slave copies its master's commit log over a connection of its own, without frames.

The slave connects to the master's HA port and reports its max offset in 8 bytes, again
after every transfer and every few seconds. The master sends transfers of its log: a
header of 12 bytes and the bytes that begin there. A header without bytes is a sign of
life. A transfer may end within a record. Topics and offsets are replicated by commands.

From 5.0 on a cluster with a controller has another protocol on this port (Java:
AutoSwitchHAConnection: handshake, epochs, confirmed offsets). It does not concern
clients, differs from release to release, and is not described here.
"""

from __future__ import annotations

from dataclasses import dataclass

from construct import Bytes, Int32sb, Int64sb, Struct, this

from spec.clause import Clause, Level
from spec.layout import LayoutError, build, field, parse

PORT_DISTANCE = 1
"""A master's HA port lies this far above its own (ROUTE-OUTERAPI-013)."""
ACK_SIZE = 8
HEADER_SIZE = 12

_MASTER = "4.6.0 org.apache.rocketmq.store.ha.HAConnection"
_SLAVE = "4.6.0 org.apache.rocketmq.store.ha.HAService$HAClient"

SLAVE_SPEAKS_FIRST = Clause(
    id="HA-TRANSFER-001",
    level=Level.MUST,
    text=(
        "A master sends nothing to a slave before the slave has reported its max "
        "commit-log offset in 8 bytes."
    ),
    source=f"{_MASTER}$WriteSocketService#run",
)
PIECE_FORM = Clause(
    id="HA-TRANSFER-002",
    level=Level.MUST,
    text=(
        "A transfer is its commit-log offset in 8 bytes, its body size in 4, and a "
        "body of commit-log bytes."
    ),
    source=f"{_MASTER}$WriteSocketService#transferData",
)
PIECES_FOLLOW = Clause(
    id="HA-TRANSFER-003",
    level=Level.MUST,
    text=(
        "The first transfer begins at the offset that the slave reported, and each "
        "following one where the previous one ended."
    ),
    source=f"{_MASTER}$WriteSocketService#run",
)
FRESH_SLAVE = Clause(
    id="HA-TRANSFER-004",
    level=Level.MUST,
    text=(
        "A slave that reports offset 0 receives the commit log from the beginning of "
        "the last file."
    ),
    source=f"{_MASTER}$WriteSocketService#run",
)
TRANSFER_BATCH_SIZE = Clause(
    id="HA-TRANSFER-005",
    level=Level.MUST,
    text="A transfer's body has at most haTransferBatchSize bytes, 32,768 by default.",
    source=f"{_MASTER}$WriteSocketService#run",
)
MASTER_ALIVE = Clause(
    id="HA-TRANSFER-006",
    level=Level.MUST,
    text=(
        "A master that has had nothing to send for haSendHeartbeatInterval sends a "
        "transfer header of size 0."
    ),
    source=f"{_MASTER}$WriteSocketService#run",
)
LAST_WORD_COUNTS = Clause(
    id="HA-TRANSFER-007",
    level=Level.MUST,
    text="If a slave has sent several offsets, the last whole 8 bytes count.",
    source=f"{_MASTER}$ReadSocketService#processReadEvent",
)
SILENT_SLAVE = Clause(
    id="HA-TRANSFER-008",
    level=Level.MUST,
    text="A master closes the connection of a slave that has been silent for"
    " haHousekeepingInterval.",
    source=f"{_MASTER}$ReadSocketService#run",
)
SLAVE_REFUSES = Clause(
    id="HA-TRANSFER-009",
    level=Level.MUST,
    text=(
        "A slave with a log closes the connection on which a transfer does not begin "
        "at its log's end."
    ),
    source=f"{_SLAVE}#dispatchReadRequest",
)
SLAVE_REPORTS = Clause(
    id="HA-TRANSFER-010",
    level=Level.MUST,
    text=(
        "A slave reports its max commit-log offset after each transfer, and at least "
        "every haSendHeartbeatInterval."
    ),
    source=f"{_SLAVE}#reportSlaveMaxOffsetPlus",
)

slave_offset_layout = Struct(
    field("offset", Int64sb, "end of the slave's commit log"),
)
assert slave_offset_layout.sizeof() == ACK_SIZE

piece_layout = Struct(
    field("offset", Int64sb, "where the bytes begin in the commit log"),
    field("size", Int32sb, "how many bytes follow; 0 is a sign of life"),
    field("data", Bytes(this.size), "bytes of the commit log"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of the commit log on its way from master to slave."""

    offset: int
    data: bytes = b""

    @property
    def end_offset(self) -> int:
        """The offset after the piece's last byte."""
        return self.offset + len(self.data)


def encode_slave_offset(offset: int) -> bytes:
    """Return the 8 bytes with which a slave reports its max offset."""
    return build(slave_offset_layout, {"offset": offset})


def decode_slave_offset(data: bytes | memoryview) -> int:
    """Return the offset that begins *data*; ignore later bytes."""
    return int(parse(slave_offset_layout, data[:ACK_SIZE]).offset)


def encode_piece(piece: Piece) -> bytes:
    """Return header and bytes of *piece*."""
    size = len(piece.data)
    values = {"offset": piece.offset, "size": size, "data": piece.data}
    return build(piece_layout, values)


def head_of_piece(data: bytes | bytearray | memoryview) -> tuple[int, int] | None:
    """Return offset and size that begin *data*, unchecked; None: they are not all."""
    if len(data) < HEADER_SIZE:
        return None
    offset = int.from_bytes(data[:8], "big", signed=True)
    return offset, int.from_bytes(data[8:HEADER_SIZE], "big", signed=True)


def size_of_piece(data: bytes | memoryview) -> int | None:
    """Return the bytes of the piece that begins *data*; None: the header is not all."""
    head = head_of_piece(data)
    if head is None:
        return None
    _, size = head
    if size < 0:
        raise LayoutError(f"{size} bytes in a piece", field="size", offset=8)
    return HEADER_SIZE + size


def decode_piece(data: bytes | memoryview) -> Piece:
    """Return the piece that begins *data*; ignore later bytes."""
    size = size_of_piece(data)
    if size is None or size > len(data):
        reason = f"{len(data)} bytes are here, the piece has {size or 'more'}"
        raise LayoutError(reason, field="size", offset=8)
    parsed = parse(piece_layout, data[:size])
    return Piece(offset=parsed.offset, data=parsed.data)
