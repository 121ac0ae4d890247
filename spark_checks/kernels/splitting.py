"""
Properties split into names and values; the plain way is in
``sources.record_properties``.

They stay where they are: their text is the window itself. Eight bytes are looked
through at a time for those that separate.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit, types

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
from spark_checks.sources.gather import Ints, Places
from spark_checks.sources.record_properties import (
    END,
    MISSING,
    NAME_END,
    Properties,
    word_of,
)
from spark_checks.sources.string_hashes import ONES, TOPS
from spark_checks.sources.words import WORD

_PIECE_SIZE = 8
"""Bytes that a name and its value have at least, in most stores."""
_AHEAD = 8
"""Records."""
_LOWS = ~TOPS
_PAST_END = np.uint64(0x80 - END - 1) * ONES
"""Added to the low bits of a byte, it sets the top one unless the byte separates."""
_LAST = np.uint64(0x80)
"""Of a word whose first byte separates."""
_NOTHING = np.uint64(0)
_NO_ROOM = -1
_TABLE = types.int64[:, ::1]


def properties_of(data: bytes, begins: Ints, ends: Ints) -> Properties:
    """Return the properties that stand between *begins* and *ends* in *data*."""
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
    """Return the bytes from *begin* on as a word, without those from *end* on."""
    size = min(end - begin, WORD)
    if begin + WORD <= len(data):
        return word_at(data, begin) & MASKS[size]
    word = np.uint64(0)
    for index in range(size):
        word |= np.uint64(data[begin + index]) << np.uint64(8 * index)
    return word


@njit(types.uint64(types.uint64), **INNER)
def separators(word):
    """Return the top bit of each byte of *word* that separates, or is zero."""
    return ~((word & _LOWS) + _PAST_END) & ~word & TOPS


@njit(
    types.Tuple((types.int64, types.boolean, types.boolean))(
        DATA, INTS, INTS, _TABLE, WORDS, BOOLS
    ),
    **OPTIONS,
)
def _split(  # noqa: C901, PLR0912, PLR0915 # in pieces it takes twice as long
    data, begins, ends, columns, words, is_broken
):
    """Fill in the rest, and return how many, and whether all are regular and ASCII."""
    count, is_regular, seen = 0, True, _NOTHING
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
                seen |= word
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
    return count, is_regular, seen & TOPS == _NOTHING


def places_named(split: Properties, name: bytes) -> tuple[Ints, Places]:
    """Return which records have the property *name*, and where its value is.

    The first of a record counts.
    """
    found = np.empty((3, len(split.record)), dtype=np.int64)
    columns = (split.record, split.begin, split.name_end, split.end)
    count = _named(
        np.frombuffer(split.text, dtype=np.uint8),
        tuple(map(np.ascontiguousarray, columns)),
        np.ascontiguousarray(split.word),
        np.frombuffer(name, dtype=np.uint8),
        found,
    )
    record, begins, sizes = found[:, :count]
    return record, (begins, sizes)


@njit(
    types.int64(DATA, types.UniTuple(INTS, 4), WORDS, DATA, _TABLE),
    **OPTIONS,
)
def _named(data, pieces, words, name, found):
    records, begins, name_ends, ends = pieces
    word = _word_within(name, 0, len(name))
    count, last = 0, np.int64(-1)
    for piece in range(len(records)):
        begin = begins[piece]
        if words[piece] != word or name_ends[piece] - begin != len(name):
            continue
        is_same = records[piece] != last
        for index in range(WORD, len(name)):
            is_same = is_same and data[begin + index] == name[index]
        if is_same:
            last = records[piece]
            found[0, count] = last
            found[1, count] = name_ends[piece] + 1
            found[2, count] = ends[piece] - name_ends[piece] - 1
            count += 1
    return count


def places_once(split: Properties, names: Sequence[bytes], count: int) -> Places | None:
    """Return where values of the properties *names* of *count* records are.

    Both are tables with a row for each name. What a record has not is of a negative
    size. None, if a record has one of them twice.
    """
    begins = np.zeros((len(names), count), dtype=np.int64)
    sizes = np.full((len(names), count), MISSING)
    columns = (split.record, split.begin, split.name_end, split.end)
    edges = np.cumsum([0, *map(len, names)])
    is_once = _values(
        np.frombuffer(split.text, dtype=np.uint8),
        tuple(map(np.ascontiguousarray, columns)),
        np.ascontiguousarray(split.word),
        np.array([word_of(name) for name in names]),
        (np.frombuffer(b"".join(names), dtype=np.uint8), edges),
        (begins, sizes),
    )
    return (begins, sizes) if is_once else None


@njit(
    types.boolean(
        DATA,
        types.UniTuple(INTS, 4),
        WORDS,
        WORDS,
        types.Tuple((DATA, INTS)),
        types.UniTuple(_TABLE, 2),
    ),
    **OPTIONS,
)
def _values(data, pieces, words, sought, names, found):
    """Fill in where the values are, and return whether none is there twice."""
    records, piece_begins, name_ends, ends = pieces
    text, edges = names
    begins, sizes = found
    for piece in range(len(records)):
        begin, name_end, record = piece_begins[piece], name_ends[piece], records[piece]
        for row in range(len(sought)):
            size = edges[row + 1] - edges[row]
            if words[piece] != sought[row] or name_end - begin != size:
                continue
            is_same = True
            for index in range(WORD, size):
                is_same = is_same and data[begin + index] == text[edges[row] + index]
            if is_same:
                if sizes[row, record] != MISSING:
                    return False
                begins[row, record] = name_end + 1
                sizes[row, record] = ends[piece] - name_end - 1
    return True
