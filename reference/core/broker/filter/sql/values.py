"""
Values of an SQL92 expression, and their comparison.

A value is a text, a Java int or long, a double, a truth value, or None for unknown.
Properties are texts. Compared with a number they are parsed as one of its type, and
where that fails, the expression fails.
"""

from __future__ import annotations

import math
import re

from spec.integers import INT32_MAX, parse_java_int, parse_java_long
from spec.wire.bodies.heartbeat import JAVA_BLANKS

# No digit is given back: a property of 32,000 digits and a letter took 16 s before.
_DECIMAL = r"(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?"
_HEX = r"0[xX](?:[0-9a-fA-F]++\.?[0-9a-fA-F]*+|\.[0-9a-fA-F]++)[pP][+-]?[0-9]++"
_DOUBLE = re.compile(rf"[+-]?(?:NaN|Infinity|(?:{_DECIMAL}|{_HEX})[fFdD]?)")


class SqlError(ValueError):
    """An expression that cannot be parsed, or not be decided for a message."""


class Long(int):
    """A whole number that is a long in Java, where a plain int is one of 32 bits."""


Value = str | int | float | None
"""Truth values are ints in Python, so they are tested first."""


def whole(text: str) -> int:
    """Return the number that a literal without a point means."""
    number = parse_java_long(text)
    if number is None:
        raise SqlError(f"{text} is no long")
    return number if number <= INT32_MAX else Long(number)


def as_double(text: str) -> float:
    """Return *text* as Double.valueOf reads it."""
    trimmed = text.strip(JAVA_BLANKS)
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
    if isinstance(left, bool) != isinstance(right, bool):
        return -1
    if isinstance(left, float) or isinstance(right, float):
        keys = [_double_key(float(one)) for one in (left, right)]  # type: ignore[arg-type] # numbers
        return (keys[0] > keys[1]) - (keys[0] < keys[1])
    return (left > right) - (left < right)  # type: ignore[operator] # two of one kind


def _parse_like(other: Value, text: str) -> Value:
    """Return *text* as valueOf reads it in the class of *other*."""
    if isinstance(other, bool):
        return text.lower() == "true"
    if isinstance(other, float):
        return as_double(text)
    is_long = isinstance(other, Long)
    number = parse_java_long(text) if is_long else parse_java_int(text)
    if number is None:
        raise SqlError(f"{text!r} is no whole number of this type")
    return Long(number) if is_long else number


def _double_key(value: float) -> tuple[bool, float, float]:
    """Return the key by which Double.compareTo orders.

    It has -0 before 0, and NaN behind everything and equal to itself.
    """
    if math.isnan(value):
        return True, 0.0, 0.0
    return False, value, math.copysign(1.0, value)
