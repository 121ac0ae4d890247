"""
Values of an SQL92 expression, and their comparison.

A value is a text, a Java int or long, a double, a truth value, or None for unknown.
Properties are texts. Compared with a number they are parsed as one of its type, and
where that fails, the expression fails.
"""

from __future__ import annotations

import math
import re

from spec.integers import INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN

_DECIMAL = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_HEX = r"0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+"
_DOUBLE = re.compile(rf"[+-]?(?:NaN|Infinity|(?:{_DECIMAL}|{_HEX})[fFdD]?)")
_LONG_DIGITS = len(str(INT64_MAX))
_INTEGER = re.compile(r"[+-]?[0-9]+")
BLANKS = "".join(map(chr, range(33)))
"""Characters that Java's trim removes: all up to the space."""


class SqlError(ValueError):
    """An expression that cannot be parsed, or not be decided for a message."""


class Long(int):
    """A whole number that is a long in Java, where a plain int is one of 32 bits."""


Value = str | int | float | None
"""Truth values are ints in Python, so they are tested first."""


def whole(text: str) -> int:
    """Return the number that a literal without a point means."""
    number = _number_of(text)
    if number > INT64_MAX:
        raise SqlError(f"{text} is no long")
    return number if number <= INT32_MAX else Long(number)


def as_double(text: str) -> float:
    """Return *text* as Double.valueOf reads it."""
    trimmed = text.strip(BLANKS)
    if not _DOUBLE.fullmatch(trimmed):
        raise SqlError(f"{text!r} is no number")
    if "x" in trimmed or "X" in trimmed:
        try:
            return float.fromhex(re.sub("[fFdD]$", "", trimmed))
        except OverflowError:
            return -math.inf if trimmed.startswith("-") else math.inf
    return float(trimmed.rstrip("fFdD"))


def negated(value: Value) -> Value:
    """Return a number with the other sign; None for what is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, float):
        return -value
    return type(value)(-value)


def compare(left: Value, right: Value) -> int:
    """Return a number below, at or above 0, as the left value is to the right one.

    -1 also where the two cannot be compared. Both have a value.
    """
    if isinstance(left, str) and not isinstance(right, str):
        left = _parse_like(right, left)
    elif isinstance(right, str) and not isinstance(left, str):
        if isinstance(left, bool):  # Java casts it to a text here, and fails
            raise SqlError("a truth value left of a text")
        right = _parse_like(left, right)
    return _order(left, right)


def _parse_like(other: Value, text: str) -> Value:
    """Return *text* as valueOf reads it in the class of *other*."""
    if isinstance(other, bool):
        return text.lower() == "true"
    if isinstance(other, Long):
        return Long(_in_range(text, INT64_MIN, INT64_MAX))
    if isinstance(other, int):
        return _in_range(text, INT32_MIN, INT32_MAX)
    return as_double(text)


def _order(left: Value, right: Value) -> int:
    if isinstance(left, bool) or isinstance(right, bool):
        if not (isinstance(left, bool) and isinstance(right, bool)):
            return -1
    elif isinstance(left, float) or isinstance(right, float):
        assert isinstance(left, int | float)
        assert isinstance(right, int | float)
        return _order_of_doubles(float(left), float(right))
    return (left > right) - (left < right)  # type: ignore[operator] # two of one kind


def _order_of_doubles(left: float, right: float) -> int:
    """Order as Double.compareTo: -0 before 0, and NaN after everything."""
    keys = [(math.isnan(one), one, math.copysign(1.0, one)) for one in (left, right)]
    if keys[0][0] or keys[1][0]:
        return keys[0][0] - keys[1][0]
    return (keys[0] > keys[1]) - (keys[0] < keys[1])


def _number_of(text: str) -> int:
    """Return a number of any size; INT64_MAX + 1 for more digits than a long has.

    Python refuses to read 4,301 digits.
    """
    has_more = len(text.lstrip("+-0")) > _LONG_DIGITS
    return INT64_MAX + 1 if has_more else int(text)


def _in_range(text: str, least: int, most: int) -> int:
    if not _INTEGER.fullmatch(text):
        raise SqlError(f"{text!r} is no whole number")
    number = _number_of(text)
    if not least <= number <= most:
        raise SqlError(f"{text} is out of range")
    return number
