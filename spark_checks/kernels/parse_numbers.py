"""
Kernels that parse numbers in text; see :mod:`spark_checks.survey.system_topic_records`.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from columns.gather import Ints, Places
from spark_checks.columns.by_key import NOTHING
from spark_checks.counting_rules import ID_SIZES, OP_DIGITS_MAX, QUEUE_DIGITS_MAX
from spark_checks.kernels.memory import BOOLS, DATA, INTS, OPTIONS, of_each
from spark_checks.survey.sums import Bools

_COMMA, _ZERO, _NINE, _A, _F = b",09af"
_CASE = 0x20
"""Bit by which lower-case letters differ from upper-case ones."""
_SHORT_ID, _LONG_ID = ID_SIZES


def numbers_listed(data: bytes, lists: Places) -> tuple[Ints, Ints]:
    """Return list index and value of each number in *lists*, NOTHING if it is invalid.

    Commas separate the numbers, and one may follow the last.
    """
    begins, sizes = map(np.ascontiguousarray, lists)
    found = np.empty((2, int(sizes.sum()) + len(sizes)), dtype=np.int64)
    count = _listed(np.frombuffer(data, dtype=np.uint8), begins, sizes, found)
    return found[0, :count], found[1, :count]


@njit(types.int64(DATA, INTS, INTS, types.int64[:, ::1]), **OPTIONS)
def _listed(data, begins, sizes, found):
    count = 0
    for index in range(len(begins)):
        number, digits, is_number = np.int64(0), 0, True
        end = begins[index] + sizes[index]
        if sizes[index] and data[end - 1] == _COMMA:
            end -= 1
        for at in range(begins[index], end + 1):
            byte = data[at] if at < end else np.uint8(_COMMA)
            if byte == _COMMA:
                is_number = is_number and 1 <= digits <= OP_DIGITS_MAX
                found[0, count] = index
                found[1, count] = number if is_number else NOTHING
                count += 1
                number, digits, is_number = np.int64(0), 0, True
            else:
                if not _ZERO <= byte <= _NINE:
                    is_number = False
                number = number * 10 + (np.int64(byte) - _ZERO)
                digits += 1
    return count


def queue_numbers(text: bytes, values: Places) -> Ints:
    """Return the queue id in each of *values*, NOTHING if it is not a number."""
    found: Ints = of_each(_queue_numbers, text, values, np.int64)
    return found


@njit(types.void(DATA, INTS, INTS, INTS), **OPTIONS)
def _queue_numbers(text, begins, sizes, found):
    for index in range(len(begins)):
        number, size = np.int64(0), sizes[index]
        is_number = 1 <= size <= QUEUE_DIGITS_MAX
        for at in range(begins[index], begins[index] + size if is_number else 0):
            is_number = is_number and _ZERO <= text[at] <= _NINE
            number = number * 10 + np.int64(text[at]) - _ZERO
        found[index] = number if is_number else NOTHING


def are_ids(text: bytes, values: Places) -> Bools:
    """Return the mask of *values* with the form of a message id."""
    found: Bools = of_each(_are_ids, text, values, np.bool_)
    return found


@njit(types.void(DATA, INTS, INTS, BOOLS), **OPTIONS)
def _are_ids(text, begins, sizes, found):
    for index in range(len(begins)):
        size = sizes[index]
        is_id = size in (_SHORT_ID, _LONG_ID)
        for at in range(begins[index], begins[index] + size if is_id else 0):
            byte = text[at]
            small = byte | _CASE
            is_digit = (_ZERO <= byte <= _NINE) or (_A <= small <= _F)
            is_id = is_id and is_digit
        found[index] = is_id
