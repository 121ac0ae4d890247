"""
Kernels that find properties by name; see :mod:`columns.record_properties`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit, types

from columns.gather import Ints, Places
from columns.record_properties import MISSING, Properties, word_of
from columns.uint64_words import WORD
from spark_checks.kernels.memory import DATA, INTS, OPTIONS, WORDS

_TABLE = types.int64[:, ::1]
_PIECES = types.UniTuple(INTS, 4)


def _pieces_of(split: Properties) -> tuple[Ints, ...]:
    columns = (split.record, split.begin, split.name_end, split.end)
    return tuple(map(np.ascontiguousarray, columns))


def places_named(split: Properties, name: bytes) -> tuple[Ints, Places]:
    """Return the records with the property *name*, and the places of its value.

    Of duplicate names in a record the last counts (WIRE-PROPERTIES-013).
    """
    found = np.empty((3, len(split.record)), dtype=np.int64)
    count = _named(
        np.frombuffer(split.text, dtype=np.uint8),
        _pieces_of(split),
        np.ascontiguousarray(split.word),
        word_of(name),
        np.frombuffer(name, dtype=np.uint8),
        found,
    )
    record, begins, sizes = found[:, :count]
    return record, (begins, sizes)


@njit(
    types.int64(DATA, _PIECES, WORDS, types.uint64, DATA, _TABLE),
    **OPTIONS,
)
def _named(data, pieces, words, word, name, found):
    records, begins, name_ends, ends = pieces
    count, last = 0, np.int64(-1)
    for piece in range(len(records)):
        begin = begins[piece]
        if words[piece] != word or name_ends[piece] - begin != len(name):
            continue
        is_same = ends[piece] - name_ends[piece] > 1
        for index in range(WORD, len(name)):
            is_same = is_same and data[begin + index] == name[index]
        if is_same:
            count += records[piece] != last  # a duplicate replaces the one before it
            last = records[piece]
            found[0, count - 1] = last
            found[1, count - 1] = name_ends[piece] + 1
            found[2, count - 1] = ends[piece] - name_ends[piece] - 1
    return count


def places_once(split: Properties, names: Sequence[bytes], count: int) -> Places | None:
    """Return begins and sizes of the values of *names*, a row for each name.

    A missing property has a negative size. Returns None if a record has a name twice.
    """
    begins = np.zeros((len(names), count), dtype=np.int64)
    sizes = np.full((len(names), count), MISSING)
    edges = np.cumsum([0, *map(len, names)])
    is_once = _values(
        np.frombuffer(split.text, dtype=np.uint8),
        _pieces_of(split),
        np.ascontiguousarray(split.word),
        np.array([word_of(name) for name in names]),
        (np.frombuffer(b"".join(names), dtype=np.uint8), edges),
        (begins, sizes),
    )
    return (begins, sizes) if is_once else None


@njit(
    types.boolean(
        DATA,
        _PIECES,
        WORDS,
        WORDS,
        types.Tuple((DATA, INTS)),
        types.UniTuple(_TABLE, 2),
    ),
    **OPTIONS,
)
def _values(data, pieces, words, sought, names, found):
    """Fill in the places, and return whether no name is there twice."""
    records, piece_begins, name_ends, ends = pieces
    text, edges = names
    begins, sizes = found
    for piece in range(len(records)):
        begin, name_end, record = piece_begins[piece], name_ends[piece], records[piece]
        for row in range(len(sought)):
            size = edges[row + 1] - edges[row]
            if words[piece] != sought[row] or name_end - begin != size:
                continue
            is_same = ends[piece] - name_end > 1
            for index in range(WORD, size):
                is_same = is_same and data[begin + index] == text[edges[row] + index]
            if is_same:
                if sizes[row, record] != MISSING:
                    return False
                begins[row, record] = name_end + 1
                sizes[row, record] = ends[piece] - name_end - 1
    return True
