"""
Strings of bytes as words of eight, for columns of strings at once.

A string fills its words from their end on; what its first word has before it is zero.
So strings that have as many words are handled together, whatever their lengths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from spark_checks.sources.gather import Ints, Places
from spark_checks.sources.twofold import Twofold

Words = npt.NDArray[np.uint64]

WORD = 8
"""Bytes of a word."""
LASTS = np.array(
    [0, *((1 << 64) - (1 << 8 * (WORD - size)) for size in range(1, WORD + 1))],
    dtype=np.uint64,
)
"""By how many bytes of its first word a string has: which bits these are."""
FACTOR = np.uint64(0x9E3779B97F4A7C15)
SHIFT = np.uint64(29)


def words_of(text: bytes, values: Places) -> Iterator[tuple[Ints, list[Words]]]:
    """Yield the indices of *values* that have as many words, and these, in order.

    A word's first byte is its lowest. No value begins in the first word of *text*. Of
    empty values there is nothing.
    """
    begins, sizes = values
    view: Words = np.ndarray((max(len(text) - WORD + 1, 0),), "<u8", text, 0, (1,))
    counts = (sizes + (WORD - 1)) // WORD
    for count in np.flatnonzero(np.bincount(counts)).tolist():
        if not count:
            continue
        index = np.flatnonzero(counts == count)
        at = begins[index] + sizes[index] - WORD * count
        words = [view[at + WORD * number] for number in range(count)]
        words[0] &= LASTS[sizes[index] - WORD * (count - 1)]
        yield index, words


@Twofold
def text_hashes(text: bytes, values: Places) -> Ints:
    """Return a hash of each of *values* of *text*, of no meaning elsewhere.

    No value begins in the first word of *text*.
    """
    found = np.zeros(len(values[0]), dtype=np.int64)
    for index, words in words_of(text, values):
        found[index] = folded([values[1][index].view(np.uint64), *words]).view(np.int64)
    return found


def folded(words: Sequence[Words]) -> Words:
    """Return a hash of rows of *words*, which are columns."""
    code = np.zeros(len(words[0]), dtype=np.uint64)
    for word in words:
        code = (code ^ word) * FACTOR
        code ^= code >> SHIFT
    return code
