"""Differing fields of a record in two stores, in words."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from spec.layout import LayoutError
from spec.store.message_record import Record, decode_record
from spec.wire.message.properties import Property, decode_properties

_SHOWN_MAX = 60
"""Longest shown value, in characters."""
_CRC = slice(8, 12)


def field_differences(
    found: bytes, expected: bytes, *, is_record: bool
) -> tuple[str, tuple[str, str]]:
    """Return the names of the fields that differ, and both sides' values."""
    one, other = _decoded(found), _decoded(expected)
    if not is_record or one is None or other is None:
        return "bytes", (found[:16].hex(), expected[:16].hex())
    names = [field.name for field in fields(Record)]
    pairs = ((name, getattr(one, name), getattr(other, name)) for name in names)
    shown = {
        name: (_shown(value, beside), _shown(beside, value))
        for name, value, beside in pairs
        if value != beside
    }
    if found[_CRC] != expected[_CRC]:
        shown["body_crc"] = f"0x{found[_CRC].hex()}", f"0x{expected[_CRC].hex()}"
    texts = [
        ", ".join(f"{name}={values[side]}" for name, values in shown.items())
        for side in (0, 1)
    ]
    return ", ".join(shown), (texts[0], texts[1])


def is_other_message(one: bytes, other: bytes) -> bool:
    """Return whether two records of one size are different messages, not copies.

    Damage hits a field or two. Another message has another key, or several other
    fields.
    """
    a, b = _decoded(one), _decoded(other)
    if a is None or b is None:
        return False
    keys = [decode_properties(r.properties).get(Property.UNIQ_KEY) for r in (a, b)]
    if keys[0] != keys[1] and a.body != b.body:
        return True
    differ = [
        getattr(a, name) != getattr(b, name)
        for name in ("born_at_ms", "body", "topic", "queue_id", "stored_at_ms")
    ]
    return sum(differ) > 2 or (a.queue_offset != b.queue_offset and sum(differ) > 1)


def _decoded(data: bytes) -> Record | None:
    try:
        return decode_record(data, check_crc=False)
    except LayoutError:
        return None


def _shown(value: object, beside: object) -> str:
    """Return *value* shortened; bytes from the first difference to *beside*."""
    if isinstance(value, bytes) and isinstance(beside, bytes):
        at = first_difference(value, beside)
        return f"{len(value)} bytes, from byte {at} on 0x{value[at : at + 8].hex()}"
    text = str(value).replace("\x01", ":").replace("\x02", ";")
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= _SHOWN_MAX else f"{text[: _SHOWN_MAX - 3]}..."


def first_difference(one: bytes, other: bytes) -> int:
    """Return the index of the first byte in which two byte strings differ."""
    both = min(len(one), len(other))
    octets = (np.frombuffer(data, np.uint8, both) for data in (one, other))
    differing = np.flatnonzero(np.not_equal(*octets))
    return int(differing[0]) if len(differing) else both
