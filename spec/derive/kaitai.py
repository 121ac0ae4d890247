"""
Layouts for Kaitai Struct, whose compiler makes readers in a dozen languages.

A layout becomes a type of the description. Kaitai has no choice between two structures
as construct has it, so such a layout is an UnsuitableLayoutError. Numbers and bytes of
two widths are written as its ``switch-on`` and as a computed size.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Any

from construct import Struct

from spec.derive.expression import Expression, FieldReference, written
from spec.derive.outline import (
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
from spec.derive.walk import UnsuitableLayoutError
from spec.wire.remoting.frame import SerializeType
from spec.wire.remoting.language import LanguageCode
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

Plain = dict[str, Any]

ENUMS: Mapping[str, type[IntEnum]] = {
    "request_code": RequestCode,
    "response_code": ResponseCode,
    "language": LanguageCode,
    "serialize_type": SerializeType,
}
"""Names of numbers; a field of the same name has the names as its values."""
_SIGNS = {"//": "({} / {})"}
_COMPARED = frozenset({"==", "!=", "<", "<=", ">", ">="})


def kaitai_description(layouts: Mapping[str, Struct]) -> tuple[Plain, dict[str, str]]:
    """Return the description of *layouts* as plain data, and what it leaves out."""
    found, reasons = suitable_outlines(layouts)
    types = {}
    for name, structure in found.items():
        try:
            types[name] = _type(structure)
        except UnsuitableLayoutError as error:
            reasons[name] = str(error)
    meta = {
        "id": "rocketmq",
        "title": "Apache RocketMQ: frames, records and the files of a store",
        "license": "Apache-2.0",
        "endian": "be",
        "bit-endian": "be",
    }
    enums = {
        name: {int(one): _identifier(one.name) for one in members}
        for name, members in ENUMS.items()
    }
    return {"meta": meta, "types": types, "enums": enums}, reasons


def _identifier(name: str) -> str:
    return name.lower()


def _type(structure: Structure) -> Plain:
    inner = {
        one.name: _type(one.form)
        for one in structure.fields
        if isinstance(one.form, Structure)
    }
    seq = [entry for one in structure.fields for entry in _entries(one)]
    return {"seq": seq, "types": inner} if inner else {"seq": seq}


def _entries(one: Field) -> Iterator[Plain]:
    """Yield the sequence form of *one*: a counted field is two."""
    if isinstance(one.form, Counted):
        count = f"{one.name}_size"
        yield {"id": count, **_form(one.form.count, count)}
        yield {"id": one.name, "doc": one.meaning, "size": count, **_text(one.name)}
    else:
        yield {"id": one.name, "doc": one.meaning, **_form(one.form, one.name)}


def _text(name: str) -> Plain:
    return {"type": "str", "encoding": "UTF-8"} if name in TEXT_FIELDS else {}


def _form(form: Form, name: str) -> Plain:
    match form:
        case Integer():
            named = {"enum": name} if name in ENUMS else {}
            return {"type": _integer(form), **named}
        case Blob():
            whole = form.size is None
            size = {"size-eos": True} if whole else {"size": _expression(form.size)}
            return {**size, **_text(name)}
        case Choice():
            return _choice(form)
        case Structure():
            return {"type": name}
    return _wrapped_form(form, name)


def _wrapped_form(form: Form, name: str) -> Plain:
    if isinstance(form, Fixed) and isinstance(form.value, bytes):
        return {"contents": list(form.value)}
    if isinstance(form, Fixed):
        return {**_form(form.form, name), "valid": form.value}
    if isinstance(form, Row):
        repeat = {"repeat": "expr", "repeat-expr": _expression(form.count)}
        return {**_form(form.form, name), **repeat}
    raise UnsuitableLayoutError(f"{name}: a count in a row or in a choice")


def _choice(form: Choice) -> Plain:
    when = _truth(form.when)
    match form.then, form.otherwise:
        case Integer() as then, Integer() as other:
            cases = {"true": _integer(then), "false": _integer(other)}
            return {"type": {"switch-on": when, "cases": cases}}
        case Blob(size=int() as wide), Blob(size=int() as narrow):
            return {"size": f"{when} ? {wide} : {narrow}"}
    raise UnsuitableLayoutError("a choice between forms of different kinds")


def _integer(form: Integer) -> str:
    if form.size in {1, 2, 4, 8}:
        return f"{'s' if form.is_signed else 'u'}{form.size}"
    if form.is_signed:
        raise UnsuitableLayoutError(f"a signed number of {form.size} bytes")
    return f"b{8 * form.size}"


def _expression(expression: Expression | None) -> int | str:
    if expression is None:
        raise UnsuitableLayoutError("a size that is not said")
    if isinstance(expression, int):
        return expression
    return written(expression, _reference, signs=_SIGNS)


def _truth(expression: Expression) -> str:
    text = str(_expression(expression))
    is_compared = getattr(expression, "sign", "") in _COMPARED
    return text if is_compared else f"({text} != 0)"


def _reference(field: FieldReference) -> str:
    return "_parent." * field.up + field.name


def as_yaml(description: Plain) -> str:
    """Return plain data as YAML, strings quoted as JSON quotes them."""
    return "".join(f"{line}\n" for line in _yaml(description, ""))


def _yaml(value: Any, indent: str) -> Iterator[str]:
    for name, inner in value.items():
        key = f"{indent}{name if name not in {'true', 'false'} else repr(name)}:"
        if isinstance(inner, dict) and inner:
            yield key
            yield from _yaml(inner, indent + "  ")
        elif isinstance(inner, list) and inner and isinstance(inner[0], dict):
            yield key
            for one in inner:
                first, *rest = _yaml(one, indent + "    ")
                yield f"{indent}  - {first.lstrip()}"
                yield from rest
        else:
            yield f"{key} {json.dumps(inner, ensure_ascii=False)}"
