"""
Tampering makes wrong bytes of right ones, one visible lie at a time.

Encoders only write what is true: they derive sizes and checksums. A test that needs a
lie makes it here, by name, so that a reader sees what is wrong with the bytes.
"""

from __future__ import annotations

from typing import Any

from construct import Construct

from spec.layout import Span, Trace, parse

LENGTH = slice(0, 4)
SERIALIZE_TYPE = 4
HEADER_LENGTH = slice(5, 8)


def set_length(frame: bytes, length: int) -> bytes:
    """Return *frame* with a first word that announces *length* bytes."""
    return _put(frame, LENGTH, length, signed=length < 0)


def set_header_length(frame: bytes, length: int) -> bytes:
    """Return *frame* with *length* in the low 24 bits of its second word."""
    return _put(frame, HEADER_LENGTH, length)


def set_serialize_type(frame: bytes, value: int) -> bytes:
    """Return *frame* with *value* as the notation of its header."""
    return set_byte(frame, SERIALIZE_TYPE, value)


def set_byte(data: bytes, offset: int, value: int) -> bytes:
    """Return *data* with *value* at *offset*."""
    return data[:offset] + bytes([value]) + data[offset + 1 :]


def flip_byte(data: bytes, offset: int, mask: int = 0xFF) -> bytes:
    """Return *data* with the bits of *mask* inverted at *offset*."""
    return set_byte(data, offset, data[offset] ^ mask)


def truncate(data: bytes, size: int) -> bytes:
    """Return the first *size* bytes; a negative *size* drops that many at the end."""
    return data[:size]


def append(data: bytes, more: bytes) -> bytes:
    """Return *data* with *more* after it, which no length mentions."""
    return data + more


def replace_once(data: bytes, old: bytes, new: bytes) -> bytes:
    """Return *data* with its only *old* replaced by *new* of the same size."""
    if data.count(old) != 1 or len(old) != len(new):
        raise ValueError(
            f"{old!r} is not there exactly once, or {new!r} has another size"
        )
    return data.replace(old, new)


def flip_field(layout: Construct[Any, Any], data: bytes, name: str) -> bytes:
    """Return *data* with the last byte of the field *name* inverted."""
    return flip_byte(data, span_of(layout, data, name).end - 1)


def set_field(layout: Construct[Any, Any], data: bytes, name: str, value: int) -> bytes:
    """Return *data* with the integer *value* in the bytes of the field *name*."""
    span = span_of(layout, data, name)
    return _put(data, slice(span.start, span.end), value, signed=value < 0)


def span_of(layout: Construct[Any, Any], data: bytes, name: str) -> Span:
    """Return the span of the field *name* in *data*."""
    trace = Trace()
    parse(layout, data, trace)
    for span in trace:
        if span.path == name:
            return span
    raise ValueError(f"the layout has no field {name}")


def _put(data: bytes, where: slice, value: int, *, signed: bool = False) -> bytes:
    size = where.stop - where.start
    word = value.to_bytes(size, "big", signed=signed)
    return data[: where.start] + word + data[where.stop :]
