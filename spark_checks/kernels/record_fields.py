"""
Fields of one record for the fast path: topic, properties and key sums.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from columns.record_properties import END, NAME_END, word_of
from columns.string_hashes import ONES, TOPS
from columns.uint64_words import WORD
from spark_checks.columns.record_damage import MARK_PLACES, SAMPLE
from spark_checks.kernels.long_hashes import hash_of_two
from spark_checks.kernels.memory import (
    DATA,
    INNER,
    INTS,
    MASKS,
    lowest_bit,
    word_at,
)
from spark_checks.kernels.split_properties import separators
from spark_checks.kernels.string_hashes import are_same, key_code, text_hash
from spark_checks.survey.fast_records import SLOT_SHIFT, SLOTS
from spec.store.record_checksum import CHECKSUM_SIZE
from spec.wire.message.properties import Property

TABLE = types.int64[:, ::1]
TOPICS = types.Tuple((DATA, TABLE, types.uint32[:, ::1], INTS))
"""Text, places, prefixes and slots of KnownTopics."""
UNKNOWN = -1
"""Number of a topic that is not in the table."""
_SPAN = types.UniTuple(types.int64, 2)
_MISSING = (np.int64(0), np.int64(0))
"""Begin and size of a missing property."""
_NOT_YET = np.int64(-1)
_UNIQUE, _KEYS, _TAGS, _REAL_TOPIC = (
    word_of(str(name).encode())
    for name in (
        Property.UNIQ_KEY,
        Property.KEYS,
        Property.TAGS,
        Property.REAL_TOPIC,  # or another name with the same first word
    )
)
_LETTERS = np.uint64(ord("x")) * ONES
"""Padding behind the end of properties, without separators."""
_MARK_PLACES = np.array(
    [(place - CHECKSUM_SIZE, SAMPLE[place]) for place in MARK_PLACES]
)


@njit(types.boolean(DATA, types.int64), **INNER)
def has_checksum(data, end):
    """Return whether a record with this *end* seems to end with a checksum."""
    for index in range(len(_MARK_PLACES)):
        if data[end + _MARK_PLACES[index, 0]] != _MARK_PLACES[index, 1]:
            return False
    return True


@njit(types.int64(DATA, types.int64, types.int64, TOPICS), **INNER)
def topic_of(data, begin, size, topics):
    """Return the number of the topic at *begin*, or UNKNOWN."""
    text, places, _, slots = topics
    slot = (text_hash(data, begin, size) >> np.uint64(SLOT_SHIFT)) & np.uint64(
        SLOTS - 1
    )
    while True:
        number = slots[slot]
        if number < 0:
            return UNKNOWN
        if places[1, number] == size and are_same(
            data, begin, text, places[0, number], size
        ):
            return number
        slot = (slot + np.uint64(1)) & np.uint64(SLOTS - 1)


@njit(
    types.Tuple((types.boolean, _SPAN, _SPAN, _SPAN))(DATA, types.int64, types.int64),
    **INNER,
)
def named_of(data, begin, end):  # noqa: C901, PLR0912 # one loop: calls cost time
    """Return whether properties are ordinary, and three places.

    The places are those of the values of UNIQ_KEY, KEYS and TAGS.
    """
    unique, keys, tags = _MISSING, _MISSING, _MISSING
    name, name_end, bits = begin, _NOT_YET, np.uint64(0)
    for at in range(begin, end, WORD):
        word = word_at(data, at)
        if end - at < WORD:
            word = word & MASKS[end - at] | ~MASKS[end - at] & _LETTERS
        bits |= word
        marks = separators(word)
        while marks:
            place = at + (lowest_bit(marks) >> 3)
            marks &= marks - np.uint64(1)
            byte = data[place]
            if byte == NAME_END and name_end < 0:
                name_end = place
                continue
            if byte != END or name_end < 0:
                return False, unique, keys, tags
            first = word_at(data, name) & MASKS[min(name_end - name, WORD)]
            value = (name_end + 1, place - name_end - 1)
            if first == _UNIQUE and name_end - name == WORD:
                if unique[0]:
                    return False, unique, keys, tags
                unique = value
            elif first == _KEYS:
                if keys[0]:
                    return False, unique, keys, tags
                keys = value
            elif first == _TAGS:
                if tags[0]:
                    return False, unique, keys, tags
                tags = value
            elif first == _REAL_TOPIC:
                return False, unique, keys, tags
            name, name_end = place + 1, _NOT_YET
    return name == end and bits & TOPS == 0, unique, keys, tags


@njit(types.int64(types.uint32, types.uint32, types.int64, types.int64), **INNER)
def key_sum(code, prefix, size, offset):
    """Return the share of a key in the sum of keys; *code* is the hash of its text."""
    if size == 0:
        return np.int64(0)
    return hash_of_two(offset, key_code(code, prefix, size))


@njit(types.boolean(types.int64, TABLE), **INNER)
def within(offset, ranges):
    """Return whether an offset lies in one of *ranges*."""
    for index in range(len(ranges)):
        if ranges[index, 0] <= offset < ranges[index, 1]:
            return True
    return False
