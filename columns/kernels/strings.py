"""
Kernels of strings; see `string_hashes`, `topics` and `uint64_words` of columns.

A string is read in eight-byte words from its end. No string begins in the first eight
bytes of its data.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from columns.gather import Ints, Places
from columns.kernels.memory import DATA, INNER, INTS, OPTIONS, of_each, word_at
from columns.string_hashes import BLANKS, OF_WORD, TOPS, hash_of_word, zero_bytes
from columns.uint64_words import LASTS, WORD, fold

_zero_bytes = njit(types.uint64(types.uint64), **INNER)(zero_bytes)
_hash_of_word = njit(types.uint64(types.uint64), **INNER)(hash_of_word)
_fold = njit(types.uint64(types.uint64, types.uint64), **INNER)(fold)


@njit(types.uint64(DATA, types.int64, types.int64), **INNER)
def _word_before(data, begin, at):
    """Return the word at *at*, without its bytes before *begin*."""
    word = word_at(data, at)
    return word if at >= begin else word & LASTS[WORD - (begin - at)]


@njit(
    types.Tuple((types.uint32, types.boolean))(DATA, types.int64, types.int64), **INNER
)
def java_hash(data, begin, end):
    """Return the hash of a string, and whether it is ASCII without a blank."""
    code, other_bits = np.uint64(0), np.uint64(0)
    at = end - (end - begin + WORD - 1) // WORD * WORD
    while at < end:
        word = _word_before(data, begin, at)
        other_bits |= word & TOPS | _zero_bytes(word ^ BLANKS)
        code = code * OF_WORD + _hash_of_word(word)
        at += WORD
    return np.uint32(code), other_bits == 0


def text_hashes(text: bytes, values: Places) -> Ints:
    """Return a hash of each of *values* of *text*, not comparable elsewhere."""
    found: Ints = of_each(_text_hashes, text, values, np.int64)
    return found


@njit(types.uint64(DATA, types.int64, types.int64), **INNER)
def _text_hash(data, begin, size):
    """Return the hash of a text of at least one byte."""
    code = _fold(np.uint64(0), np.uint64(size))
    end = begin + size
    at = end - (size + WORD - 1) // WORD * WORD
    while at < end:
        code = _fold(code, _word_before(data, begin, at))
        at += WORD
    return code


@njit(types.void(DATA, INTS, INTS, INTS), **OPTIONS)
def _text_hashes(data, begins, sizes, found):
    for index in range(len(begins)):
        size = sizes[index]
        found[index] = (
            np.int64(_text_hash(data, begins[index], size)) if size else np.int64(0)
        )


def first_alike(data: bytes, texts: Places) -> Ints:
    """Return for each of *texts* the index of the first equal one."""
    room = 1 << (2 * len(texts[0])).bit_length()
    found: Ints = of_each(_first_alike, data, texts, np.int64, np.full(room, -1))
    return found


@njit(types.boolean(DATA, types.int64, types.int64, types.int64), **INNER)
def _are_alike(data, begin, other, size):
    """Return whether two strings of *size* bytes are equal."""
    while size > WORD:  # from the end
        size -= WORD
        if word_at(data, begin + size) != word_at(data, other + size):
            return False
    before = size - WORD
    word = word_at(data, begin + before) ^ word_at(data, other + before)
    return word & LASTS[size] == 0


@njit(types.void(DATA, INTS, INTS, INTS, INTS), **OPTIONS)
def _first_alike(data, begins, sizes, table, found):
    for index in range(len(begins)):
        begin, size = begins[index], sizes[index]
        place = np.int64(_text_hash(data, begin, size)) & (len(table) - 1)
        first = table[place]
        while first >= 0 and not (
            sizes[first] == size and _are_alike(data, begin, begins[first], size)
        ):
            place = (place + 1) & (len(table) - 1)
            first = table[place]
        if first < 0:
            table[place] = first = index
        found[index] = first
