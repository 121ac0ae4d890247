"""
Properties of many records: the places of the values of some names.

The properties of a window are laid end to end, and numpy searches the two separator
bytes. A name is then searched in all records in one step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from columns.accelerated import Accelerated
from columns.gather import Bools, Ints
from columns.string_hashes import Codes, string_hashes
from columns.uint64_words import FIRSTS, WORD, Words

Bytes = npt.NDArray[np.uint8]
_MARGIN = bytes(WORD)
NAME_END, END = 1, 2
"""Bytes behind a name, and behind a value."""


class Values(NamedTuple):
    """Values of one property, one entry per record."""

    begins: Ints
    sizes: Ints
    """0 without a value."""
    codes: Codes
    """Java's hashes of the words."""
    are_words: Bools
    """Whether a value is ASCII without a blank."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Properties:
    """Values of some properties of records."""

    text: bytes
    """Text in which the places below count; none begins in its first eight bytes."""
    values: Mapping[bytes, Values]
    """Values by name. Of duplicate names in a record the last with a value counts
    (WIRE-PROPERTIES-013)."""
    broken: Ints
    """Indices of records whose properties are not all names and values."""
    is_regular: bool
    """Whether all properties of all records are one name and one value."""
    is_ascii: bool
    """Whether all text is ASCII."""

    def fallback_values(
        self, name: bytes, is_selected: Bools
    ) -> Iterator[tuple[int, bytes]]:
        """Yield record and value of the selected records whose value has no hash.

        Each is hashed by itself: it is not ASCII, or contains a blank.
        """
        values = self.values[name]
        for at in np.flatnonzero(is_selected & ~values.are_words).tolist():
            begin = values.begins[at]
            yield at, self.text[begin : begin + values.sizes[at]]


@Accelerated
def properties_of(
    data: bytes, begins: Ints, ends: Ints, names: Sequence[bytes]
) -> Properties:
    """Return the properties *names* between *begins* and *ends* in *data*."""
    view: Bytes = np.frombuffer(data, dtype=np.uint8)
    filled = np.flatnonzero(ends > begins)
    is_open = np.zeros(len(ends), dtype=np.bool_)
    is_open[filled] = view[ends[filled] - 1] != END
    places = zip(begins.tolist(), ends.tolist(), strict=True)
    parts = [data[begin:end] for begin, end in places]
    for index in np.flatnonzero(is_open).tolist():
        parts[index] += b"\x02"
    text = b"".join([_MARGIN, *parts, _MARGIN])
    edges = WORD + np.cumsum(ends - begins + is_open)
    return _split(text, edges, filled, names)


def _split(
    text: bytes, edges: Ints, filled: Ints, names: Sequence[bytes]
) -> Properties:
    """Return the properties of records that end at *edges* of *text*.

    Each of the *filled* records ends with a value separator.
    """
    view: Bytes = np.frombuffer(text, dtype=np.uint8)
    marks = np.flatnonzero(view[WORD:-WORD] <= END) + WORD
    kinds = view[marks]
    is_regular = len(marks) % 2 == 0 and bool(
        (kinds[::2] == NAME_END).all() and (kinds[1::2] == END).all()
    )
    end = marks[1::2] if is_regular else marks[kinds == END]
    begin = np.append(WORD, end[:-1] + 1)[: len(end)]
    pieces = np.searchsorted(end, edges[filled] - 1) + 1
    record = np.repeat(filled, np.diff(pieces, prepend=0))
    if is_regular:
        name_end, broken = marks[::2], np.zeros(0, dtype=np.int64)
    else:
        name_ends, zeros = marks[kinds == NAME_END], marks[kinds == 0]
        name_end = _next(name_ends, begin, end)
        nul = np.searchsorted(edges, zeros, side="right")
        broken = np.union1d(_unpaired(edges, name_ends, record), nul)
    words = _words(text, begin, name_end, end)
    values: dict[bytes, Values] = {}
    for name in names:
        index = np.flatnonzero(words == word_of(name))
        sizes = name_end[index] - begin[index]
        index = index[(sizes == len(name)) & (end[index] - name_end[index] > 1)]
        if len(name) > WORD:
            index = index[rows_at(text, begin[index], len(name)) == name]
        places = name_end[index] + 1, end[index] - name_end[index] - 1
        columns = no_values(len(edges))
        at = record[index]  # numpy keeps the last of several
        columns.begins[at], columns.sizes[at] = places
        columns.codes[at], columns.are_words[at] = string_hashes(text, places)
        values[name] = columns
    return Properties(
        text=text,
        values=values,
        broken=broken,
        is_regular=is_regular,
        is_ascii=text.isascii(),
    )


def no_values(count: int) -> Values:
    """Return the columns of *count* records without a value."""
    places = np.zeros((2, count), dtype=np.int64)
    return Values(
        begins=places[0],
        sizes=places[1],
        codes=np.zeros(count, dtype=np.uint32),
        are_words=np.zeros(count, dtype=np.bool_),
    )


def _words(text: bytes, begin: Ints, name_end: Ints, end: Ints) -> Words:
    """Return the first words of names, zero-padded."""
    words: Words = np.ndarray((len(text) - WORD + 1,), "<u8", text, 0, (1,))
    sizes = np.minimum(name_end - begin, WORD)
    return words[begin] & FIRSTS[np.where(name_end < end, sizes, 0)]


def word_of(name: bytes) -> np.uint64:
    """Return the first word of *name*."""
    return np.uint64(int.from_bytes(name[:WORD], "little"))


def _next(marks: Ints, begin: Ints, end: Ints) -> Ints:
    """Return the first of *marks* from each *begin*, or *end* without one."""
    at = np.searchsorted(marks, begin)
    found: Ints = np.append(marks, np.iinfo(np.int64).max)[at]
    return np.minimum(found, end)


def _unpaired(edges: Ints, names: Ints, record: Ints) -> Ints:
    """Return the records with different numbers of names and pieces."""
    count = len(edges)
    named = np.searchsorted(edges, names, side="right")
    pieces = np.bincount(record, minlength=count)
    return np.flatnonzero(np.bincount(named, minlength=count) != pieces)


def rows_at(text: bytes, begins: Ints, size: int) -> npt.NDArray[np.bytes_]:
    """Return the *size* bytes from each of *begins*, without trailing NULs."""
    if not len(begins):
        return np.zeros(0, dtype=f"S{size}")
    rows: npt.NDArray[np.bytes_] = np.ndarray(
        (len(text) - size + 1,), f"S{size}", text, 0, (1,)
    )
    return rows[begins]
