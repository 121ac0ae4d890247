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

from collections.abc import Iterable, Iterator
from typing import Any

from spec.integers import INT64_MAX, INT64_MIN

Condition = tuple[str, str, Any]
"""Column, operator and value."""
_FROM_LEAST = ("=", "in", ">", ">=")
_TO_MOST = ("=", "in", "<", "<=")


class Conditions:
    """Conditions on columns, all of which must hold."""

    def __init__(self, conditions: Iterable[Condition] = ()) -> None:
        self._conditions = list(conditions)
        for _, operator, _ in self._conditions:
            if operator not in (*_FROM_LEAST, *_TO_MOST, "begins"):
                raise ValueError(f"{operator} is not an operator of a condition")

    def _of(self, column: str) -> Iterator[tuple[str, list[Any]]]:
        """Yield operator and values of each condition on *column*."""
        for name, operator, value in self._conditions:
            if name == column:
                yield operator, list(value) if operator == "in" else [value]

    def bounds(self, column: str) -> tuple[int, int]:
        """Return the smallest and the largest integer that *column* may have.

        A condition excludes nothing if its value is not an integer.
        """
        least, most = INT64_MIN, INT64_MAX
        for operator, values in self._of(column):
            numbers = [value for value in values if isinstance(value, int)]
            if numbers and operator in _FROM_LEAST:
                least = max(least, min(numbers) + (operator == ">"))
            if numbers and operator in _TO_MOST:
                most = min(most, max(numbers) - (operator == "<"))
        return least, most

    def may_overlap(self, column: str, first: int, last: int) -> bool:
        """Return whether an integer from *first* to *last* is selected."""
        least, most = self.bounds(column)
        named = [some for operator, some in self._of(column) if operator == "in"]
        is_named = all(any(first <= n <= last for n in some) for some in named)
        return is_named and first <= most and last >= least

    def may_equal(self, column: str, text: str) -> bool:
        """Return whether *text* is selected."""
        return all(
            text.startswith(values[0]) if operator == "begins" else text in values
            for operator, values in self._of(column)
            if operator in ("=", "in", "begins")
        )
