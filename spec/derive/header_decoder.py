"""
Decoders of typed request headers, one function per request code.

A declaration lists the fields of a header in the order of its named tuple. From it one
Python function is written: it picks all fields in one call and converts them in place.
A header off this fast path is read field by field by the readers of the caller, which
apply the defaults and report errors. It has an absent or malformed field, or a number
that is not small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple, Protocol, TypeVar

SMALL_NUMBERS = {str(number): number for number in range(4096)}
"""Text of the numbers that most Integer fields have: queue ids, flags, counts."""
_TRUTH = {None: False, "false": False, "true": True}
"""The boolean texts that Java writes; None is the text of an absent field."""
_SURELY_INT64 = 19
"""A decimal number of fewer digits fits a Java long."""

Header = TypeVar("Header", bound=tuple[Any, ...])


class HeaderField(NamedTuple):
    """One field of a header as one request code carries it."""

    wire_name: str
    java_type: str
    is_required: bool
    """Whether every client sends it (Java: CFNotNull)."""
    may_lack: bool = False
    """Whether a header without it can be used, although clients send it."""


class HasFields(Protocol):
    """A request: its header fields by name."""

    @property
    def fields(self) -> Mapping[str, str]:
        """The text of each field."""


Reader = Callable[[Any, str], object]
"""Reads one field of a request by name; raises where it must not be absent."""


def header_decoder(
    header: type[Header],
    fields: Sequence[HeaderField],
    readers: Mapping[tuple[str, bool], Reader],
) -> Callable[[HasFields], Header]:
    """Return the decoder of *header*; *readers* are by Java type and necessity."""
    steps = [
        (readers[one.java_type, one.is_required and not one.may_lack], one.wire_name)
        for one in fields
    ]

    def decode_each(request: HasFields) -> Header:
        return tuple.__new__(header, [read(request, name) for read, name in steps])

    required = [one.wire_name for one in fields if one.is_required]
    names: dict[str, Any] = {
        "decode_each": decode_each,
        "header": header,
        "new": tuple.__new__,
        "pick": itemgetter(*required),
        "small": SMALL_NUMBERS,
        "truth": _TRUTH,
    }
    exec("\n".join(_source(fields)), names)  # noqa: S102 - made of names of the table
    decode: Callable[[HasFields], Header] = names["decode"]
    return decode


def _source(fields: Sequence[HeaderField]) -> Iterator[str]:
    """Yield the lines of the decoder."""
    values = {one: f"v{number}" for number, one in enumerate(fields)}
    required = [value for one, value in values.items() if one.is_required]
    yield "def decode(request):"
    yield " fields = request.fields"
    yield " get = fields.get"
    yield " try:"
    yield f"  {', '.join(required)}, = pick(fields)"
    for one, value in values.items():
        if not one.is_required:
            yield f"  {value} = get({one.wire_name!r})"
        yield from _conversion(one, value)
    yield " except KeyError:"
    yield "  return decode_each(request)"
    yield f" return new(header, ({', '.join(values.values())},))"


def _conversion(field: HeaderField, value: str) -> Iterator[str]:
    """Yield the lines that convert the text of a field, or leave the fast path."""
    if field.java_type == "Integer":
        condition = "" if field.is_required else f"if {value} is not None: "
        yield f"  {condition}{value} = small[{value}]"
    elif field.java_type == "Long":
        yield f"  if len({value}) >= {_SURELY_INT64} or not {value}.isdecimal():"
        yield "   return decode_each(request)"
        yield f"  {value} = int({value})"
    elif field.java_type in {"boolean", "Boolean"}:
        yield f"  {value} = truth[{value}]"
