"""
The properties of many records at once: where each name and value is.

The properties of a window are laid end to end, and numpy looks for the two bytes that
separate them. So a name is looked for in all records in one step, and what is looked
for ten times is split once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spark_checks.sources.gather import Ints, Places

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
WORD = 8
"""Bytes of a word: names that differ mostly do so within them."""
_masks = np.array([(1 << 8 * size) - 1 for size in range(WORD + 1)], dtype=np.uint64)
_NAME_END, _END = 1, 2
"""The bytes behind a name, and behind a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Properties:
    """What stands between separators, in order; columns are equally long."""

    text: bytes
    """The properties of all records, end to end."""
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
    """What the name begins with; nothing where there is no value."""
    is_regular: bool
    """Whether every piece is one name and one value."""

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
        )

    def named(self, name: bytes) -> tuple[Ints, Places]:
        """Return which records have the property *name*, and where its value is.

        The first of a record counts, as it does for who reads from the left.
        """
        index = self.having(name)
        record = self.record[index]
        if len(record) > 1:
            is_first = np.concatenate([[True], record[1:] != record[:-1]])
            index, record = index[is_first], record[is_first]
        begins = self.name_end[index] + 1
        return record, (begins, self.end[index] - begins)


def properties_of(data: bytes, begins: Ints, ends: Ints) -> Properties:
    """Return the properties that stand between *begins* and *ends* in *data*."""
    places = zip(begins.tolist(), ends.tolist(), strict=True)
    text = b"".join([data[begin:end] for begin, end in places])
    view: Bytes = np.frombuffer(text, dtype=np.uint8)
    edges = np.concatenate([np.zeros(1, np.int64), np.cumsum(ends - begins)])
    is_edge = np.zeros(len(view) + 1, dtype=np.bool_)
    is_edge[edges] = True
    is_begin = is_edge.copy()
    is_begin[np.flatnonzero(view == _END) + 1] = True
    begin = np.flatnonzero(is_begin[:-1])
    filled = np.flatnonzero(ends > begins)
    record = filled[np.cumsum(is_edge[begin]) - 1]
    end = np.append(begin[1:], len(view))[: len(begin)]
    end = end - (view[end - 1] == _END)
    marks = np.flatnonzero(view == _NAME_END)
    is_regular = len(marks) == len(begin) and bool(
        ((begin <= marks) & (marks < end)).all()
    )
    if is_regular:
        name_end, broken = marks, np.zeros(0, dtype=np.int64)
    else:
        name_end = _next(marks, begin, end)
        broken = _unpaired(edges, marks, record)
    if b"\0" in text:
        nul = np.searchsorted(edges, np.flatnonzero(view == 0), side="right") - 1
        broken = np.union1d(broken, nul)
    return Properties(
        text=text,
        record=record,
        begin=begin,
        name_end=name_end,
        end=end,
        broken=broken,
        word=_words(text, begin, name_end, end),
        is_regular=is_regular,
    )


def _words(text: bytes, begin: Ints, name_end: Ints, end: Ints) -> Words:
    """Return what names begin with, shorter ones filled up with zeros."""
    words: Words = np.ndarray((len(text) + 1,), "<u8", text + bytes(WORD), 0, (1,))
    sizes = np.where(name_end < end, np.minimum(name_end - begin, WORD), 0)
    return words[begin] & _masks[sizes]


def word_of(name: bytes) -> np.uint64:
    """Return the word that *name* begins with."""
    return np.uint64(int.from_bytes(name[:WORD], "little"))


def _next(marks: Ints, begin: Ints, end: Ints) -> Ints:
    """Return the first of *marks* from each *begin* on, or the *end* if that is it."""
    at = np.searchsorted(marks, begin)
    found: Ints = np.append(marks, np.iinfo(np.int64).max)[at]
    return np.minimum(found, end)


def _unpaired(edges: Ints, marks: Ints, record: Ints) -> Ints:
    """Return which records have not as many names as separated pieces."""
    count = len(edges) - 1
    named = np.searchsorted(edges, marks, side="right") - 1
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


def bytes_at(text: bytes, begins: Ints, size: int) -> Bytes:
    """Return a row of *size* bytes for each of *begins*."""
    rows = rows_at(text, begins, size)
    return rows.view(np.uint8).reshape(len(begins), size)
