"""Forms of many short texts: decimal numbers and message ids."""

from __future__ import annotations

import numpy as np

from columns.gather import Bools, Ints, Places
from columns.numbers.by_key import NOTHING
from columns.record_properties import rows_at
from spec.wire.message.message_id import message_id_layout, message_id_v6_layout

ID_SIZES = tuple(
    2 * layout.sizeof() for layout in (message_id_layout, message_id_v6_layout)
)
"""Hexadecimal digits of a message id with an IPv4 or IPv6 address."""
_ZERO = np.uint8(ord("0"))
_IS_HEX = np.isin(np.arange(256), list(b"0123456789abcdefABCDEF"))


def numbers_in(text: bytes, values: Places, *, digits: int) -> Ints:
    """Return the number in each of *values*, NOTHING if it is not 1 to *digits* digits.

    A number is not negative, and fits into 64 bits.
    """
    begins, sizes = values
    view = np.frombuffer(text, dtype=np.uint8)
    found = np.zeros(len(sizes), dtype=np.int64)
    is_number = (sizes > 0) & (sizes <= digits)
    for place in range(min(digits, int(sizes.max(initial=0)))):
        index = np.flatnonzero(is_number & (sizes > place))
        digit = view[begins[index] + place] - _ZERO
        is_number[index] = digit <= 9
        found[index] = found[index] * 10 + digit
    return np.where(is_number, found, NOTHING)


def are_ids(text: bytes, values: Places) -> Bools:
    """Return the mask of *values* with the form of a message id."""
    begins, sizes = values
    found = np.zeros(len(sizes), dtype=np.bool_)
    for size in ID_SIZES:
        index = np.flatnonzero(sizes == size)
        octets = rows_at(text, begins[index], size).view(np.uint8).reshape(-1, size)
        found[index] = _IS_HEX[octets].all(axis=1)
    return found
