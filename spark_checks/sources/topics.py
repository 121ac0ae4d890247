"""
The topics of many records: few names, and which of them each record has.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spark_checks.sources.gather import Gathered, Ints, Places
from spark_checks.sources.twofold import Twofold
from spark_checks.sources.words import folded, words_of

BUCKET_BITS = 16
"""Of a hash: topics of one bucket, of which there are few, are compared one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Topics:
    """The topics of records."""

    names: list[bytes]
    """Each of them once."""
    numbers: Ints
    """Which of the names each record has."""


def topics_of(data: bytes, found: Gathered) -> Topics:
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


@Twofold
def first_alike(data: bytes, texts: Places) -> Ints:
    """Return for each of *texts* the index of the first that is the same.

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
        in_bucket[bucket[::-1]] = order[::-1]  # of several, the first one stays
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
    return data[begin : begin + size]
