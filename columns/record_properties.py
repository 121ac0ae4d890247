"""
Properties of many records: the place of each name and value.

The properties of a window are laid end to end, and numpy searches the two separator
bytes. A name is then searched in all records in one step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from columns.accelerated import Accelerated
from columns.gather import Ints, Places
from columns.uint64_words import WORD, Words

Bytes = npt.NDArray[np.uint8]
_masks = np.array([(1 << 8 * size) - 1 for size in range(WORD + 1)], dtype=np.uint64)
_MARGIN = bytes(WORD)
MISSING = -1
"""Size of a missing property."""
NAME_END, END = 1, 2
"""Bytes behind a name, and behind a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Properties:
    """Text between separators, in order; columns are equally long."""

    text: bytes
    """Text in which the places below count; none begins in its first eight bytes."""
    record: Ints
    """Index of the property's record."""
    begin: Ints
    """Begin of the name in *text*."""
    name_end: Ints
    """End of the name, or of the whole piece without a value."""
    end: Ints
    """End of the value."""
    broken: Ints
    """Indices of records whose properties are not all names and values."""
    word: Words
    """First eight bytes of the name; zero without a value."""
    is_regular: bool
    """Whether every piece is one name and one value."""
    is_ascii: bool
    """Whether all text is ASCII; a subset may inherit False."""

    def having(self, name: bytes) -> Ints:
        """Return the indices of the pieces with that *name* and a value.

        A pair with an empty value is skipped, as by Java (WIRE-PROPERTIES-004).
        """
        size = len(name)
        found: Ints = np.flatnonzero(self.word == word_of(name))
        has_value = self.end[found] - self.name_end[found] > 1
        found = found[has_value & (self.name_end[found] - self.begin[found] == size)]
        if size > WORD:
            found = found[rows_at(self.text, self.begin[found], size) == name]
        return found

    def only(self, records: Ints) -> Properties:
        """Return the properties of some ordered *records*, renumbered from 0."""
        count = int(self.record[-1]) + 1 if len(self.record) else 0
        number = np.full(max(count, int(records[-1]) + 1), -1)
        number[records] = np.arange(len(records))
        kept = np.flatnonzero(number[self.record] >= 0)
        broken = number[self.broken]
        return Properties(
            text=self.text,
            record=number[self.record[kept]],
            begin=self.begin[kept],
            name_end=self.name_end[kept],
            end=self.end[kept],
            broken=broken[broken >= 0],
            word=self.word[kept],
            is_regular=self.is_regular,
            is_ascii=self.is_ascii,
        )

    def named(self, name: bytes) -> tuple[Ints, Places]:
        """Return the records with the property *name*, and the places of its value.

        Of duplicate names in a record the last counts (WIRE-PROPERTIES-013).
        """
        return places_named(self, name)

    def is_utf8(self) -> bool:
        """Return whether all text between separators is UTF-8."""
        if self.is_ascii:
            return True
        places = zip(self.begin.tolist(), self.end.tolist(), strict=True)
        try:
            b"\x02".join(self.text[begin:end] for begin, end in places).decode()
        except UnicodeDecodeError:
            return False
        return True


def places_named(split: Properties, name: bytes) -> tuple[Ints, Places]:
    """Return the records with the property *name*, and the places of its value.

    Of duplicate names in a record the last counts (WIRE-PROPERTIES-013).
    """
    index = split.having(name)
    record = split.record[index]
    if len(record) > 1:
        is_last = np.concatenate([record[1:] != record[:-1], [True]])
        index, record = index[is_last], record[is_last]
    begins = split.name_end[index] + 1
    return record, (begins, split.end[index] - begins)


@Accelerated
def places_once(split: Properties, names: Sequence[bytes], count: int) -> Places | None:
    """Return begins and sizes of the values of *names*, a row for each name.

    A missing property has a negative size. Returns None if a record has a name twice.
    """
    begins = np.zeros((len(names), count), dtype=np.int64)
    sizes = np.full((len(names), count), MISSING)
    for row, name in enumerate(names):
        index = split.having(name)
        record = split.record[index]
        if (record[1:] == record[:-1]).any():
            return None
        begins[row, record] = split.name_end[index] + 1
        sizes[row, record] = split.end[index] - begins[row, record]
    return begins, sizes


@Accelerated
def properties_of(data: bytes, begins: Ints, ends: Ints) -> Properties:
    """Return the properties between *begins* and *ends* in *data*."""
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
    return _split(text, edges, filled)


def _split(text: bytes, edges: Ints, filled: Ints) -> Properties:
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
        names, zeros = marks[kinds == NAME_END], marks[kinds == 0]
        name_end = _next(names, begin, end)
        nul = np.searchsorted(edges, zeros, side="right")
        broken = np.union1d(_unpaired(edges, names, record), nul)
    return Properties(
        text=text,
        record=record,
        begin=begin,
        name_end=name_end,
        end=end,
        broken=broken,
        word=_words(text, begin, name_end, end),
        is_regular=is_regular,
        is_ascii=text.isascii(),
    )


def _words(text: bytes, begin: Ints, name_end: Ints, end: Ints) -> Words:
    """Return the first words of names, zero-padded."""
    words: Words = np.ndarray((len(text) - WORD + 1,), "<u8", text, 0, (1,))
    sizes = np.minimum(name_end - begin, WORD)
    return words[begin] & _masks[np.where(name_end < end, sizes, 0)]


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
