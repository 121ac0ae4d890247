"""Hints of a failure: known mistakes of its clause that the found value shows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TypeAlias

from spec.clause import Clause

SIGN_BIT = 1 << 31
THOUSAND_LEAST, THOUSAND_MOST = 900, 1100

Measure: TypeAlias = Callable[[int, int], bool]
"""Returns whether a found number differs in one way from the expected one."""
MEASURES: Mapping[str, Measure] = {
    "the sign bit is set": lambda found, expected: found == expected | SIGN_BIT,
    "four too many": lambda found, expected: found == expected + 4,
    "reads backwards": lambda found, expected: found == _backwards(expected),
    "is the wanted value modulo 256": lambda found, expected: found == expected % 256,
    "about 1000 times too large": lambda found, expected: (
        THOUSAND_LEAST * expected <= found <= THOUSAND_MOST * expected
    ),
}
"""By the form of the found value, as a clause names it."""


def hints_of(
    clause: Clause, compared: Collection[tuple[object, object]]
) -> Iterator[str]:
    """Yield the hints of *clause* whose form a found value has.

    *compared* contains found and expected values. A form without a measure is no
    observation, and is left out.
    """
    for form, advice in clause.hints:
        measure = MEASURES.get(form)
        if measure and any(_is_measured(measure, *pair) for pair in compared):
            yield f"{advice} (seen: {form})"


def _is_measured(measure: Measure, found: object, expected: object) -> bool:
    numbers = _number(found), _number(expected)
    if numbers[0] is None or numbers[1] is None or numbers[0] == numbers[1]:
        return False
    return measure(numbers[0], numbers[1])


def _number(value: object) -> int | None:
    if isinstance(value, int):
        return value
    try:
        return int(value, 0) if isinstance(value, str) else None
    except ValueError:
        return None


def _backwards(number: int) -> int:
    """Return the signed 32-bit *number* with its bytes in the other order."""
    return int.from_bytes((number & 0xFFFFFFFF).to_bytes(4), "little", signed=True)
