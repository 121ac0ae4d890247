"""
What a query asks of columns that a file's name answers: other files are not read.

The option ``where`` of a source says it: conditions, all of which must hold. The query
asks them again of every row, so a reader may read too much and never too little.

Spark 4.1 could hand over a query's conditions by itself (``pushFilters``). It then
keeps the reader with the DataFrame: one that was asked with conditions left those
files out when it was asked again without. So the sources do not take part in that.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pyspark.sql.datasource import (
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    LessThan,
    LessThanOrEqual,
    StringStartsWith,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The values of a column that may be wanted; all of them where nothing is said."""

    low: int | None = None
    """The smallest integer."""
    high: int | None = None
    """The largest integer."""
    values: frozenset[object] | None = None
    prefix: str = ""
    """What a text begins with."""

    @property
    def least(self) -> int | None:
        """The smallest integer that may be wanted; None if none is too small."""
        numbers = [v for v in self.values or () if isinstance(v, int)]
        bounds = [b for b in (self.low, min(numbers, default=None)) if b is not None]
        return max(bounds, default=None)

    @property
    def most(self) -> int | None:
        """The largest integer that may be wanted; None if none is too large."""
        numbers = [v for v in self.values or () if isinstance(v, int)]
        bounds = [b for b in (self.high, max(numbers, default=None)) if b is not None]
        return min(bounds, default=None)

    def may_lie(self, first: int, last: int) -> bool:
        """Return whether an integer from *first* to *last* may be wanted."""
        if self.low is not None and last < self.low:
            return False
        if self.high is not None and first > self.high:
            return False
        numbers = [v for v in self.values or () if isinstance(v, int)]
        return self.values is None or any(first <= v <= last for v in numbers)

    def may_be(self, text: str) -> bool:
        """Return whether *text* may be wanted."""
        named = self.values is None or text in self.values
        return named and text.startswith(self.prefix)

    def at_least(self, low: int) -> Wanted:
        """Return this without integers below *low*."""
        return replace(self, low=low if self.low is None else max(low, self.low))

    def at_most(self, high: int) -> Wanted:
        """Return this without integers above *high*."""
        return replace(self, high=high if self.high is None else min(high, self.high))

    def one_of(self, values: Iterable[object]) -> Wanted:
        """Return this with only those of *values* that it has."""
        found = frozenset(values)
        return replace(
            self, values=found if self.values is None else found & self.values
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """What is wanted of every column."""

    columns: Mapping[str, Wanted] = field(default_factory=dict)

    def of(self, column: str) -> Wanted:
        """Return what is wanted of *column*."""
        return self.columns.get(column, Wanted())


_OPERATORS: Mapping[str, Callable[[tuple[str, ...], Any], Filter]] = {
    "=": EqualTo,
    "in": lambda column, values: In(column, tuple(values)),
    ">": GreaterThan,
    ">=": GreaterThanOrEqual,
    "<": LessThan,
    "<=": LessThanOrEqual,
    "begins": StringStartsWith,
}


def conditions_in(options: Mapping[str, str]) -> Conditions:
    """Return what the option ``where`` says: ``[["offset", ">=", 100], ...]``."""
    said = json.loads(options.get("where", "[]"))
    return conditions_of(_OPERATORS[how]((name,), value) for name, how, value in said)


def conditions_of(filters: Iterable[Filter]) -> Conditions:
    """Return what *filters*, all of which must hold, want of each column."""
    found: dict[str, Wanted] = {}
    for condition in filters:
        name = ".".join(getattr(condition, "attribute", ()))
        if name:
            found[name] = _narrowed(found.get(name, Wanted()), condition)
    return Conditions(columns=found)


def _narrowed(wanted: Wanted, condition: Filter) -> Wanted:
    """Return what is left of *wanted* where *condition* holds too."""
    if isinstance(condition, In):
        return wanted.one_of(condition.value)
    value = getattr(condition, "value", None)
    if isinstance(condition, EqualTo):
        return wanted.one_of([value])
    if isinstance(condition, StringStartsWith) and not wanted.prefix:
        return replace(wanted, prefix=condition.value)
    narrow = _COMPARISONS.get(type(condition))
    return narrow(wanted, value) if narrow and isinstance(value, int) else wanted


_COMPARISONS: Mapping[type[Filter], Callable[[Wanted, int], Wanted]] = {
    GreaterThan: lambda wanted, value: wanted.at_least(value + 1),
    GreaterThanOrEqual: Wanted.at_least,
    LessThan: lambda wanted, value: wanted.at_most(value - 1),
    LessThanOrEqual: Wanted.at_most,
}
