"""
Conditions on columns that exclude whole files.

The option ``where`` of a source holds conditions, all of which must hold. The query
applies them again, so a reader may read too much and must never read too little.

Spark 4.1 can pass a query's conditions by itself (``pushFilters``). It then keeps the
reader with the DataFrame, and later queries without conditions miss rows. The sources
do not implement it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from spec.integers import INT64_MAX, INT64_MIN


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnBounds:
    """Values of a column that conditions select; all by default."""

    least: int = INT64_MIN
    """Smallest integer."""
    most: int = INT64_MAX
    """Largest integer."""
    values: frozenset[object] | None = None
    prefix: str = ""
    """Prefix of a text."""

    def may_overlap(self, first: int, last: int) -> bool:
        """Return whether an integer from *first* to *last* is selected."""
        numbers = _integers(self.values or ())
        is_named = self.values is None or any(first <= n <= last for n in numbers)
        return is_named and first <= self.most and last >= self.least

    def may_equal(self, text: str) -> bool:
        """Return whether *text* is selected."""
        named = self.values is None or text in self.values
        return named and text.startswith(self.prefix)

    def at_least(self, low: int) -> ColumnBounds:
        """Return these bounds without integers below *low*."""
        return replace(self, least=max(low, self.least))

    def at_most(self, high: int) -> ColumnBounds:
        """Return these bounds without integers above *high*."""
        return replace(self, most=min(high, self.most))

    def one_of(self, values: Iterable[object]) -> ColumnBounds:
        """Return these bounds restricted to *values*."""
        found = frozenset(values)
        found = found if self.values is None else found & self.values
        numbers = _integers(found)
        least, most = min(numbers, default=INT64_MIN), max(numbers, default=INT64_MAX)
        return replace(self, values=found).at_least(least).at_most(most)


def _integers(values: Iterable[object]) -> list[int]:
    return [value for value in values if isinstance(value, int)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """Bounds of every column."""

    columns: Mapping[str, ColumnBounds] = field(default_factory=dict)

    def of(self, column: str) -> ColumnBounds:
        """Return the bounds of *column*."""
        return self.columns.get(column, ColumnBounds())


Condition = tuple[str, str, Any]
"""Column, operator and value."""


def conditions_in(options: Mapping[str, str]) -> Conditions:
    """Return the option ``where`` as conditions: ``[["offset", ">=", 100]]``."""
    return conditions_of(json.loads(options.get("where", "[]")))


def conditions_of(conditions: Iterable[Condition]) -> Conditions:
    """Return the bounds that *conditions* set together."""
    found: dict[str, ColumnBounds] = {}
    for name, operator, value in conditions:
        narrow = _OPERATORS[operator]
        found[name] = narrow(found.get(name, ColumnBounds()), value)
    return Conditions(columns=found)


def _by_integer(
    narrow: Callable[[ColumnBounds, int], ColumnBounds],
) -> Callable[[ColumnBounds, Any], ColumnBounds]:
    """Return *narrow* for integers; other values exclude nothing."""
    return lambda bounds, value: (
        narrow(bounds, value) if isinstance(value, int) else bounds
    )


_OPERATORS: Mapping[str, Callable[[ColumnBounds, Any], ColumnBounds]] = {
    "=": lambda bounds, value: bounds.one_of([value]),
    "in": ColumnBounds.one_of,
    ">": _by_integer(lambda bounds, value: bounds.at_least(value + 1)),
    ">=": _by_integer(ColumnBounds.at_least),
    "<": _by_integer(lambda bounds, value: bounds.at_most(value - 1)),
    "<=": _by_integer(ColumnBounds.at_most),
    "begins": lambda bounds, value: replace(bounds, prefix=bounds.prefix or value),
}
