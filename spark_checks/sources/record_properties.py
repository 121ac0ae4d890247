"""
The properties of many records at once: where each name and value is.

The properties of a window are laid end to end, and numpy looks for the two bytes that
separate them. So a name is looked for in all records in one step, and what is looked
for ten times is split once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spark_checks.sources.gather import Ints, Places
from spark_checks.sources.twofold import Twofold
from spark_checks.sources.words import WORD, Words

Bytes = npt.NDArray[np.uint8]
_masks = np.array([(1 << 8 * size) - 1 for size in range(WORD + 1)], dtype=np.uint64)
_MARGIN = bytes(WORD)
MISSING = -1
"""The size of a property that a record has not."""
NAME_END, END = 1, 2
"""The bytes behind a name, and behind a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Properties:
    """What stands between separators, in order; columns are equally long."""

    text: bytes
    """What the places below count in; nothing begins in its first eight bytes."""
    record: Ints
    """Index of the record whose it is."""
    begin: Ints
    """Where the name begins in *text*."""
    name_end: Ints
    """Where the name ends, as does the whole where there is no value."""
    end: Ints
    """Where the value ends."""
    broken: Ints
    """The indices of records whose properties are not names and values."""
    word: Words
    """The eight bytes that the name begins with; none where there is no value."""
    is_regular: bool
    """Whether every piece is one name and one value."""
    is_ascii: bool
    """Whether all of it is; what was taken from another may say no for its sake."""

    def having(self, name: bytes) -> Ints:
        """Return the indices of the pieces that have that *name*, and a value."""
        size = len(name)
        found: Ints = np.flatnonzero(self.word == word_of(name))
        found = found[self.name_end[found] - self.begin[found] == size]
        if size > WORD:
            found = found[rows_at(self.text, self.begin[found], size) == name]
        return found

    def only(self, records: Ints) -> Properties:
        """Return the properties of some *records*, in order, which count from 0 on."""
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
        """Return which records have the property *name*, and where its value is.

        The first of a record counts, as it does for who reads from the left.
        """
        return places_named(self, name)

    def is_utf8(self) -> bool:
        """Return whether all that stands between separators can be read as text."""
        if self.is_ascii:
            return True
        places = zip(self.begin.tolist(), self.end.tolist(), strict=True)
        try:
            b"\x02".join(self.text[begin:end] for begin, end in places).decode()
        except UnicodeDecodeError:
            return False
        return True


@Twofold
def places_named(split: Properties, name: bytes) -> tuple[Ints, Places]:
    """Return which records have the property *name*, and where its value is.

    The first of a record counts.
    """
    index = split.having(name)
    record = split.record[index]
    if len(record) > 1:
        is_first = np.concatenate([[True], record[1:] != record[:-1]])
        index, record = index[is_first], record[is_first]
    begins = split.name_end[index] + 1
    return record, (begins, split.end[index] - begins)


@Twofold
def places_once(split: Properties, names: Sequence[bytes], count: int) -> Places | None:
    """Return where values of the properties *names* of *count* records are.

    Both are tables with a row for each name. What a record has not is of a negative
    size. None, if a record has one of them twice.
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


@Twofold
def properties_of(data: bytes, begins: Ints, ends: Ints) -> Properties:
    """Return the properties that stand between *begins* and *ends* in *data*."""
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

    Each of those that are *filled* ends with what ends a value.
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
    """Return what names begin with, shorter ones filled up with zeros."""
    words: Words = np.ndarray((len(text) - WORD + 1,), "<u8", text, 0, (1,))
    sizes = np.minimum(name_end - begin, WORD)
    return words[begin] & _masks[np.where(name_end < end, sizes, 0)]


def word_of(name: bytes) -> np.uint64:
    """Return the word that *name* begins with."""
    return np.uint64(int.from_bytes(name[:WORD], "little"))


def _next(marks: Ints, begin: Ints, end: Ints) -> Ints:
    """Return the first of *marks* from each *begin* on, or the *end* if that is it."""
    at = np.searchsorted(marks, begin)
    found: Ints = np.append(marks, np.iinfo(np.int64).max)[at]
    return np.minimum(found, end)


def _unpaired(edges: Ints, names: Ints, record: Ints) -> Ints:
    """Return which records have not as many names as separated pieces."""
    count = len(edges)
    named = np.searchsorted(edges, names, side="right")
    pieces = np.bincount(record, minlength=count)
    return np.flatnonzero(np.bincount(named, minlength=count) != pieces)


def rows_at(text: bytes, begins: Ints, size: int) -> npt.NDArray[np.bytes_]:
    """Return the *size* bytes from each of *begins* on, trailing NULs left out."""
    if not len(begins):
        return np.zeros(0, dtype=f"S{size}")
    rows: npt.NDArray[np.bytes_] = np.ndarray(
        (len(text) - size + 1,), f"S{size}", text, 0, (1,)
    )
    return rows[begins]
