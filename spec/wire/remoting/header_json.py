"""
A command's header in JSON, the format that every client and broker uses by default.

It is one object with the names of Java's fields. The fields of a command's code are in
``extFields``, whose values are all strings.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from msgspec import DecodeError, Meta, Struct, field
from msgspec.json import Decoder

from spec.clause import Clause, Level
from spec.integers import INT32_MAX, INT32_MIN
from spec.layout import LayoutError
from spec.wire.bodies import fastjson

_COMMAND = "4.6.0 org.apache.rocketmq.remoting.protocol.RemotingCommand"

JSON_IS_AN_OBJECT = Clause(
    id="WIRE-JSON-001",
    level=Level.MUST,
    text=(
        "A JSON header is one object in UTF-8 with the members code, language, "
        "version, opaque, flag and, if present, remark and extFields."
    ),
    source=f"{_COMMAND}#headerEncode",
)
JSON_EXT_FIELDS_ARE_STRINGS = Clause(
    id="WIRE-JSON-002",
    level=Level.MUST,
    text=(
        "Every value in extFields is written as a string, including numbers and "
        "booleans."
    ),
    source=f"{_COMMAND}#makeCustomHeaderToNet",
)
JSON_UNKNOWN_MEMBERS = Clause(
    id="WIRE-JSON-003",
    level=Level.MUST,
    text="A reader ignores unknown members of the header and of extFields.",
    source=f"{_COMMAND}#decodeCommandCustomHeader",
)
JSON_MEMBER_ORDER = Clause(
    id="WIRE-JSON-004",
    level=Level.MUST,
    text=(
        "The order of a JSON header's members and the white space between them have "
        "no meaning."
    ),
    source=f"{_COMMAND}#headerDecode",
)
JSON_LANGUAGE_IS_A_NAME = Clause(
    id="WIRE-JSON-005",
    level=Level.MUST,
    text="A JSON header names the sender's language in words, such as JAVA.",
    source="4.6.0 org.apache.rocketmq.remoting.protocol.LanguageCode",
)
JSON_NO_REMARK = Clause(
    id="WIRE-JSON-006",
    level=Level.SHOULD,
    text=(
        "A header without a remark omits that member, and a header without fields "
        "omits extFields or has an empty one."
    ),
    source="4.6.0 org.apache.rocketmq.remoting.protocol.RemotingSerializable#encode",
)
JSON_NON_ASCII = Clause(
    id="WIRE-JSON-007",
    level=Level.MUST,
    text="A reader of a JSON header accepts a character as UTF-8 and as a \\u escape.",
    source="4.6.0 org.apache.rocketmq.remoting.protocol.RemotingSerializable#decode",
)
WITHOUT_SERIALIZE_TYPE = Clause(
    id="WIRE-JSON-008",
    level=Level.MUST,
    text=(
        "A request without serializeTypeCurrentRPC in its JSON header is served. The "
        "frame has the serialize type, and clients in Go omit the member."
    ),
    source=f"{_COMMAND}#decode",
)
JavaInt = Annotated[int, Meta(ge=INT32_MIN, le=INT32_MAX)]


def encode_json_header(header: Mapping[str, object]) -> bytes:
    """Return the bytes of a header given as code, language, version and so on."""
    members = {
        "code": header["code"],
        "extFields": header.get("fields") or None,
        "flag": header["flag"],
        "language": header["language"],
        "opaque": header["opaque"],
        "remark": header.get("remark"),
        "serializeTypeCurrentRPC": "JSON",
        "version": header["version"],
    }
    return fastjson.dumps(members)


class CommandHeader(Struct):
    """The members of a command's header, with Java's value of an absent one."""

    code: JavaInt = 0
    flag: JavaInt = 0
    opaque: JavaInt = 0
    version: JavaInt = 0
    language: Annotated[str, Meta(min_length=1)] = "JAVA"
    remark: str | None = None
    fields: dict[str, str] = field(default_factory=dict, name="extFields")


_decode_strict = Decoder(CommandHeader).decode


def decode_json_header(data: bytes) -> CommandHeader:
    """Return the members of the header *data*; LayoutError where it is malformed."""
    try:  # a fast path: strict JSON with members of the declared types
        return _decode_strict(data)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        found = fastjson.loads(data)
    if not isinstance(found, dict):
        reason = "the header is no object"
        raise LayoutError(reason, field="header", offset=0)
    remark = found.get("remark")
    return CommandHeader(
        code=_number(found, "code"),
        flag=_number(found, "flag"),
        opaque=_number(found, "opaque"),
        version=_number(found, "version"),
        language=str(found.get("language") or "JAVA"),
        remark=None if remark is None else _as_text(remark),
        fields=_ext_fields(found.get("extFields")),
    )


def _number(found: Mapping[str, object], name: str) -> int:
    value = found.get(name)
    if value is None:
        return 0
    try:
        number = int(value) if isinstance(value, str) else value
    except ValueError:
        number = None
    if isinstance(number, bool) or not isinstance(number, int):
        raise LayoutError(f"{value!r} is no integer", field=name)
    if not INT32_MIN <= number <= INT32_MAX:
        raise LayoutError(f"{number} does not fit Java's int", field=name)
    return number


def _ext_fields(found: object) -> dict[str, str]:
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise LayoutError("extFields is no object", field="extFields")
    return {
        str(name): _as_text(value) for name, value in found.items() if value is not None
    }


def _as_text(value: object) -> str:
    """Return *value* as the string that fastjson would make of it."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    return fastjson.dumps(value).decode("utf-8", "surrogatepass")
