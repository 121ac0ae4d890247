"""
The topics of many records: few names, and which of them each record has.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spark_checks.sources.gather import Gathered, Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class Topics:
    """The topics of records."""

    names: list[bytes]
    """Each of them once."""
    numbers: Ints
    """Which of the names each record has."""


def topics_of(data: bytes, found: Gathered) -> Topics:
    """Return the topics of the records *found* in *data*."""
    begins, sizes = found.places["topic"]
    numbers = _Numbers()
    places = zip(begins.tolist(), (begins + sizes).tolist(), strict=True)
    each = [numbers[data[begin:end]] for begin, end in places]
    return Topics(names=list(numbers), numbers=np.array(each, dtype=np.int64))


class _Numbers(dict[bytes, int]):
    """Numbers what it is asked for, in the order of asking."""

    def __missing__(self, name: bytes) -> int:
        self[name] = number = len(self)
        return number
