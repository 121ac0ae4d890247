"""
Parts of an SQL92 expression, each with its value for a message.

The value of a condition is True, False, or None for unknown.
4.6.0 org.apache.rocketmq.filter.expression has a class for each function here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import ge, gt, le, lt
from typing import NamedTuple

from reference.core.broker.filter.sql.values import (
    SqlError,
    Value,
    as_double,
    compare,
    negated,
)

Properties = Mapping[str, str]
ORDERS: Mapping[str, Callable[[int, int], bool]] = {
    ">": gt,
    ">=": ge,
    "<": lt,
    "<=": le,
}


class Expression(NamedTuple):
    """Any part of an expression."""

    value: Callable[[Properties], Value]
    """Returns the value for a message with these properties."""
    is_condition: bool = True
    """Whether it is true, false or unknown, and so can be part of a larger one."""
    is_property: bool = False
    is_literal: bool = False
    constant: Value = None


def literal(constant: Value) -> Expression:
    """Return a value that is written out; TRUE, FALSE and NULL are conditions."""
    is_condition = constant is None or isinstance(constant, bool)
    return Expression(
        lambda _: constant, is_condition, is_literal=True, constant=constant
    )


def property_text(name: str) -> Expression:
    """Return the text of a property, unknown in a message without it."""
    return Expression(  # [PULL-SQL-003]
        lambda properties: properties.get(name), is_condition=False, is_property=True
    )


def negative(part: Expression) -> Expression:
    """Return a number with the other sign; a property, which is a text, has none."""
    return Expression(lambda found: negated(part.value(found)), is_condition=False)


def as_condition(part: Expression) -> Expression:
    """Return *part* as a condition; no text of a property is true."""
    if part.is_condition:
        return part
    if not part.is_property:
        raise SqlError("a value where a condition is wanted")
    # [PULL-SQL-006]
    return Expression(lambda found: None if part.value(found) is None else False)


def not_(part: Expression) -> Expression:
    """Return the opposite of a condition; the opposite of unknown is unknown."""

    def value(properties: Properties) -> bool | None:
        found = part.value(properties)
        return None if found is None else not found

    return Expression(value)


def and_(parts: Sequence[Expression]) -> Expression:
    """Return all of some conditions."""
    return Expression(partial(_first_that_decides, parts, False))


def or_(parts: Sequence[Expression]) -> Expression:
    """Return one of some conditions, or more."""
    return Expression(partial(_first_that_decides, parts, True))


def _first_that_decides(
    parts: Sequence[Expression], decides: bool, properties: Properties
) -> bool | None:
    """Return *decides* if a part comes to it, None if one is unknown, or the rest.

    Parts behind one that decides are not evaluated.
    """
    is_known = True
    for part in parts:
        found = part.value(properties)
        if found is None:
            is_known = False
        elif found is decides:
            return decides
    return not decides if is_known else None


def is_null(part: Expression) -> Expression:
    """Return whether a value is unknown."""
    return Expression(lambda found: part.value(found) is None)


def equal(left: Expression, right: Expression) -> Expression:
    """Compare two values; an unknown left is unknown, an unknown right differs."""
    if any(one.is_literal and one.constant is None for one in (left, right)):
        raise SqlError("NULL equals nothing")
    literals = left.is_literal and right.is_literal
    if literals and left.is_condition and not right.is_condition:
        raise SqlError("a truth value beside another kind")

    def value(properties: Properties) -> bool | None:
        one, other = left.value(properties), right.value(properties)
        if one is None or other is None:
            if one is None and other is None:
                return True
            return None if one is None else False
        return compare(one, other) == 0

    return Expression(value)


def ordered(sign: str, left: Expression, right: Expression) -> Expression:
    """Order two values by ``>``, ``>=``, ``<`` or ``<=``; two texts are doubles."""
    for part in (left, right):
        if isinstance(part.constant, str) or part.is_condition:
            raise SqlError("neither texts nor conditions have an order")

    def value(properties: Properties) -> bool | None:
        one = left.value(properties)
        other = None if one is None else right.value(properties)
        if other is None:
            return None
        if isinstance(one, str) and isinstance(other, str):
            one, other = as_double(one), as_double(other)  # [PULL-SQL-005]
        return ORDERS[sign](compare(one, other), 0)

    return Expression(value)


def between(part: Expression, low: Expression, high: Expression) -> Expression:
    """Return whether a value is one of two bounds or between them."""
    if low.is_literal and high.is_literal:
        if low.constant is None or high.constant is None:
            raise SqlError("NULL is no bound")
        if compare(high.constant, low.constant) < 0:
            raise SqlError("bounds in the wrong order")
    return and_([ordered(">=", part, low), ordered("<=", part, high)])


def not_between(part: Expression, low: Expression, high: Expression) -> Expression:
    """Return whether a value is outside two bounds, in any order."""
    return or_([ordered("<", part, low), ordered(">", part, high)])


def in_(part: Expression, texts: Sequence[str]) -> Expression:
    """Search a property in some texts; unknown without the property."""
    if not part.is_property:
        raise SqlError("only a property can be IN something")

    def value(properties: Properties) -> bool | None:
        found = part.value(properties)
        return None if found is None else found in texts

    return Expression(value)


def selects(expression: Expression, properties: Properties) -> bool:
    """Return whether a message is selected; not by a failed or unknown value."""
    try:
        return expression.value(properties) is True
    except (SqlError, RecursionError):
        return False  # [PULL-SQL-004]
