"""
The tables of the Wireshark dissector: names of codes and forms of layouts, in Lua.

Wireshark's interface needs one file of Lua, which is written by hand and has a gap for
these tables. Every name, position and sentence in it comes from here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from construct import Struct

from spec.derive.expression import Expression, FieldReference, written
from spec.derive.outline import (
    ADDRESS,
    TEXT_FIELDS,
    Blob,
    Choice,
    Counted,
    Field,
    Fixed,
    Form,
    Integer,
    Row,
    Structure,
    suitable_outlines,
)
from spec.store.message_record import MAGIC_V1, SystemFlag
from spec.wire.message.properties import Property
from spec.wire.remoting.frame import FRAME_SIZE_MAX, SerializeType
from spec.wire.remoting.language import LanguageCode, Version
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode
from spec.wire.send.send import LETTERS

MESSAGES_IN_RESPONSE = dict.fromkeys(
    (
        "PULL_MESSAGE",
        "LITE_PULL_MESSAGE",
        "PEEK_MESSAGE",
        "POP_MESSAGE",
        "QUERY_MESSAGE",
        "VIEW_MESSAGE_BY_ID",
    ),
    "message_record",
)
"""Requests whose response has a row of messages for a body, and their layout."""
MESSAGES_IN_REQUEST = {
    "CHECK_TRANSACTION_STATE": "message_record",
    "SEND_BATCH_MESSAGE": "batch_message",
}
"""Requests that have such a body themselves."""
WITH_LETTERS = ("SEND_MESSAGE_V2", "SEND_BATCH_MESSAGE", "SEND_REPLY_MESSAGE_V2")
"""Requests whose header fields have letters for names."""
ON_THE_WIRE = (
    "batch_message",
    "frame",
    "header_rocketmq",
    "header_rocketmq_entry",
    "message_record",
)
"""Layouts that the dissector reads; it refers to them by these names."""
_SIGNS = {"&": "band({}, {})", "!=": "({} ~= {})", "//": "math.floor({} / {})"}


def lua_tables(layouts: Mapping[str, Struct], header_fields: Iterable[str]) -> str:
    """Return the Lua tables of *layouts* and of every name that the wire has."""
    names = sorted({*header_fields, *LETTERS})
    tables = {
        "request_names": _by_number((code, code.name) for code in RequestCode),
        "response_names": _by_number((code, code.name) for code in ResponseCode),
        "language_names": _by_number((code, code.name) for code in LanguageCode),
        "version_names": _by_number((one, one.name) for one in Version),
        "serialize_type_names": _by_number((one, one.name) for one in SerializeType),
        "system_flag_names": _by_number((one, one.name or "") for one in SystemFlag),
        "letters": _by_name({letter: name for name, letter in LETTERS.items()}),
        "with_letters": _by_code(dict.fromkeys(WITH_LETTERS, "letters")),
        "messages_in_answer": _by_code(MESSAGES_IN_RESPONSE),
        "messages_in_request": _by_code(MESSAGES_IN_REQUEST),
        "header_field_names": _row(_quoted(name) for name in names),
        "property_names": _row(_quoted(one.value) for one in Property),
        "text_fields": _by_name(dict.fromkeys(sorted(TEXT_FIELDS), True)),
        "address_field": _quoted(ADDRESS),
        "frame_size_max": str(FRAME_SIZE_MAX),
        "record_magic_start": str(MAGIC_V1 >> 8),
    }
    lines = [f"local {name} = {text}" for name, text in tables.items()]
    lines += ["", "local layouts = {}"]
    for name, found in suitable_outlines(layouts)[0].items():
        if name not in ON_THE_WIRE:
            continue
        lines.append(f"layouts.{name} = {{")
        lines += [f"  {_field(one)}," for one in found.fields]
        lines.append("}")
    return "\n".join(lines) + "\n"


def _by_number(names: Iterable[tuple[int, str]]) -> str:
    return _row(f"[{int(number)}] = {_quoted(name)}" for number, name in names)


def _by_name(values: Mapping[str, str | bool]) -> str:
    return _row(
        f"[{_quoted(name)}] = {'true' if value is True else _quoted(str(value))}"
        for name, value in values.items()
    )


def _by_code(values: Mapping[str, str]) -> str:
    return _by_number((RequestCode[name], value) for name, value in values.items())


def _row(entries: Iterable[str]) -> str:
    return "{\n" + "".join(f"  {entry},\n" for entry in entries) + "}"


def _quoted(text: str) -> str:
    """Return *text* as a string of Lua; what is no plain ASCII becomes escapes."""
    plain = [
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:03d}"
        for byte in text.encode()
    ]
    return f'"{"".join(plain)}"'


def _field(one: Field) -> str:
    form, meaning = lua_form(one.form), _quoted(one.meaning)
    return f"{{ name = {_quoted(one.name)}, says = {meaning}, form = {form} }}"


def lua_form(form: Form) -> str:
    """Return *form* as a Lua table."""
    if isinstance(form, Fixed):
        return lua_form(form.form)
    members = {"kind": _quoted(type(form).__name__.lower()), **_members(form)}
    return f"{{ {', '.join(f'{name} = {text}' for name, text in members.items())} }}"


def _members(form: Form) -> dict[str, str]:
    match form:
        case Integer():
            return {"size": str(form.size), "signed": str(form.is_signed).lower()}
        case Blob():
            return {} if form.size is None else {"size": _function(form.size)}
        case Counted():
            return {"count": lua_form(form.count)}
        case Row():
            return {"count": _function(form.count), "form": lua_form(form.form)}
        case Choice():
            forms = {"yes": lua_form(form.then), "no": lua_form(form.otherwise)}
            return {"when": _function(form.when), **forms}
        case Structure():
            fields = ", ".join(_field(one) for one in form.fields)
            return {"fields": f"{{ {fields} }}"}
    return {}


def _function(expression: Expression) -> str:
    return f"function(v) return {written(expression, _reference, signs=_SIGNS)} end"


def _reference(field: FieldReference) -> str:
    return "v" + "._" * field.up + f"[{_quoted(field.name)}]"
