"""
Byte strings as words of eight bytes, for columns of strings.

A string fills its words from its end; bytes of its first word before it are zero.
Strings with equally many words are handled together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from columns.accelerated import Accelerated
from columns.gather import Ints, Places

Words = npt.NDArray[np.uint64]

WORD = 8
"""Bytes of a word."""
FIRSTS = np.array([(1 << 8 * size) - 1 for size in range(WORD + 1)], dtype=np.uint64)
"""Mask of a word's first bytes, by their number."""
LASTS = np.array(
    [0, *((1 << 64) - (1 << 8 * (WORD - size)) for size in range(1, WORD + 1))],
    dtype=np.uint64,
)
"""Mask of a first word, by the number of the string's bytes in it."""
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


def words_of(text: bytes, values: Places) -> Iterator[tuple[Ints, list[Words]]]:
    """Yield the indices of *values* with equally many words, and the words in order.

    A word's first byte is its lowest. No value begins in the first word of *text*.
    Empty values are left out.
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


@Accelerated
def text_hashes(text: bytes, values: Places) -> Ints:
    """Return a hash of each of *values* of *text*, not comparable elsewhere.

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
        code = fold(code, word)
    return code


def fold(code: Any, word: Any) -> Any:
    """Return *code*, the hash of some words, with one more *word*.

    Both are columns, or numbers in a kernel.
    """
    code = (code ^ word) * _FACTOR
    code ^= code >> _SHIFT
    return code
