"""
A layout is a sequence of named fields, each with a sentence about its meaning.

Layouts are ``construct`` structures. `field` adds a trace to them: the begin and end of
every field, for explanations, failure messages and tables. `parse` adds one kind of
error, with the byte and the field at which reading stopped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

from construct import Construct, ConstructError, Renamed

_T = TypeVar("_T")
_SHORT = re.compile(
    r"stream read less than specified amount, expected (\d+), found (\d+)"
)
"""Construct's words for bytes that end too early."""


class Span(NamedTuple):
    """Place and value of a field."""

    path: str
    start: int
    """Offset of the field's first byte in the parsed data."""
    end: int
    value: object
    meaning: str


class LayoutError(ValueError):
    """The bytes do not match the layout.

    *offset* is the begin of the wrong field in the data, *field* its dotted name.
    """

    def __init__(self, reason: str, *, field: str = "", offset: int = 0) -> None:
        where = f"{field} at byte {offset}: " if field else f"at byte {offset}: "
        super().__init__(where + reason)
        self.reason = reason
        self.field = field
        self.offset = offset

    def moved(self, distance: int) -> LayoutError:
        """Return this error for data that begins *distance* bytes earlier."""
        return LayoutError(self.reason, field=self.field, offset=self.offset + distance)


class _Field(Renamed):  # type: ignore[type-arg] # not generic at run time
    """A named field that records its span if the caller passes a trace."""

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        trace = context._params.get("trace")
        if trace is None:
            return super()._parse(stream, context, path)
        start = stream.tell()
        name = ".".join([*path.split(" -> ")[1:], self.name or "?"])
        trace.on_field(name, start)
        value = super()._parse(stream, context, path)
        trace.append(Span(name, start, stream.tell(), value, self.docs))
        return value


class Trace(list[Span]):
    """The spans of a parse, in the order in which the fields ended."""

    def __init__(self) -> None:
        super().__init__()
        self.last_entered: tuple[str, int] = ("", 0)
        """Name and offset of the field that was being read when the parse ended."""

    def on_field(self, name: str, start: int) -> None:
        """Record that the field *name* begins at *start*."""
        self.last_entered = (name, start)


def field(
    name: str, layout: Construct[Any, Any], meaning: str = ""
) -> Renamed[Any, Any]:
    """Return *layout* as the field *name*; *meaning* is shown with it."""
    return _Field(layout, newname=name, newdocs=meaning)


def parse(
    layout: Construct[Any, Any],
    data: bytes | bytearray | memoryview,
    trace: Trace | None = None,
) -> Any:
    """Return the value of *layout* at the start of *data*.

    Raises LayoutError, never a construct error. *trace*, when given, receives the
    span of every field that was read, also when a later one fails.
    """
    try:
        return layout.parse(bytes(data), trace=trace)
    except (ConstructError, UnicodeDecodeError, OverflowError, MemoryError) as error:
        raise _located(layout, bytes(data), error, trace) from error


def build(layout: Construct[Any, Any], values: Mapping[str, Any]) -> bytes:
    """Return the bytes of *values*; a value that does not fit is a LayoutError."""
    try:
        return bytes(layout.build(values))
    except (ConstructError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise LayoutError(_first_line(error)) from error


def _located(
    layout: Construct[Any, Any], data: bytes, error: Exception, trace: Trace | None
) -> LayoutError:
    """Return *error* with the field and offset at which it happened.

    The fast parse keeps no positions, so a failed one is repeated with a trace.
    """
    if trace is None:
        trace = Trace()
        with suppress(ConstructError, UnicodeDecodeError, OverflowError, MemoryError):
            layout.parse(data, trace=trace)
    name, offset = trace.last_entered
    return LayoutError(_first_line(error), field=name, offset=offset)


def _first_line(error: Exception) -> str:
    """Return construct's error message without the path at its beginning."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("Error in path")]
    return _SHORT.sub(r"\2 of \1 bytes", lines[0]) if lines else type(error).__name__


def read_sequence(
    data: bytes | memoryview,
    size_of: Callable[[memoryview], int],
    decode: Callable[[memoryview], _T],
) -> Iterator[_T]:
    """Yield the consecutive parts of *data*; *size_of* reads and checks the next size.

    Raises LayoutError with the offset in the whole of *data*.
    """
    view = memoryview(data)  # slices of bytes would copy the rest for each
    position = 0
    while position < len(view):
        try:
            size = size_of(view[position:])
            yield decode(view[position : position + size])
        except LayoutError as error:
            raise error.moved(position) from error
        position += size
