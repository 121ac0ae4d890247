"""
Kernel that splits properties; see :func:`columns.record_properties.properties_of`.

Properties stay in place: their text is the window. Separators are searched in eight
bytes per step.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from columns.gather import Ints
from columns.record_properties import END, NAME_END, Properties
from columns.string_hashes import ONES, TOPS
from columns.uint64_words import WORD
from spark_checks.kernels.memory import (
    BOOLS,
    DATA,
    INNER,
    INTS,
    LINE,
    MASKS,
    OPTIONS,
    WORDS,
    fetch_ahead,
    lowest_bit,
    word_at,
)

_PIECE_SIZE = 8
"""Typical least size of a name with its value, in bytes."""
_AHEAD = 8
"""Records to prefetch."""
_LOWS = ~TOPS
_PAST_END = np.uint64(0x80 - END - 1) * ONES
"""Addend that sets the top bit of each byte that is not a separator."""
_LAST = np.uint64(0x80)
"""Mark of a word whose first byte is a separator."""
_NOTHING = np.uint64(0)
_NO_ROOM = -1
_TABLE = types.int64[:, ::1]


def properties_of(data: bytes, begins: Ints, ends: Ints) -> Properties:
    """Return the properties between *begins* and *ends* in *data*."""
    size = int((ends - begins).sum())
    begins, ends = np.ascontiguousarray(begins), np.ascontiguousarray(ends)
    is_broken = np.zeros(len(begins), dtype=np.bool_)
    view = np.frombuffer(data, dtype=np.uint8)
    count = _NO_ROOM
    for room in (size // _PIECE_SIZE, size):
        if count == _NO_ROOM:
            columns = np.empty((4, room + len(begins)), dtype=np.int64)
            words = np.empty(room + len(begins), dtype=np.uint64)
            count, is_regular, is_ascii = _split(
                view, begins, ends, columns, words, is_broken
            )
    record, begin, name_end, end = columns[:, :count]
    return Properties(
        text=data,
        record=record,
        begin=begin,
        name_end=name_end,
        end=end,
        broken=np.flatnonzero(is_broken),
        word=words[:count],
        is_regular=is_regular,
        is_ascii=is_ascii,
    )


@njit(types.uint64(DATA, types.int64, types.int64), **OPTIONS)
def _word_within(data, begin, end):
    """Return the bytes from *begin* as a word, without those from *end*."""
    size = min(end - begin, WORD)
    if begin + WORD <= len(data):
        return word_at(data, begin) & MASKS[size]
    word = np.uint64(0)
    for index in range(size):
        word |= np.uint64(data[begin + index]) << np.uint64(8 * index)
    return word


@njit(types.uint64(types.uint64), **INNER)
def separators(word):
    """Return the top bit of each byte of *word* that is a separator or zero."""
    return ~((word & _LOWS) + _PAST_END) & ~word & TOPS


@njit(
    types.Tuple((types.int64, types.boolean, types.boolean))(
        DATA, INTS, INTS, _TABLE, WORDS, BOOLS
    ),
    **OPTIONS,
)
def _split(  # noqa: C901, PLR0912, PLR0915 # split up: twice the time
    data, begins, ends, columns, words, is_broken
):
    """Fill in the columns; return their length, whether all are regular, and ASCII."""
    count, is_regular, bits = 0, True, _NOTHING
    for record in range(len(begins)):
        soon = record + _AHEAD
        if soon < len(begins):
            for line in range(begins[soon], ends[soon], LINE):
                fetch_ahead(data, line)
        at, end = begins[record], ends[record]
        if end <= at:
            continue
        begin, name_end = at, np.int64(-1)
        names, pieces, has_zero = 0, 0, False
        is_closed = data[end - 1] == END
        while at < end or not is_closed:
            if at < end:
                word = _word_within(data, at, end)
                bits |= word
                marks = separators(word)
                if end - at < WORD:
                    marks &= MASKS[end - at]
            else:  # the last value may end without a separator
                is_closed = True
                marks = _LAST
            while marks:
                place = at + (lowest_bit(marks) >> 3)
                marks &= marks - np.uint64(1)
                byte = data[place] if place < end else np.uint8(END)
                if byte == NAME_END:
                    names += 1
                    if name_end < 0:
                        name_end = place
                elif byte == END:
                    if count == len(words):
                        return _NO_ROOM, False, False
                    words[count] = _NOTHING
                    if name_end >= 0:
                        words[count] = _word_within(data, begin, name_end)
                    else:
                        name_end = place
                        is_regular = False
                    columns[0, count] = record
                    columns[1, count] = begin
                    columns[2, count] = name_end
                    columns[3, count] = place
                    count += 1
                    pieces += 1
                    begin, name_end = place + 1, np.int64(-1)
                else:
                    has_zero = True
            at = min(at + WORD, end)
        if names != pieces or has_zero:
            is_broken[record] = True
            is_regular = False
    return count, is_regular, bits & TOPS == _NOTHING
