"""
What is asked of one everyday record: its topic, its properties, what its keys add.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from spark_checks.kernels.long_hashes import of_int, of_long
from spark_checks.kernels.memory import (
    DATA,
    INNER,
    INTS,
    MASKS,
    lowest_bit,
    word_at,
)
from spark_checks.kernels.splitting import separators
from spark_checks.kernels.strings import are_same, key_code, text_hash
from spark_checks.sources.everyday import SLOT_SHIFT, SLOTS
from spark_checks.sources.record_checksums import SAMPLE, TELLING
from spark_checks.sources.record_properties import END, NAME_END, word_of
from spark_checks.sources.spark_hash import SEED
from spark_checks.sources.string_hashes import ONES, TOPS
from spark_checks.sources.words import WORD
from spec.store.record_checksum import CHECKSUM_SIZE
from spec.wire.properties import Property

TABLE = types.int64[:, ::1]
TOPICS = types.Tuple((DATA, TABLE, types.uint32[:, ::1], INTS))
"""Text, places, prefixes and slots of KnownTopics."""
UNKNOWN = -1
"""The number of a topic that is not among those."""
_SPAN = types.UniTuple(types.int64, 2)
_MISSING = (np.int64(0), np.int64(0))
"""Where a property begins, and its size, of which there is none."""
_NOT_YET = np.int64(-1)
_UNIQUE, _KEYS, _TAGS, _SET_ASIDE = (
    word_of(str(name).encode())
    for name in (
        Property.UNIQ_KEY,
        Property.KEYS,
        Property.TAGS,
        Property.REAL_TOPIC,  # or what begins as that does
    )
)
_LETTERS = np.uint64(ord("x")) * ONES
"""Put behind the end of properties, where they are looked through by words."""
_TELLING = np.array([(place - CHECKSUM_SIZE, SAMPLE[place]) for place in TELLING])


@njit(types.boolean(DATA, types.int64), **INNER)
def has_checksum(data, end):
    """Return whether a record with this *end* seems to end with a checksum."""
    for index in range(len(_TELLING)):
        if data[end + _TELLING[index, 0]] != _TELLING[index, 1]:
            return False
    return True


@njit(types.int64(DATA, types.int64, types.int64, TOPICS), **INNER)
def topic_of(data, begin, size, topics):
    """Return the number of the topic that stands there, if it is known."""
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
def named_of(data, begin, end):  # noqa: C901, PLR0912 # in pieces it takes longer
    """Return whether properties are usual ones, and where key, keys and tags stand."""
    unique, keys, tags = _MISSING, _MISSING, _MISSING
    name, name_end, seen = begin, _NOT_YET, np.uint64(0)
    for at in range(begin, end, WORD):
        word = word_at(data, at)
        if end - at < WORD:
            word = word & MASKS[end - at] | ~MASKS[end - at] & _LETTERS
        seen |= word
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
            elif first == _SET_ASIDE:
                return False, unique, keys, tags
            name, name_end = place + 1, _NOT_YET
    return name == end and seen & TOPS == 0, unique, keys, tags


@njit(types.int64(types.uint64, types.uint32, types.int64, types.int64), **INNER)
def key_sum(code, prefix, size, offset):
    """Return what a key, whose text has the hash *code*, adds to the sum of keys."""
    if size == 0:
        return np.int64(0)
    known = key_code(code, prefix, size)
    return np.int64(of_int(known, of_long(offset, SEED)))


@njit(types.boolean(types.int64, TABLE), **INNER)
def within(offset, ranges):
    """Return whether an offset is behind the begin of a range, and not behind it."""
    for index in range(len(ranges)):
        if ranges[index, 0] < offset <= ranges[index, 1]:
            return True
    return False
