"""
Topics of many records: few names, and the number of each record's name.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from columns.accelerated import Accelerated
from columns.gather import FieldColumns, Ints, Places
from columns.uint64_words import folded, words_of

BUCKET_BITS = 16
"""Bits of a hash; the few topics of one bucket are compared one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Topics:
    """Topics of records."""

    names: list[bytes]
    """Distinct names."""
    numbers: Ints
    """Index into *names* for each record."""

    @property
    def texts(self) -> list[str]:
        """The names as text; several may have the same."""
        return [name.decode("utf-8", "replace") for name in self.names]

    def first(self, count: int) -> Topics:
        """Return the topics of the first *count* records."""
        return Topics(names=self.names, numbers=self.numbers[:count])


def topics_of(data: bytes, found: FieldColumns) -> Topics:
    """Return the topics of the records *found* in *data*."""
    places = found.places["topic"]
    firsts = first_alike(data, places)
    is_first = np.zeros(len(firsts), dtype=np.bool_)
    is_first[firsts] = True
    numbers = np.cumsum(is_first) - 1
    return Topics(
        names=[_text(data, places, at) for at in np.flatnonzero(is_first).tolist()],
        numbers=numbers[firsts],
    )


@Accelerated
def first_alike(data: bytes, texts: Places) -> Ints:
    """Return for each of *texts* the index of the first equal one.

    None of them begins in the first eight bytes of *data*.
    """
    sizes = texts[1]
    firsts = np.zeros(len(sizes), dtype=np.int64)
    firsts[sizes == 0] = np.argmax(sizes == 0) if len(sizes) else 0
    in_bucket = np.empty(1 << BUCKET_BITS, dtype=np.int64)
    for index, words in words_of(data, texts):
        columns = [sizes[index].view(np.uint64), *words]
        bucket = folded(columns) >> np.uint64(64 - BUCKET_BITS)
        order = np.arange(len(index))
        in_bucket[bucket[::-1]] = order[::-1]  # for duplicates numpy keeps the first
        first = in_bucket[bucket]
        if all((column == column[first]).all() for column in columns):
            firsts[index] = index[first]
        else:
            known: dict[bytes, int] = {}
            for at in index.tolist():
                firsts[at] = known.setdefault(_text(data, texts, at), at)
    return firsts


def _text(data: bytes, texts: Places, index: int) -> bytes:
    begin, size = int(texts[0][index]), int(texts[1][index])
    return bytes(data[begin : begin + size])
