"""
Conditions on columns that exclude whole files.

The option ``where`` of a source holds conditions, all of which must hold, such as
``[["offset", ">=", 100]]``. The query
applies them again, so a reader may read too much and must never read too little.

Spark 4.1 can pass a query's conditions by itself (``pushFilters``). It then keeps the
reader with the DataFrame, and later queries without conditions miss rows. The sources
do not implement it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
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

    def narrowed(self, operator: str, value: Any) -> ColumnBounds:
        """Return these bounds and the condition *operator* *value*.

        An order excludes nothing if its value is not an integer.
        """
        match operator:
            case "=":
                return self.narrowed("in", [value])
            case "in":
                named = frozenset(value)
                values = named if self.values is None else named & self.values
                numbers = _integers(values)
                least = self.narrowed(">=", min(numbers, default=None))
                most = least.narrowed("<=", max(numbers, default=None))
                return replace(most, values=values)
            case "begins":
                return replace(self, prefix=self.prefix or value)
            case "<" | "<=" | ">" | ">=" if not isinstance(value, int):
                return self
            case ">" | ">=":
                return replace(self, least=max(self.least, value + (operator == ">")))
            case "<" | "<=":
                return replace(self, most=min(self.most, value - (operator == "<")))
        raise ValueError(f"{operator} is not an operator of a condition")


def _integers(values: Iterable[object]) -> list[int]:
    return [value for value in values if isinstance(value, int)]


Condition = tuple[str, str, Any]
"""Column, operator and value."""


class Conditions(dict[str, ColumnBounds]):
    """Bounds that conditions set together, by column; all values by default."""

    def __init__(self, conditions: Iterable[Condition] = ()) -> None:
        super().__init__()
        for name, operator, value in conditions:
            self[name] = self[name].narrowed(operator, value)

    def __missing__(self, name: str) -> ColumnBounds:
        """Return bounds that select all values."""
        return ColumnBounds()
