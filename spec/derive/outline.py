"""
The outline of a layout: construct's declaration as plain data.

Readers in other languages (the dissector, the Kaitai description, tables, strategies)
are all written from an outline, so only this module depends on construct's classes. A
declaration without an outline is an UnsuitableLayoutError that names the field.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from construct import (
    Array,
    Bytes,
    BytesInteger,
    Const,
    FormatField,
    GreedyBytes,
    IfThenElse,
    Prefixed,
    Renamed,
    Struct,
)

from spec.derive.expression import (
    Expression,
    FieldReference,
    Operation,
    expression_of,
    in_words,
)
from spec.derive.walk import UnsuitableLayoutError


@dataclass(frozen=True, slots=True)
class Integer:
    """A big-endian number."""

    size: int
    is_signed: bool


@dataclass(frozen=True, slots=True)
class Blob:
    """Bytes: a number given by an earlier field, or the rest."""

    size: Expression | None


@dataclass(frozen=True, slots=True)
class Counted:
    """Bytes after a number that counts them."""

    count: Form


@dataclass(frozen=True, slots=True)
class Choice:
    """One of two forms."""

    when: Expression
    then: Form
    otherwise: Form


@dataclass(frozen=True, slots=True)
class Fixed:
    """A form that holds one value only."""

    value: int | bytes
    form: Form


@dataclass(frozen=True, slots=True)
class Row:
    """The same form so many times."""

    count: Expression
    form: Form


@dataclass(frozen=True, slots=True)
class Structure:
    """Fields, one after the other."""

    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Field:
    """A form with a name and a sentence about its meaning."""

    name: str
    meaning: str
    form: Form


Form = Integer | Blob | Counted | Choice | Fixed | Row | Structure

TEXT_FIELDS = frozenset({"topic", "properties", "remark", "name", "value"})
"""Last names of the byte fields that hold UTF-8 text."""
ADDRESS = "address"
"""Last name of the byte fields that hold an IPv4 or IPv6 address."""


def outline(layout: Struct) -> Structure:
    """Return the outline of *layout*."""
    return Structure(tuple(_field(part) for part in layout.subcons))


def suitable_outlines(
    layouts: Mapping[str, Struct],
) -> tuple[dict[str, Structure], dict[str, str]]:
    """Return the outlines of *layouts* by name, and why others have none."""
    found, reasons = {}, {}
    for name, layout in layouts.items():
        try:
            found[name] = outline(layout)
        except UnsuitableLayoutError as error:
            reasons[name] = str(error)
    return found, reasons


def _field(part: Any) -> Field:
    name, meaning = part.name, ""
    if not name:
        raise UnsuitableLayoutError("a field without a name")
    while isinstance(part, Renamed):
        meaning = meaning or part.docs
        part = part.subcon
    try:
        return Field(name, meaning, form_of(part))
    except UnsuitableLayoutError as error:
        raise UnsuitableLayoutError(f"{name}: {error}") from error


def form_of(part: Any) -> Form:
    """Return the form that the construct *part* declares."""
    if isinstance(part, Renamed):
        return form_of(part.subcon)
    if isinstance(part, Struct):
        return outline(part)
    if isinstance(part, IfThenElse):
        when = expression_of(part.condfunc)
        return Choice(when, form_of(part.thensubcon), form_of(part.elsesubcon))
    if isinstance(part, Const):
        return Fixed(_constant(part.value), form_of(part.subcon))
    if isinstance(part, Array):
        return Row(expression_of(part.count), form_of(part.subcon))
    return _plain_form(part)


def _plain_form(part: Any) -> Form:
    if isinstance(part, FormatField) and (part.fmtstr[0] == ">" or part.length == 1):
        return Integer(part.length, part.fmtstr[1].islower())
    if isinstance(part, BytesInteger) and not part.swapped:
        return Integer(int(part.sizeof()), bool(part.signed))
    if isinstance(part, Prefixed) and part.subcon is GreedyBytes:
        return Counted(form_of(part.lengthfield))
    if part is GreedyBytes:
        return Blob(None)
    if isinstance(part, Bytes):
        return Blob(expression_of(part.length))
    raise UnsuitableLayoutError(f"{type(part).__name__} is an unknown kind")


def _constant(value: object) -> int | bytes:
    if isinstance(value, int | bytes):
        return value
    raise UnsuitableLayoutError(f"{value!r} is an unknown kind of constant")


def as_plain(form: Form) -> dict[str, Any]:
    """Return *form* as what JSON can hold; kinds have names, expressions are texts."""
    kind = type(form).__name__.lower()
    members = {name: getattr(form, name) for name in form.__slots__}
    return {"kind": kind, **{name: _plain(value) for name, value in members.items()}}


def _plain(value: Any) -> Any:
    match value:
        case bytes():
            return value.hex()
        case FieldReference() | Operation():
            return in_words(value)
        case tuple():
            return [_plain(one) for one in value]
        case Field():
            names = {"name": value.name, "meaning": value.meaning}
            return {**names, **as_plain(value.form)}
        case Integer() | Blob() | Counted() | Choice() | Fixed() | Row() | Structure():
            return as_plain(value)
    return value
