"""
The column types of a layout, for tables with one row for each decoded value.

Arrow and Spark both have the type names used here. Java's numbers are signed, so an
unsigned field takes the next wider signed type. The module does not import Arrow: its
result is plain data.
"""

from __future__ import annotations

from construct import Struct

from spec.derive.numpy_dtype import leading_fields

_WIDER = {"u1": "int16", "u2": "int32", "u4": "int64"}


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
