"""
A message id is the place of a message: its broker's address and its offset there.

The broker makes it when it has stored the message (Java: offsetMsgId), and a client can
query the message by it. It is written as upper-case hex. The producer's own id is
another one, see ``spec.wire.message.unique_key``.
"""

from __future__ import annotations

import re

from construct import Bytes, Int32sb, Int64sb, Struct

from spec.clause import Clause, Level
from spec.host import Host
from spec.layout import LayoutError, build, field, parse

_DECODER = "4.6.0 org.apache.rocketmq.common.message.MessageDecoder"

MESSAGE_ID_FORM = Clause(
    id="WIRE-MESSAGEID-001",
    level=Level.MUST,
    text="A message id is the store host's address, its port in 4 bytes and the"
    " record's offset in 8, in 32 upper-case hex digits.",
    source=f"{_DECODER}#createMessageId",
    hints=(("an offset that is no record's", "was the queue offset put in?"),),
    issues=(
        "apache/rocketmq-client-cpp#81",
        "apache/rocketmq-client-cpp#92",
        "apache/rocketmq-client-go#211",
    ),
)
MESSAGE_ID_FORM_V6 = Clause(
    id="WIRE-MESSAGEID-002",
    level=Level.MUST,
    text=(
        "From 4.6 on, a message id of a broker with an IPv6 address has 56 hex digits."
    ),
    source=f"{_DECODER}#createMessageId",
    since="4.6",
    untestable="targets listen on 127.0.0.1; spec/tests reads and writes such ids",
)
MESSAGE_ID_CASE = Clause(
    id="WIRE-MESSAGEID-003",
    level=Level.MUST,
    text="A reader accepts a message id in lower-case hex too.",
    source="4.6.0 org.apache.rocketmq.common.UtilAll#string2bytes",
    untestable="peers read ids in the client library, never on the wire",
)
MESSAGE_ID_OF_BATCH = Clause(
    id="WIRE-MESSAGEID-004",
    level=Level.MUST,
    text="The response to a batch has the ids of its messages, separated by commas.",
    source="4.6.0 org.apache.rocketmq.store.CommitLog$DefaultAppendMessageCallback"
    "#doAppend",
)


def _layout(address_size: int) -> Struct:
    return Struct(
        field("address", Bytes(address_size), "the broker's address"),
        field("port", Int32sb, "the broker's port"),
        field("commit_log_offset", Int64sb, "where the message's record begins"),
    )


message_id_layout = _layout(4)
message_id_v6_layout = _layout(16)
assert message_id_layout.sizeof() == 16
assert message_id_v6_layout.sizeof() == 28

_HEX = re.compile(r"[0-9A-Fa-f]*", re.ASCII)


def encode_message_id(host: Host, commit_log_offset: int) -> str:
    """Return the id of the message at *commit_log_offset* of the broker at *host*."""
    layout = message_id_v6_layout if host.is_v6 else message_id_layout
    values = host.as_field() | {"commit_log_offset": commit_log_offset}
    return build(layout, values).hex().upper()


def decode_message_id(text: str) -> tuple[Host, int]:
    """Return the host and the commit-log offset that the id *text* names."""
    data = bytes_of_hex(text)
    parsed = parse(layout_of_message_id(data), data)
    if not 0 <= parsed.port <= 65_535:
        offset = len(parsed.address)
        raise LayoutError(f"{parsed.port} is no port", field="port", offset=offset)
    return Host(parsed.address, parsed.port), int(parsed.commit_log_offset)


def layout_of_message_id(data: bytes) -> Struct:
    """Return the layout of an id of 16 or 28 bytes."""
    for layout in (message_id_layout, message_id_v6_layout):
        if len(data) == layout.sizeof():
            return layout
    raise LayoutError(f"{len(data)} bytes, a message id has 16 or 28")


def bytes_of_hex(text: str) -> bytes:
    """Return the bytes that the hex digits *text* stand for, and nothing else."""
    found = _HEX.match(text)
    wrong = found.end() if found else 0
    if wrong < len(text):
        raise LayoutError(f"{text[wrong]!r} is no hex digit", offset=wrong // 2)
    if len(text) % 2:
        raise LayoutError(f"{len(text)} hex digits are no whole number of bytes")
    return bytes.fromhex(text)
