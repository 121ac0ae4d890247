"""
Tables of numbers, and their rows by a key, as joins and windows of Spark take them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from columns.gather import Bools, Ints
from spec.integers import INT64_MAX, INT64_MIN

NOTHING = -1
"""Hash, queue id or number of a missing or invalid value."""
NO_ROW = -1
"""Index of a row that does not exist."""
NEVER = INT64_MAX
"""Offset that is later than all others."""


_Narrow = tuple[int | None, int, npt.NDArray[np.unsignedinteger]]
"""First number if the others are steps, the least of them, and all above the least."""


class Table(dict[str, Ints]):
    """Equally long columns by name; a table without rows has any column."""

    def __missing__(self, name: str) -> Ints:
        """Return an empty column."""
        if any(map(len, self.values())):
            raise KeyError(name)
        return np.zeros(0, dtype=np.int64)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the table as it is sent: a third of its size, with narrow columns."""
        return _widened, ({name: _narrowed(one) for name, one in self.items()},)

    def where(self, which: Ints | Bools) -> Table:
        """Return some rows."""
        if which.dtype == np.bool_:
            which = np.flatnonzero(which)
        return Table({name: column[which] for name, column in self.items()})

    def select(self, *names: str) -> Table:
        """Return some columns."""
        return Table({name: self[name] for name in names})

    def with_columns(self, **columns: Ints) -> Table:
        """Return the table with more *columns*."""
        return Table({**self, **columns})


def _narrowed(column: Ints) -> _Narrow:
    """Return *column* as it is sent: its numbers, or its steps if they are narrower."""
    least, numbers = _above_least(column)
    if len(column) > 1:
        least_step, steps = _above_least(np.diff(column))  # modulo 2**64, as sums are
        if steps.itemsize < numbers.itemsize:
            return int(column[0]), least_step, steps
    return None, least, numbers


def _above_least(column: Ints) -> tuple[int, npt.NDArray[np.unsignedinteger]]:
    """Return the least number of *column*, and how much each number is above it."""
    if not len(column):
        return 0, np.zeros(0, dtype=np.uint8)
    least, most = int(column.min()), int(column.max())
    return least, (column - least).astype(np.min_scalar_type(most - least))


def _widened(columns: Mapping[str, _Narrow]) -> Table:
    """Return the table of columns that :func:`_narrowed` returned."""
    return Table({name: _column_of(*one) for name, one in columns.items()})


def _column_of(
    first: int | None, least: int, numbers: npt.NDArray[np.unsignedinteger]
) -> Ints:
    wide = numbers.astype(np.int64)
    wide += least
    if first is None:
        return wide
    found = np.empty(len(wide) + 1, dtype=np.int64)
    found[0], found[1:] = first, wide
    return np.cumsum(found, out=found)


def joined(tables: Sequence[Table]) -> Table:
    """Return the rows of *tables*, in their order."""
    if len(tables) == 1:
        return tables[0]
    names = tables[0] if tables else ()
    return Table({name: np.concatenate([t[name] for t in tables]) for name in names})


class ByKey:
    """Rows in the order of their *keys*, and of their *offsets* where keys are equal.

    A row is an index of the given columns.
    """

    def __init__(self, keys: Ints, offsets: Ints) -> None:
        self._order = np.argsort(keys)  # a third of the time of lexsort
        self._keys = keys[self._order]
        if (self._keys[1:] == self._keys[:-1]).any():
            self._order = np.lexsort((offsets, keys))

    def ranks(self) -> Ints:
        """Return the rank of each row among those with its key, from 1."""
        count = len(self._keys)
        is_first = np.ones(count, dtype=np.bool_)
        is_first[1:] = self._keys[1:] != self._keys[:-1]
        places = np.arange(count)
        first = np.maximum.accumulate(np.where(is_first, places, 0))
        found = np.empty(count, dtype=np.int64)
        found[self._order] = places - first + 1
        return found

    def counts(self, keys: Ints) -> Ints:
        """Return the number of rows with each of *keys*."""
        return self._begins(keys, "right") - self._begins(keys)

    def rows(self, keys: Ints, ranks: Ints | int = 1) -> Ints:
        """Return the row of each rank among those with each of *keys*, or NO_ROW."""
        if not len(self._order):
            return np.full(len(keys), NO_ROW)
        at = self._begins(keys) + ranks - 1
        near = np.minimum(at, len(self._order) - 1)
        is_there = (at == near) & (self._keys[near] == keys)
        return np.where(is_there, self._order[near], NO_ROW)

    def _begins(self, keys: Ints, side: Literal["left", "right"] = "left") -> Ints:
        ascending = np.argsort(keys)  # ordered searches hit the cache
        found = np.empty(len(keys), dtype=np.int64)
        found[ascending] = np.searchsorted(self._keys, keys[ascending], side)
        return found


def later_offsets(
    keys: Ints, offsets: Ints, other_keys: Ints, other_offsets: Ints
) -> Ints:
    """Return the first offset behind each row's among the others of its key, or NEVER.

    An other at the offset of a row is not behind it.
    """
    count = len(other_keys)
    every_key = np.concatenate([other_keys, keys])
    every_offset = np.concatenate([other_offsets, offsets])
    order = np.lexsort((every_offset, every_key))  # stable: others first
    last = len(order) - 1
    places = np.where(order < count, np.arange(len(order)), last)
    following = order[np.minimum.accumulate(places[::-1])[::-1]]
    is_later = (following < count) & (every_key[following] == every_key[order])
    found = np.empty(len(order), dtype=np.int64)
    found[order] = np.where(is_later, every_offset[following], NEVER)
    return found[count:]


def at_rows(column: Ints, rows: Ints, otherwise: int) -> Ints:
    """Return the value of *column* at each of *rows*, *otherwise* at NO_ROW."""
    return np.append(column, otherwise)[rows]


def numbers_of(numbers: Mapping[int, int], keys: Ints, otherwise: int) -> Ints:
    """Return the number of each of *keys*, *otherwise* without one.

    A number beyond 64 bits is the nearest within, because a file may hold any.
    """
    found = np.full(len(keys), otherwise)
    for key, number in numbers.items():
        found[keys == key] = max(min(number, INT64_MAX), INT64_MIN)
    return found
