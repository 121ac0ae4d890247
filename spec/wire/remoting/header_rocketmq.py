"""
A command's header in RocketMQ's own binary format (Java: RocketMQSerializable).

It has the content of the JSON header in fewer bytes. A sender chooses it per frame; few
clients do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from construct import (
    GreedyBytes,
    Int8ub,
    Int16sb,
    Int32sb,
    Prefixed,
    Struct,
)

from spec.clause import Clause, Level
from spec.layout import LayoutError, build, field, parse
from spec.wire.remoting.language import language_code, language_name

_NOTATION = "4.6.0 org.apache.rocketmq.remoting.protocol.RocketMQSerializable"

HEADER_ORDER = Clause(
    id="WIRE-BINARY-001",
    level=Level.MUST,
    text="A ROCKETMQ header is a 2-byte code, a language byte, a 2-byte version, 4-byte"
    " opaque and flag, then remark and extFields, each after a 4-byte size.",
    source=f"{_NOTATION}#rocketMQProtocolEncode",
)
ENTRY_SIZES = Clause(
    id="WIRE-BINARY-002",
    level=Level.MUST,
    text="An entry of a ROCKETMQ header's extFields is a name after a 2-byte size and a"
    " value after a 4-byte size.",
    source=f"{_NOTATION}#mapSerialize",
)
EMPTY_IS_SIZE_ZERO = Clause(
    id="WIRE-BINARY-003",
    level=Level.MUST,
    text="A ROCKETMQ header without remark or extFields has a size of 0 in its place.",
    source=f"{_NOTATION}#rocketMQProtocolEncode",
)
EMPTY_REMARK_IS_NONE = Clause(
    id="WIRE-BINARY-004",
    level=Level.QUIRK,
    text="A ROCKETMQ header cannot distinguish an empty remark from no remark.",
    source=f"{_NOTATION}#rocketMQProtocolDecode",
    untestable="a statement of what the notation cannot say; spec/tests round-trips it",
)
CODE_IS_SHORT = Clause(
    id="WIRE-BINARY-005",
    level=Level.QUIRK,
    text="A code above 32767 does not survive a ROCKETMQ header: Java keeps its low 16"
    " bits.",
    source=f"{_NOTATION}#rocketMQProtocolEncode",
    untestable="all such codes belong to pop consumption, which is only sent in JSON",
    issues=("apache/rocketmq#6953",),
)
RESPONSE_IS_JSON = Clause(
    id="WIRE-BINARY-006",
    level=Level.QUIRK,
    text=(
        "Up to 4.9.3, a request with a ROCKETMQ header is answered with a JSON header."
    ),
    source="4.6.0 org.apache.rocketmq.remoting.protocol.RemotingCommand"
    "#serializeTypeCurrentRPC",
    until="4.9.3",
)
RESPONSE_IS_LIKE_REQUEST = Clause(
    id="WIRE-BINARY-008",
    level=Level.MUST,
    text=(
        "In 4.9, from 4.9.4 on, a request with a ROCKETMQ header is answered with a "
        "ROCKETMQ header."
    ),
    source="4.9.7 org.apache.rocketmq.remoting.netty.NettyRemotingAbstract"
    "#processRequestCommand",
    since="4.9.4",
    until="4.9",
)
RESPONSE_IS_JSON_AGAIN = Clause(
    id="WIRE-BINARY-009",
    level=Level.QUIRK,
    text=(
        "From 5.0 on, a request with a ROCKETMQ header is answered with a JSON "
        "header, as before 4.9.4."
    ),
    source="5.3.3 org.apache.rocketmq.remoting.netty.NettyRemotingAbstract"
    "#writeResponse",
    since="5.0",
)
EMPTY_VALUE_IS_NULL = Clause(
    id="WIRE-BINARY-007",
    level=Level.QUIRK,
    text="From 5.0 on, an extFields value of size 0 is read as null.",
    source="5.3.3 org.apache.rocketmq.remoting.protocol.RocketMQSerializable#readStr",
    since="5.0",
    untestable="no request's response tells null from an empty string",
)

header_layout = Struct(
    field("code", Int16sb, "of the request or the response"),
    field(
        "language",
        Int8ub,
        "what the sender is written in, see spec.wire.remoting.language",
    ),
    field("version", Int16sb, "the sender's release, see spec.wire.remoting.language"),
    field("opaque", Int32sb, "a response repeats its request's"),
    field("flag", Int32sb, "bit 0: a response; bit 1: no response wanted"),
    field("remark", Prefixed(Int32sb, GreedyBytes), "words for people, after a size"),
    field("fields", Prefixed(Int32sb, GreedyBytes), "entries (Java: extFields)"),
)
_NAME_SIZE, _VALUE_SIZE = Int16sb, Int32sb
entry_layout = Struct(
    field("name", Prefixed(_NAME_SIZE, GreedyBytes), "name of a header field"),
    field("value", Prefixed(_VALUE_SIZE, GreedyBytes), "its value, as a string"),
)
_NAME_AT, _VALUE_AT = _NAME_SIZE.sizeof(), _VALUE_SIZE.sizeof()
"""Bytes of the size before a name, and before a value."""
SMALLEST_SIZE = 21
"""Bytes of a header without remark and fields."""


def encode_rocketmq_header(header: Mapping[str, Any]) -> bytes:
    """Return the bytes of a header given as code, language, version and so on."""
    return build(
        header_layout,
        {
            "code": header["code"],
            "language": language_code(header["language"]),
            "version": header["version"],
            "opaque": header["opaque"],
            "flag": header["flag"],
            "remark": _encode(header.get("remark") or ""),
            "fields": encode_entries(header.get("fields") or {}),
        },
    )


def decode_rocketmq_header(data: bytes) -> dict[str, Any]:
    """Return the content of the header *data*.

    Bytes after the last field are ignored, as in Java.
    """
    parsed = parse(header_layout, data)
    return {
        "code": parsed.code,
        "language": language_name(parsed.language),
        "version": parsed.version,
        "opaque": parsed.opaque,
        "flag": parsed.flag,
        "remark": _decode(parsed.remark) or None,
        "fields": decode_entries(parsed.fields),
    }


def encode_entries(fields: Mapping[str, str]) -> bytes:
    """Return the bytes of *fields*, one entry after the other."""
    return b"".join(
        build(entry_layout, {"name": _encode(name), "value": _encode(value)})
        for name, value in fields.items()
    )


def decode_entries(data: bytes) -> dict[str, str]:
    """Return the values by name of the entries in *data*.

    Raises LayoutError with the offset in *data*.
    """
    # By hand: a hostile header of 16 MB has 2.7 million entries, and parsing one by its
    # layout takes 0.2 ms. The layout explains what is malformed.
    found: dict[str, str] = {}
    start = 0
    while start < len(data):
        name = start + _NAME_AT
        name_end = name + int.from_bytes(data[start:name], "big", signed=True)
        value = name_end + _VALUE_AT
        end = value + int.from_bytes(data[name_end:value], "big", signed=True)
        if not name <= name_end < value <= end <= len(data):
            _refuse_entry(data, start)
        found[_decode(data[name:name_end])] = _decode(data[value:end])
        start = end
    return found


def _refuse_entry(data: bytes, start: int) -> None:
    """Raise the LayoutError of the malformed entry at *start*."""
    try:
        parse(entry_layout, data[start:])
    except LayoutError as error:
        raise error.moved(start) from error


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _decode(data: bytes) -> str:
    """Return *data* as text; Java puts U+FFFD where bytes are not UTF-8."""
    return data.decode("utf-8", "replace")
