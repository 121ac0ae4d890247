"""
A command's header in JSON, the notation that every client and broker uses by default.

It is one object with the names of Java's fields. What a command's code asks for
stands in ``extFields``, whose values are strings, whatever they mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spec.clause import Clause, Level
from spec.integers import INT32_MAX, INT32_MIN
from spec.layout import LayoutError
from spec.wire import fastjson

_COMMAND = "4.6.0 org.apache.rocketmq.remoting.protocol.RemotingCommand"

JSON_IS_AN_OBJECT = Clause(
    id="WIRE-JSON-001",
    level=Level.MUST,
    text="A JSON header is one object in UTF-8 with the members code, language,"
    " version, opaque, flag, and where there are any remark and extFields.",
    source=f"{_COMMAND}#headerEncode",
)
JSON_EXT_FIELDS_ARE_STRINGS = Clause(
    id="WIRE-JSON-002",
    level=Level.MUST,
    text="Every value in extFields is written as a string, numbers and booleans too.",
    source=f"{_COMMAND}#makeCustomHeaderToNet",
)
JSON_UNKNOWN_MEMBERS = Clause(
    id="WIRE-JSON-003",
    level=Level.MUST,
    text="A reader passes over members of the header and of extFields that it does not"
    " know.",
    source=f"{_COMMAND}#decodeCommandCustomHeader",
)
JSON_MEMBER_ORDER = Clause(
    id="WIRE-JSON-004",
    level=Level.MUST,
    text="The order of a JSON header's members and the white space between them mean"
    " nothing.",
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
    text="A header without a remark leaves that member out, and one without fields"
    " leaves extFields out or empty.",
    source="4.6.0 org.apache.rocketmq.remoting.protocol.RemotingSerializable#encode",
)
JSON_NON_ASCII = Clause(
    id="WIRE-JSON-007",
    level=Level.MUST,
    text="A reader of a JSON header takes a character as UTF-8 and as a \\u escape.",
    source="4.6.0 org.apache.rocketmq.remoting.protocol.RemotingSerializable#decode",
)

_NUMBERS = ("code", "version", "opaque", "flag")


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


def decode_json_header(data: bytes) -> dict[str, Any]:
    """Return what the header *data* says; absent numbers are 0, as in Java."""
    found = fastjson.loads(data)
    if not isinstance(found, dict):
        reason = "the header is no object"
        raise LayoutError(reason, field="header", offset=0)
    remark = found.get("remark")
    return {
        **{name: _number(found, name) for name in _NUMBERS},
        "language": str(found.get("language") or "JAVA"),
        "remark": None if remark is None else _as_text(remark),
        "fields": _ext_fields(found.get("extFields")),
    }


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
