"""
Kernel that finds properties by name; see :mod:`columns.record_properties`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit, types

from columns.gather import Places
from columns.record_properties import MISSING, Properties, word_of
from columns.uint64_words import WORD
from spark_checks.kernels.memory import DATA, INTS, OPTIONS, WORDS

_TABLE = types.int64[:, ::1]
_PIECES = types.UniTuple(INTS, 4)


def places_once(split: Properties, names: Sequence[bytes], count: int) -> Places | None:
    """Return begins and sizes of the values of *names*, a row for each name.

    A missing property has a negative size. Returns None if a record has a name twice.
    """
    begins = np.zeros((len(names), count), dtype=np.int64)
    sizes = np.full((len(names), count), MISSING)
    edges = np.cumsum([0, *map(len, names)])
    pieces = (split.record, split.begin, split.name_end, split.end)
    is_once = _values(
        np.frombuffer(split.text, dtype=np.uint8),
        tuple(map(np.ascontiguousarray, pieces)),
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
