"""
Kernel that finds properties; see :func:`columns.record_properties.properties_of`.

Properties stay in place: their text is the window. Separators are searched in a block
of bytes per step.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit, types

from columns.gather import Ints
from columns.kernels.memory import (
    BLOCK,
    BOOLS,
    DATA,
    INNER,
    INTS,
    LINE,
    OPTIONS,
    WORDS,
    fetch_ahead,
    low_bytes_at,
    lowest_bit,
    word_at,
)
from columns.kernels.strings import java_hash
from columns.record_properties import (
    END,
    NAME_END,
    Properties,
    Values,
    no_values,
    word_of,
)
from columns.uint64_words import FIRSTS, WORD

_AHEAD = 8
"""Records to prefetch."""
_TABLE = types.int64[:, ::1]


def properties_of(
    data: bytes, begins: Ints, ends: Ints, names: Sequence[bytes]
) -> Properties:
    """Return the properties *names* between *begins* and *ends* in *data*."""
    is_broken = np.zeros(len(begins), dtype=np.bool_)
    shape = len(names), len(begins)
    columns = [column.reshape(shape) for column in no_values(shape[0] * shape[1])]
    is_regular, is_ascii = _split(
        np.frombuffer(data, dtype=np.uint8),
        np.ascontiguousarray(begins),
        np.ascontiguousarray(ends),
        np.frombuffer(b"".join(names), dtype=np.uint8),
        np.cumsum([0, *map(len, names)]),
        np.array([word_of(name) for name in names]),
        *columns,
        is_broken,
    )
    return Properties(
        text=data,
        values={
            name: Values(*(column[row] for column in columns))
            for row, name in enumerate(names)
        },
        broken=np.flatnonzero(is_broken),
        is_regular=is_regular,
        is_ascii=is_ascii,
    )


@njit(types.uint64(DATA, types.int64, types.int64), **OPTIONS)
def _word_within(data, begin, end):
    """Return the bytes from *begin* as a word, without those from *end*."""
    size = min(end - begin, WORD)
    if begin + WORD <= len(data):
        return word_at(data, begin) & FIRSTS[size]
    word = np.uint64(0)
    for index in range(size):
        word |= np.uint64(data[begin + index]) << np.uint64(8 * index)
    return word


@njit(types.UniTuple(types.uint64, 2)(DATA, types.int64, types.int64), **INNER)
def _marks(data, begin, end):
    """Return a bit for each of the next bytes before *end*: separators, then ASCII."""
    if begin + BLOCK <= len(data):
        marks = low_bytes_at(data, begin, END + 1)
        ascii_bytes = low_bytes_at(data, begin, 0x80)
    else:
        marks = ascii_bytes = np.uint64(0)
        for index in range(min(end - begin, BLOCK)):
            byte, bit = data[begin + index], np.uint64(1) << np.uint64(index)
            marks |= bit * np.uint64(byte <= END)
            ascii_bytes |= bit * np.uint64(byte < 0x80)
    beyond = np.uint64(0)
    if end - begin < BLOCK:
        beyond = ~np.uint64(0) << np.uint64(end - begin)
    return marks & ~beyond, ascii_bytes | beyond


@njit(types.boolean(DATA, types.int64, DATA, types.int64, types.int64), **INNER)
def _has_rest(data, begin, names, name, size):
    """Return whether a name and one of *names* are equal behind their first word."""
    for index in range(WORD, size):
        if data[begin + index] != names[name + index]:
            return False
    return True


@njit(
    types.UniTuple(types.boolean, 2)(
        *(DATA, INTS, INTS, DATA, INTS, WORDS, _TABLE, _TABLE),
        *(types.uint32[:, ::1], types.boolean[:, ::1], BOOLS),
    ),
    **OPTIONS,
)
def _split(  # noqa: C901, PLR0912 # split up: twice the time
    data,
    begins,
    ends,
    names,
    edges,
    sought,
    value_begins,
    value_sizes,
    codes,
    are_words,
    is_broken,
):
    """Fill in the places; return whether all properties are regular, and ASCII."""
    is_regular, ascii_bytes = True, ~np.uint64(0)
    for record in range(len(begins)):
        soon = record + _AHEAD
        if soon < len(begins):
            for line in range(begins[soon], ends[soon], LINE):
                fetch_ahead(data, line)
        at, end = begins[record], ends[record]
        if end <= at:
            continue
        begin, name_end = at, np.int64(-1)
        name_ends, pieces, has_zero = 0, 0, False
        is_closed = data[end - 1] == END
        while at < end or not is_closed:
            if at < end:
                marks, found_ascii = _marks(data, at, end)
                ascii_bytes &= found_ascii
            else:  # the last value may end without a separator
                is_closed, marks = True, np.uint64(1)
            while marks:
                place = at + lowest_bit(marks)
                marks &= marks - np.uint64(1)
                byte = data[place] if place < end else np.uint8(END)
                if byte == NAME_END:
                    name_ends += 1
                    if name_end < 0:
                        name_end = place
                elif byte == END:
                    if name_end < 0:
                        is_regular = False
                    elif place - name_end > 1:
                        first = _word_within(data, begin, name_end)
                        for row in range(len(sought)):
                            size = edges[row + 1] - edges[row]
                            if (
                                first == sought[row]
                                and name_end - begin == size
                                and _has_rest(data, begin, names, edges[row], size)
                            ):
                                value_begins[row, record] = name_end + 1
                                value_sizes[row, record] = place - name_end - 1
                                found = java_hash(data, name_end + 1, place)
                                codes[row, record], are_words[row, record] = found
                    pieces += 1
                    begin, name_end = place + 1, np.int64(-1)
                else:
                    has_zero = True
            at = min(at + BLOCK, end)
        if name_ends != pieces or has_zero:
            is_broken[record] = True
            is_regular = False
    return is_regular, ascii_bytes == ~np.uint64(0)
