"""
What the records of a run say to queues and index: topic, tags code, hashes of keys.

Most messages of a program have the same properties with values of the same sizes. The
properties of one record are read plainly; those of others are of the same form if all
bytes around the values are the same, and no value holds a separator. What is of no
form that is known is read plainly, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from reference.core.store.hashing import index_hash
from reference.core.store.index import keys_of
from reference.core.store.property_forms import SIZE_MAX, Bytes, Form, Hashes, form_of
from reference.core.store.record_runs import Flags, Ints, Run, opaque_at
from reference.core.store.records import Found
from spec.integers import java_string_hash

_FORMS_MAX = 16
"""Forms of one size that are remembered."""
_TRIES = 4
"""New forms of one size that a run may bring."""
_WORTH_IT = 8
"""Records that a new form is made for."""
TOPIC_END = "#"
"""Stands between topic and key in what is hashed."""


class Words(NamedTuple):
    """What each record of a run says."""

    topic: Ints
    """Number of its topic; -1: the record has to be dispatched plainly."""
    tags_code: Ints
    stored_at_ms: Ints
    key_count: Ints
    key_hashes: Ints
    """Of all keys of all records, those of one record behind those of another."""


class Known:
    """Topics and forms that were met before."""

    def __init__(self) -> None:
        self.topics: list[str] = []
        """By number."""
        self.prefixes = np.zeros(0, np.uint32)
        """The hash of what stands before a key, by number of the topic."""
        self._numbers: dict[str, int] = {}
        self._forms: dict[int, list[Form]] = {}

    def number(self, topic: str) -> int:
        """Return the number of *topic*."""
        number = self._numbers.get(topic)
        if number is None:
            number = self._numbers[topic] = len(self.topics)
            self.topics.append(topic)
            prefix = java_string_hash(topic + TOPIC_END) & 0xFFFFFFFF
            self.prefixes = np.append(self.prefixes, np.uint32(prefix))
        return number

    def forms(self, size: int) -> list[Form]:
        """Return the forms of *size* bytes; more may be added."""
        forms = self._forms.setdefault(size, [])
        if len(forms) > _FORMS_MAX:
            forms.clear()
        return forms


def words_of(
    data: memoryview, run: Run, known: Known, find: Callable[[int], Found | None]
) -> Words:
    """Return what the records of *run*, which is in the file *data*, say.

    *find* reads the record number n plainly; None for one that dispatch must judge.
    """
    count = len(run.at)
    hashes = Hashes(count)
    words = Words(
        topic=np.full(count, -1, np.int64),
        tags_code=np.zeros(count, np.int64),
        stored_at_ms=run.head["stored_at_ms"].astype(np.int64),
        key_count=hashes.count,
        key_hashes=np.zeros(0, np.int64),
    )
    _find_topics(data, run, known, words.topic)
    left = ~run.is_usual | (run.properties_size > SIZE_MAX)
    sizes = np.where(left, 0, run.properties_size)
    for size in np.unique(sizes).tolist():
        if size:
            index = np.flatnonzero(sizes == size)
            text = opaque_at(data, run.properties_at[index], size).view(np.uint8)
            text = text.reshape(-1, size)
            left[_read_alike(text, index, known, words, hashes)] = True
    for one in np.flatnonzero(left).tolist():
        _read_plainly(one, find(one), known, words, hashes)
    return words._replace(key_hashes=hashes.in_order())


def _find_topics(data: memoryview, run: Run, known: Known, numbers: Ints) -> None:
    """Write the *numbers* of the topics of all usual records."""
    sizes = np.where(run.is_usual, run.topic_size, -1)
    for size in np.unique(sizes[run.is_usual]).tolist():
        index = np.flatnonzero(sizes == size)
        if size:
            topics = opaque_at(data, run.topic_at[index], size).tolist()
        else:
            topics = [b""] * len(index)
        number = {one: known.number(str(one, "utf-8", "replace")) for one in {*topics}}
        numbers[index] = [number[one] for one in topics]


def _read_alike(
    text: Bytes, index: Ints, known: Known, words: Words, hashes: Hashes
) -> Ints:
    """Read properties of one size that are of a form; return the records of others."""
    forms, tries, number = known.forms(text.shape[1]), 0, 0
    while len(index):
        if number == len(forms):
            if tries == _TRIES or len(index) < _WORTH_IT:
                break
            form = form_of(text[tries * len(index) // _TRIES].tobytes())
            tries += 1
            if form is None:
                continue
            forms.append(form)
        form, number = forms[number], number + 1
        fits: Flags = form.fits(text)
        if fits.any():
            of_form, inside = index[fits], text[fits]
            words.tags_code[of_form] = form.tags_codes(inside)
            prefixes = known.prefixes[words.topic[of_form]]
            hashes.add(of_form, form.key_hashes(inside, prefixes))
            index, text = index[~fits], text[~fits]
    return index


def _read_plainly(
    one: int, found: Found | None, known: Known, words: Words, hashes: Hashes
) -> None:
    if found is None:
        words.topic[one] = -1
        return
    words.topic[one] = known.number(found.topic)
    words.tags_code[one] = found.tags_code
    words.stored_at_ms[one] = found.stored_at_ms
    keys = keys_of(found)
    codes = [np.array([index_hash(found.topic, key)]) for key in keys]
    hashes.add(np.array([one]), codes)
