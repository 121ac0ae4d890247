"""
A frame is one command on a connection: two size words, a header and a body.

Both sides send frames, in any number and in any chunking: TCP keeps no borders. The
header identifies the command (see ``spec.wire.remoting.command``), in one of two
formats. The body is bytes whose meaning the command's code defines.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from construct import Bytes, Int8ub, Int24ub, Int32sb, Struct, this

from spec.clause import Clause, Level
from spec.derive.struct_codec import compile_codec
from spec.layout import LayoutError, field

FRAME_SIZE_MAX = 16_777_216
"""The largest frame that a peer takes by default, its size word included."""
SIZE_WORD = 4
"""Bytes of the size word that begins a frame."""

_COMMAND = "4.6.0 org.apache.rocketmq.remoting.protocol.RemotingCommand"
_DECODER = "4.6.0 org.apache.rocketmq.remoting.netty.NettyDecoder"


class SerializeType(IntEnum):
    """Serialization of a frame's header."""

    JSON = 0
    """See spec.wire.remoting.header_json."""
    ROCKETMQ = 1
    """See spec.wire.remoting.header_rocketmq."""


FRAME_SIZE = Clause(
    id="WIRE-FRAME-001",
    level=Level.MUST,
    text="A frame begins with a 4-byte count of the bytes that follow that count.",
    source=f"{_COMMAND}#encode",
    hints=(
        ("four too many", "the size word does not count itself"),
        ("reads backwards", "was it written little-endian?"),
    ),
)
FRAME_HEADER_SIZE = Clause(
    id="WIRE-FRAME-002",
    level=Level.MUST,
    text="The low 24 bits of a frame's second word are the size of its header.",
    source=f"{_COMMAND}#getHeaderLength",
    hints=(("is the wanted value modulo 256", "was one byte read of the three?"),),
)
FRAME_SERIALIZE_TYPE = Clause(
    id="WIRE-FRAME-003",
    level=Level.MUST,
    text=(
        "The high 8 bits of a frame's second word are its serialize type: 0 is JSON, "
        "1 is ROCKETMQ."
    ),
    source=f"{_COMMAND}#getProtocolType",
)
FRAME_BODY = Clause(
    id="WIRE-FRAME-004",
    level=Level.MUST,
    text="A frame's body is the rest of the frame after its header, and may be empty.",
    source=f"{_COMMAND}#decode",
)
FRAME_TOO_LARGE = Clause(
    id="WIRE-FRAME-005",
    level=Level.MUST,
    text="A peer closes the connection on which a frame of more than 16,777,216 bytes"
    " arrives.",
    source=f"{_DECODER}#FRAME_MAX_LENGTH",
)
FRAME_CHUNKING = Clause(
    id="WIRE-FRAME-006",
    level=Level.MUST,
    text=(
        "A frame has the same meaning however TCP splits it or joins it to its "
        "neighbours."
    ),
    source=f"{_DECODER}#NettyDecoder",
    issues=("NewLifeX/NewLife.RocketMQ#12",),
)
FRAME_HEADER_PAST_END = Clause(
    id="WIRE-FRAME-007",
    level=Level.MUST,
    text=(
        "A peer closes the connection on which a header extends past its frame's end."
    ),
    source=f"{_DECODER}#decode",
)
FRAME_UNKNOWN_SERIALIZE_TYPE = Clause(
    id="WIRE-FRAME-008",
    level=Level.MUST,
    text=(
        "A peer closes the connection on which a header of an unknown serialize type "
        "arrives."
    ),
    source=f"{_COMMAND}#headerDecode",
)
FRAME_BAD_HEADER = Clause(
    id="WIRE-FRAME-009",
    level=Level.MUST,
    text="A peer closes the connection on which an unreadable header arrives.",
    source=f"{_DECODER}#decode",
)
FRAME_TOO_SMALL = Clause(
    id="WIRE-FRAME-010",
    level=Level.MUST,
    text="A peer closes the connection on which a frame's size word is below 4.",
    source=f"{_DECODER}#decode",
)
FRAME_OTHERS_LIVE = Clause(
    id="WIRE-FRAME-011",
    level=Level.MUST,
    text="A connection that is closed over a bad frame leaves the others served.",
    source=f"{_DECODER}#decode",
)

frame_layout = Struct(
    field("size", Int32sb, "bytes that follow this field (Java: length)"),
    field("serialize_type", Int8ub, "how the header is written: 0 JSON, 1 ROCKETMQ"),
    field("header_size", Int24ub, "bytes of the header (Java: headerLength)"),
    field(
        "header", Bytes(this.header_size), "the command, see spec.wire.remoting.command"
    ),
    field("body", Bytes(this.size - 4 - this.header_size), "see the command's code"),
)
frame_codec = compile_codec(frame_layout)

HEADER_WORD = 4
"""Bytes of the word with the header's serialize type and size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A frame. Its two sizes are derived when it is encoded."""

    serialize_type: int = SerializeType.JSON
    """A SerializeType; any byte survives a round trip."""
    header: bytes
    body: bytes = b""


def encode_frame(frame: Frame) -> bytes:
    """Return the bytes of *frame*, its size word included."""
    size = HEADER_WORD + len(frame.header) + len(frame.body)
    return frame_codec.encode(
        (size, frame.serialize_type, len(frame.header), frame.header, frame.body)
    )


def decode_frame(data: bytes | bytearray | memoryview) -> Frame:
    """Return the frame that *data* holds, all of it and nothing more."""
    size = size_of_frame(data)
    if size != len(data):
        reason = f"the frame has {size} bytes, {len(data)} are here"
        raise LayoutError(reason, field="size", offset=0)
    _, serialize_type, _, header, body = frame_codec.decode(data)
    return Frame(serialize_type=serialize_type, header=header, body=body)


def size_of_frame(
    data: bytes | bytearray | memoryview, *, limit: int = FRAME_SIZE_MAX
) -> int:
    """Return the size of the frame that begins *data*, its size word included.

    *data* may hold less than the frame, but not less than its size word. A size
    that no frame may have, or that is above *limit*, is a LayoutError.
    """
    if len(data) < SIZE_WORD:
        reason = f"{len(data)} bytes of a size word of {SIZE_WORD}"
        raise LayoutError(reason, field="size", offset=0)
    size = int.from_bytes(data[:SIZE_WORD], "big", signed=True)
    if size < HEADER_WORD:
        reason = f"{size} is less than the {HEADER_WORD} bytes of the header word"
        raise LayoutError(reason, field="size", offset=0)
    if size + SIZE_WORD > limit:
        reason = f"{size + SIZE_WORD} bytes are more than the limit of {limit}"
        raise LayoutError(reason, field="size", offset=0)
    return size + SIZE_WORD


def take_frame(data: bytearray) -> bytes | None:
    """Remove the whole frame that begins *data* and return it; None if it lacks bytes.

    Raises LayoutError for a size that no frame may have.
    """
    if len(data) < SIZE_WORD:
        return None
    size = size_of_frame(data)
    if len(data) < size:
        return None
    frame = bytes(data[:size])
    del data[:size]
    return frame
