"""
Vectors of frames, of headers in both notations, and of the bodies of batches.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import asdict

from spec.vectors.form import Flag, Group, Result, Vector, VectorFile, values_of
from spec.wire.remoting import header_json, header_rocketmq
from spec.wire.remoting.command import (
    ONEWAY_HAS_NO_RESPONSE,
    OPAQUE_IS_ANY_INT,
    RESPONSE_SETS_BIT_0,
    Command,
    decode_command,
    encode_command,
)
from spec.wire.remoting.frame import (
    FRAME_BAD_HEADER,
    FRAME_HEADER_PAST_END,
    FRAME_HEADER_SIZE,
    FRAME_TOO_SMALL,
    FRAME_UNKNOWN_SERIALIZE_TYPE,
)
from spec.wire.remoting.header_json import decode_json_header
from spec.wire.remoting.header_rocketmq import decode_rocketmq_header
from spec.wire.send.batch_body import (
    BATCH_FORM,
    BatchMessage,
    decode_batch,
    encode_batch,
)

FLAGS = {
    "Recorded": Flag(meaning="A real client or server wrote these bytes."),
    "Rocketmq": Flag(
        meaning="The header is in the ROCKETMQ notation.",
        clauses=(header_rocketmq.HEADER_ORDER, header_rocketmq.ENTRY_SIZES),
    ),
    "Response": Flag(meaning="Bit 0 of the flag.", clauses=(RESPONSE_SETS_BIT_0,)),
    "Oneway": Flag(meaning="Bit 1 of the flag.", clauses=(ONEWAY_HAS_NO_RESPONSE,)),
    "Opaque": Flag(meaning="An opaque is any number.", clauses=(OPAQUE_IS_ANY_INT,)),
    "HeaderSize": Flag(
        meaning="The header's size takes 24 bits.", clauses=(FRAME_HEADER_SIZE,)
    ),
    "BadSize": Flag(
        meaning="A size word that no frame has.",
        clauses=(FRAME_TOO_SMALL, FRAME_HEADER_PAST_END),
    ),
    "BadNotation": Flag(
        meaning="The notation is neither 0 nor 1.",
        clauses=(FRAME_UNKNOWN_SERIALIZE_TYPE,),
    ),
    "BadHeader": Flag(
        meaning="The header cannot be read.", clauses=(FRAME_BAD_HEADER,)
    ),
    "Unicode": Flag(
        meaning="Characters as UTF-8 and as escapes.",
        clauses=(header_json.JSON_NON_ASCII,),
    ),
    "ReadOnly": Flag(meaning="To be read so, but another writer's form."),
    "Lenient": Flag(
        meaning="Outside of the notation; fastjson, and so every Java release,"
        " reads it."
    ),
    "Batch": Flag(meaning="Messages one after the other.", clauses=(BATCH_FORM,)),
}

REQUEST = Command(105, opaque=1, fields={"topic": "T"})
COMMANDS: dict[str, tuple[Command, tuple[str, ...]]] = {
    "a request in JSON": (REQUEST, ()),
    "the same in ROCKETMQ": (
        Command(105, opaque=1, fields={"topic": "T"}, serialize_type=1),
        ("Rocketmq",),
    ),
    "a response": (
        Command(17, opaque=1, flag=1, remark="No topic route info"),
        ("Response",),
    ),
    "a response in ROCKETMQ": (
        Command(17, opaque=1, flag=1, remark="No topic route info", serialize_type=1),
        ("Response", "Rocketmq"),
    ),
    "oneway, with a body": (Command(34, opaque=-1, flag=2, body=b"{}"), ("Oneway",)),
    "a header of more than 255 bytes": (
        Command(10, fields={"a": "x" * 256}),
        ("HeaderSize",),
    ),
    "no header fields, in ROCKETMQ": (Command(30, serialize_type=1), ("Rocketmq",)),
    "the smallest opaque": (Command(30, opaque=-(2**31)), ("Opaque",)),
    "the largest opaque, in ROCKETMQ": (
        Command(30, opaque=2**31 - 1, serialize_type=1),
        ("Opaque", "Rocketmq"),
    ),
    "characters of every width": (
        Command(1, flag=1, remark="Grüße 中文 😀", fields={"ключ": "值😀"}),
        ("Unicode", "Response"),
    ),
    "characters of every width, in ROCKETMQ": (
        Command(
            1, flag=1, remark="Grüße 中文 😀", fields={"ключ": "值😀"}, serialize_type=1
        ),
        ("Unicode", "Response", "Rocketmq"),
    ),
    "control characters and quotes": (
        Command(310, fields={"i": 'KEYS\x01a "b" \\\x02'}),
        ("Unicode",),
    ),
}
JSON_HEADERS: dict[str, tuple[str, Result, tuple[str, ...]]] = {
    "members in another order, with white space": (
        ' { "version" : 333 , "opaque":7,\n"flag":0,"language":"JAVA","code":30 } ',
        Result.VALID,
        ("ReadOnly",),
    ),
    "a member that nobody knows": (
        '{"code":30,"flag":0,"language":"GO","opaque":1,"version":333,"new":[1,{}]}',
        Result.VALID,
        ("ReadOnly",),
    ),
    "extFields is null": (
        '{"code":30,"extFields":null,"flag":0,"language":"JAVA","opaque":1,"version":1}',
        Result.VALID,
        ("ReadOnly",),
    ),
    "escapes": (
        '{"code":30,"extFields":{"topic":"\\u4e2d\\ud83d\\ude00"},"flag":0,'
        '"language":"JAVA","opaque":1,"version":1}',
        Result.VALID,
        ("ReadOnly", "Unicode"),
    ),
    "a value that is a number": (
        '{"code":30,"extFields":{"queueId":3},"flag":0,"language":"JAVA","opaque":1,'
        '"version":1}',
        Result.ACCEPTABLE,
        ("Lenient",),
    ),
    "names without quotes": (
        '{code:30,flag:0,language:"JAVA",opaque:1,version:1}',
        Result.ACCEPTABLE,
        ("Lenient",),
    ),
    "an empty object": ("{}", Result.ACCEPTABLE, ("Lenient",)),
    "no object": ("[]", Result.INVALID, ("BadHeader",)),
    "cut off": ('{"code":30', Result.INVALID, ("BadHeader",)),
    "a code that is no number": ('{"code":"x"}', Result.INVALID, ("BadHeader",)),
    "no JSON": ("code=30", Result.INVALID, ("BadHeader",)),
}


def frame_file(recorded: Mapping[str, bytes]) -> VectorFile:
    """Return the vectors of frames; *recorded* holds some by file name."""
    tests = (*_made(), *_broken())
    return VectorFile(
        algorithm="frame",
        meaning="A frame and the command in it. The order of members means"
        " nothing, so a"
        " writer may order them otherwise.",
        flags=FLAGS,
        groups=(
            Group(type="frame", tests=tests),
            Group(type="frame", tests=tuple(_recorded(recorded))),
        ),
    )


def header_file() -> VectorFile:
    """Return the vectors of headers, without the frames around them."""
    return VectorFile(
        algorithm="header",
        meaning="The header of a command in each of its two notations.",
        flags=FLAGS,
        groups=(
            Group(type="header_json", tests=tuple(_json_headers())),
            Group(type="header_rocketmq", tests=tuple(_rocketmq_headers())),
        ),
    )


def batch_file(recorded: Mapping[str, bytes]) -> VectorFile:
    """Return the vectors of the bodies of batches."""
    return VectorFile(
        algorithm="batch body",
        meaning="Several messages in the body of one send.",
        flags=FLAGS,
        groups=(Group(type="batch", tests=tuple(_batches(recorded))),),
    )


def _made() -> Iterator[Vector]:
    for comment, (command, flags) in COMMANDS.items():
        yield _frame(comment, encode_command(command), flags)
    large = Command(10, fields={"a": "x" * 65_536}, serialize_type=1)
    flags = ("HeaderSize", "Rocketmq")
    yield _frame("a header of more than 65535 bytes", encode_command(large), flags)


def _frame(comment: str, data: bytes, flags: tuple[str, ...]) -> Vector:
    values = values_of(decode_command(data))
    return Vector(
        comment=comment, members={"bytes": data, "values": values}, flags=flags
    )


def _recorded(recorded: Mapping[str, bytes]) -> Iterator[Vector]:
    for name, data in recorded.items():
        flags = ("Recorded", "ReadOnly", *(("Rocketmq",) if data[4] else ()))
        yield _frame(name, data, flags)


def _broken() -> Iterator[Vector]:
    whole = encode_command(REQUEST)
    for comment, flag, data in (
        ("the size word is negative", "BadSize", b"\xff" * 4 + whole[4:]),
        ("the size word is below 4", "BadSize", b"\0\0\0\3" + whole[4:]),
        ("the size word is above the limit", "BadSize", b"\x01\0\0\0" + whole[4:]),
        ("the header reaches past the end", "BadSize", whole[:5] + b"\xff" + whole[6:]),
        ("the last byte is missing", "BadSize", whole[:-1]),
        ("the notation is unknown", "BadNotation", whole[:4] + b"\2" + whole[5:]),
        ("the header is no JSON", "BadHeader", whole[:8] + b"!" + whole[9:]),
        ("JSON is said to be ROCKETMQ", "BadHeader", whole[:4] + b"\1" + whole[5:]),
    ):
        yield _refused(comment, data, flag)


def _refused(comment: str, data: bytes, *flags: str) -> Vector:
    members = {"bytes": data}
    return Vector(comment=comment, members=members, result=Result.INVALID, flags=flags)


def _json_headers() -> Iterator[Vector]:
    for comment, (command, flags) in COMMANDS.items():
        if not command.serialize_type:
            data = encode_command(command)
            header = data[8 : 8 + int.from_bytes(data[5:8], "big")]
            yield _header(comment, header, asdict(decode_json_header(header)), flags)
    for comment, (text, result, flags) in JSON_HEADERS.items():
        data = text.encode()
        if result is Result.INVALID:
            yield _refused(comment, data, *flags)
        else:
            yield _header(
                comment, data, asdict(decode_json_header(data)), flags, result
            )


def _header(
    comment: str,
    data: bytes,
    values: Mapping[str, Any],
    flags: tuple[str, ...],
    result: Result = Result.VALID,
) -> Vector:
    members = {"bytes": data, "values": values}
    return Vector(comment=comment, members=members, flags=flags, result=result)


def _rocketmq_headers() -> Iterator[Vector]:
    for comment, (command, flags) in COMMANDS.items():
        if command.serialize_type:
            data = encode_command(command)[8:]
            header = data[: len(data) - len(command.body)]
            yield _header(comment, header, decode_rocketmq_header(header), flags)
    whole = encode_command(COMMANDS["the same in ROCKETMQ"][0])[8:]
    longer = whole + b"!"
    values = decode_rocketmq_header(longer)
    flags = ("ReadOnly", "Rocketmq")
    yield _header("bytes after the end", longer, values, flags, Result.ACCEPTABLE)
    for comment, data in (
        ("the last byte is missing", whole[:-1]),
        ("the remark's size is negative", whole[:13] + b"\xff" * 4 + whole[17:]),
        ("a value reaches past the fields", whole[:28] + b"\0\0\0\x09" + whole[32:]),
        ("nothing", b""),
    ):
        yield _refused(comment, data, "BadHeader", "Rocketmq")


def _batches(recorded: Mapping[str, bytes]) -> Iterator[Vector]:
    messages = (
        BatchMessage(body=b"one", properties="TAGS\x01a\x02", flag=-1),
        BatchMessage(body=b""),
        BatchMessage(body="zwei 中".encode(), properties="KEYS\x01k\x02", flag=7),
    )
    for count in (1, 3):
        data = encode_batch(messages[:count])
        yield _batch(f"{count} of 3 messages", data, "Batch")
    for name, data in recorded.items():
        yield _batch(name, data, "Batch", "Recorded")
    whole = encode_batch(messages)
    for comment, data in (
        ("the last byte is missing", whole[:-1]),
        ("a size of 0", b"\0" * 4 + whole[4:]),
        ("a body that reaches past its message", whole[:16] + b"\x7f" + whole[17:]),
    ):
        yield _refused(comment, data, "Batch")


def _batch(comment: str, data: bytes, *flags: str) -> Vector:
    values = [values_of(one) for one in decode_batch(data)]
    members = {"bytes": data, "values": {"messages": values}}
    return Vector(comment=comment, members=members, flags=flags)
