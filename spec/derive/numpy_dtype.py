"""
The numpy and Arrow view of a layout: the fixed-size fields with which it begins.

numpy reads thousands of equal units in one operation, given names, formats and offsets.
These are derived from the layout, so each offset has one home. The module does not
import numpy: its result is plain data, in the form that ``numpy.dtype`` accepts.

Arrow and Spark both have the type names of `column_types`. Java's numbers are signed,
so an unsigned field takes the next wider signed type.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypedDict

from construct import (
    Bytes,
    Construct,
    Container,
    FormatField,
    IfThenElse,
    Prefixed,
    Renamed,
    SizeofError,
    Struct,
)

_FORMATS = {
    "b": "i1", "B": "u1", "h": "i2", "H": "u2", "l": "i4", "L": "u4",
    "q": "i8", "Q": "u8",
}  # fmt: skip
_WIDER = {"u1": "int16", "u2": "int32", "u4": "int64"}


class DtypeSpec(TypedDict):
    """The dictionary form of a numpy dtype."""

    names: list[str]
    formats: list[str]
    offsets: list[int]
    itemsize: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedField:
    """A field of fixed size at a known offset."""

    name: str
    offset: int
    size: int
    format: str
    """A numpy format: ``>i4`` is a big-endian signed 32-bit integer."""


def leading_fields(layout: Struct, **known: int) -> tuple[PlacedField, ...]:
    """Return the fixed-size fields with which *layout* begins.

    *known* holds the values on which choices in the layout depend, such as the
    system flags of a record. The run ends before a choice that depends on another
    field. It also ends with the size of the first field of variable size, named
    ``<field>_size``.
    """
    return tuple(_placed(layout, Container(known)))


def dtype_spec(layout: Struct, **known: int) -> DtypeSpec:
    """Return the leading fields of *layout* as what ``numpy.dtype`` takes."""
    fields = leading_fields(layout, **known)
    return {
        "names": [field.name for field in fields],
        "formats": [field.format for field in fields],
        "offsets": [field.offset for field in fields],
        "itemsize": sum(field.size for field in fields),
    }


class _VariableError(Exception):
    """The rest of the layout has no fixed place."""


def _placed(layout: Struct, context: Any) -> Iterator[PlacedField]:
    offset = 0
    try:
        for name, part in _flat(layout, context, prefix=""):
            size = part.sizeof()
            yield PlacedField(
                name=name, offset=offset, size=size, format=numpy_format(part, size)
            )
            offset += size
    except (_VariableError, SizeofError, KeyError):
        return


def _flat(
    layout: Struct, context: Any, *, prefix: str
) -> Iterator[tuple[str, Construct[Any, Any]]]:
    """Yield name and layout of every field, choices made and nesting undone."""
    for part in layout.subcons:
        name = f"{prefix}{part.name}"
        inner = _chosen(part, context)
        if isinstance(inner, Struct):
            yield from _flat(inner, Container(_=context), prefix=f"{name}_")
        elif isinstance(inner, Prefixed):
            yield f"{name}_size", _chosen(inner.lengthfield, context)
            raise _VariableError
        else:
            yield name, inner


def _chosen(part: Any, context: Any) -> Construct[Any, Any]:
    """Return *part* without its name, and the branch that *context* selects."""
    while isinstance(part, Renamed | IfThenElse):
        if isinstance(part, Renamed):
            part = part.subcon
            continue
        condition = part.condfunc
        chosen = condition(context) if callable(condition) else condition
        part = part.thensubcon if chosen else part.elsesubcon
    found: Construct[Any, Any] = part
    return found


def numpy_format(part: Construct[Any, Any], size: int) -> str:
    """Return the numpy format of an integer, or of opaque bytes."""
    if isinstance(part, FormatField):
        order, code = part.fmtstr[0], part.fmtstr[1]
        return f"{order}{_FORMATS[code]}"
    if isinstance(part, Bytes):
        return f"V{size}"
    raise _VariableError


def column_types(layout: Struct, **known: int) -> dict[str, str]:
    """Return the Arrow type name of every leading field of *layout*, by its name."""
    return {
        placed.name: _type_name(placed.format)
        for placed in leading_fields(layout, **known)
    }


def _type_name(numpy_format: str) -> str:
    """Return the Arrow name of a numpy format."""
    code = numpy_format.lstrip("<>=|")
    if code.startswith("V"):
        return "binary"
    return _WIDER.get(code, f"int{8 * int(code[1:])}")
