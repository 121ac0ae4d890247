"""
Kernels that hash strings; see `string_hashes`, `uint64_words` and `topics` of columns.

A string is read in eight-byte words from its end. No string begins in the first eight
bytes of its data.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from columns.gather import Ints, Places
from columns.string_hashes import BLANKS, OF_WORD, STEPS, TOPS
from columns.string_hashes import zero_bytes as of_column
from columns.topics import first_alike as accelerated
from columns.uint64_words import FACTOR, LASTS, SHIFT, WORD
from spark_checks.kernels.memory import (
    DATA,
    INNER,
    INTS,
    OPTIONS,
    of_each,
    word_at,
)

_TABLE_SIZE = 1 << 12
_PROBES_MAX = 64
"""Slots to probe before the fallback is called."""
zero_bytes = njit(types.uint64(types.uint64), **INNER)(of_column)
_LOWS = np.array([lows for lows, _, _ in STEPS])
_BITS = np.array([bits for _, bits, _ in STEPS])
_WEIGHTS = np.array([weight for _, _, weight in STEPS])


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
        other_bits |= word & TOPS | zero_bytes(word ^ BLANKS)
        for step in range(len(_LOWS)):
            lows, bits = _LOWS[step], _BITS[step]
            word = (word & lows) * _WEIGHTS[step] + ((word >> bits) & lows)
        code = code * OF_WORD + word
        at += WORD
    return np.uint32(code), other_bits == 0


def text_hashes(text: bytes, values: Places) -> Ints:
    """Return a hash of each of *values* of *text*, not comparable elsewhere."""
    found: Ints = of_each(_text_hashes, text, values, np.int64)
    return found


@njit(types.uint64(DATA, types.int64, types.int64), **INNER)
def _text_hash(data, begin, size):
    """Return the hash of a text of at least one byte."""
    code = np.uint64(size) * FACTOR
    code ^= code >> SHIFT
    end = begin + size
    at = end - (size + WORD - 1) // WORD * WORD
    while at < end:
        code = (code ^ _word_before(data, begin, at)) * FACTOR
        code ^= code >> SHIFT
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
    begins, sizes = map(np.ascontiguousarray, texts)
    firsts = np.empty(len(begins), dtype=np.int64)
    known = np.full(_TABLE_SIZE, -1, dtype=np.int64)
    view = np.frombuffer(data, dtype=np.uint8)
    if _first_alike(view, begins, sizes, known, firsts):
        return firsts
    return accelerated.fallback(data, texts)


@njit(types.boolean(DATA, types.int64, DATA, types.int64, types.int64), **INNER)
def _are_same(data, begin, others, other, size):
    """Return whether *size* bytes are equal at both places."""
    at = size
    while at > 0:
        at -= WORD
        one = _word_before(data, begin, begin + at)
        if one != _word_before(others, other, other + at):
            return False
    return True


@njit(types.boolean(DATA, INTS, INTS, INTS, INTS), **OPTIONS)
def _first_alike(data, begins, sizes, known, firsts):
    last = np.uint64(len(known) - 1)
    for index in range(len(begins)):
        begin, size = begins[index], sizes[index]
        place = _text_hash(data, begin, size) >> np.uint64(32)
        is_placed = False
        for probe in range(_PROBES_MAX):
            slot = (place + np.uint64(probe)) & last
            first = known[slot]
            is_placed = first < 0
            if is_placed:
                known[slot] = index
                first = index
            elif sizes[first] == size:
                is_placed = _are_same(data, begin, data, begins[first], size)
            if is_placed:
                firsts[index] = first
                break
        if not is_placed:
            return False
    return True
