"""
Parts of an SQL92 expression, each with its value for a message.

The value of a condition is True, False, or None for unknown.
4.6.0 org.apache.rocketmq.filter.expression has a class for each part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import ge, gt, le, lt

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


class Expression:
    """Any part of an expression."""

    is_condition = False
    """Whether it is true, false or unknown, and so can be part of a larger one."""

    def value(self, properties: Properties) -> Value:
        """Return the value for a message with these properties."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Literal(Expression):
    """A value that is written out."""

    constant: Value

    @property
    def is_condition(self) -> bool:  # type: ignore[override] # a literal may be one
        """TRUE, FALSE and NULL are conditions."""
        return self.constant is None or isinstance(self.constant, bool)

    def value(self, properties: Properties) -> Value:  # noqa: ARG002
        """Return the constant."""
        return self.constant


@dataclass(frozen=True, slots=True)
class Property(Expression):
    """The text of a property; unknown where the message has none of that name."""

    name: str

    def value(self, properties: Properties) -> Value:
        """Return the property."""
        return properties.get(self.name)  # [PULL-SQL-003]


@dataclass(frozen=True, slots=True)
class Negated(Expression):
    """A number with the other sign."""

    part: Expression

    def value(self, properties: Properties) -> Value:
        """Return it; a property, which is a text, has no sign."""
        return negated(self.part.value(properties))


class Condition(Expression):
    """A part that is true, false or unknown."""

    is_condition = True

    def value(self, properties: Properties) -> bool | None:
        """Return the truth value; None for unknown."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Alone(Condition):
    """A property in the place of a condition: no text is true."""

    part: Property

    def value(self, properties: Properties) -> bool | None:
        """Return False, or None without the property."""
        # [PULL-SQL-006]
        return None if self.part.value(properties) is None else False


@dataclass(frozen=True, slots=True)
class Not(Condition):
    """The opposite."""

    part: Expression

    def value(self, properties: Properties) -> bool | None:
        """Return the opposite; the opposite of unknown is unknown."""
        found = self.part.value(properties)
        return None if found is None else not found


@dataclass(frozen=True, slots=True)
class And(Condition):
    """All of some conditions."""

    parts: tuple[Expression, ...]

    def value(self, properties: Properties) -> bool | None:
        """Return the truth value; parts behind one that decides are not evaluated."""
        return _first_that_decides(self.parts, properties, decides=False)


@dataclass(frozen=True, slots=True)
class Or(Condition):
    """One of some conditions, or more."""

    parts: tuple[Expression, ...]

    def value(self, properties: Properties) -> bool | None:
        """Return the truth value; parts behind one that decides are not evaluated."""
        return _first_that_decides(self.parts, properties, decides=True)


def _first_that_decides(
    parts: tuple[Expression, ...], properties: Properties, *, decides: bool
) -> bool | None:
    """Return *decides* if a part comes to it, None if one is unknown, or the rest."""
    is_known = True
    for part in parts:
        found = part.value(properties)
        if found is None:
            is_known = False
        elif found is decides:
            return decides
    return not decides if is_known else None


@dataclass(frozen=True, slots=True)
class Equal(Condition):
    """Whether two values are the same."""

    left: Expression
    right: Expression

    def value(self, properties: Properties) -> bool | None:
        """Return it; what is unknown on the left is unknown, on the right differs."""
        left, right = self.left.value(properties), self.right.value(properties)
        if left is None or right is None:
            if left is None and right is None:
                return True
            return None if left is None else False
        return compare(left, right) == 0


@dataclass(frozen=True, slots=True)
class Ordered(Condition):
    """Whether two values are in an order: ``>``, ``>=``, ``<`` or ``<=``."""

    sign: str
    left: Expression
    right: Expression

    def value(self, properties: Properties) -> bool | None:
        """Return it; two texts are compared as doubles."""
        left = self.left.value(properties)
        if left is None:
            return None
        right = self.right.value(properties)
        if right is None:
            return None
        if isinstance(left, str) and isinstance(right, str):
            left, right = as_double(left), as_double(right)  # [PULL-SQL-005]
        return ORDERS[self.sign](compare(left, right), 0)


@dataclass(frozen=True, slots=True)
class In(Condition):
    """Whether a property is one of some texts."""

    part: Property
    texts: tuple[str, ...]

    def value(self, properties: Properties) -> bool | None:
        """Return it, unknown without the property."""
        found = self.part.value(properties)
        return None if found is None else found in self.texts


def selects(expression: Expression, properties: Properties) -> bool:
    """Return whether a message is selected; not by a failed or unknown value."""
    try:
        return expression.value(properties) is True
    except SqlError:
        return False  # [PULL-SQL-004]
