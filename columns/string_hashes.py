"""
Java's hashes of many strings.

A word of eight bytes is hashed in three steps, each of which joins neighbours: bytes to
pairs, pairs to fours, fours to the whole. Text that is not ASCII is left to
:func:`spec.integers.java_string_hash`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from columns.gather import Bools, Places
from columns.uint64_words import Words, words_of

Codes = npt.NDArray[np.uint32]
powers: Codes = np.cumprod(np.where(np.arange(32768) == 0, 1, 31), dtype=np.uint32)
"""Factor of a prefix's hash, by the length of the text behind it."""
STEPS = tuple(
    (np.uint64(lows), np.uint64(bits), np.uint64(31 ** (bits // 8)))
    for lows, bits in (
        (0x00FF00FF00FF00FF, 8),
        (0x0000FFFF0000FFFF, 16),
        (0x00000000FFFFFFFF, 32),
    )
)
"""Masks of the first of two neighbours, bits of each, and their weight."""
OF_WORD = np.uint64(31**8)
ONES = np.uint64(0x0101010101010101)
TOPS = np.uint64(0x8080808080808080)
BLANKS = ONES * np.uint64(ord(" "))


def string_hashes(data: bytes, values: Places) -> tuple[Codes, Bools]:
    """Return the hashes of *values*, and the mask of ASCII values without a blank.

    Only those have the right hash. No value begins in the first eight bytes of *data*.
    """
    found = np.zeros(len(values[0]), dtype=np.uint32)
    are_words = np.ones(len(found), dtype=np.bool_)
    for index, words in words_of(data, values):
        other = np.bitwise_or.reduce(words) & TOPS
        codes = np.zeros(len(index), dtype=np.uint64)
        for word in words:
            other = other | zero_bytes(word ^ BLANKS)
            codes = codes * OF_WORD + hash_of_word(word)
        found[index] = codes.astype(np.uint32)
        are_words[index] = other == 0
    return found, are_words


def hash_of_word(word: Words) -> Words:
    """Return the hash of the eight bytes of each *word*; the first byte is lowest."""
    for lows, bits, weight in STEPS:
        word = (word & lows) * weight + ((word >> bits) & lows)
    return word


def zero_bytes(word: Words) -> Words:
    """Return a non-zero value for each *word* with a zero byte."""
    return (word - ONES) & ~word & TOPS
