"""
Conditions over a message's properties, as trees: their SQL, and what they come to.

A generated tree is written out for the peer and decided here. It is about properties
that are whole numbers or texts, each used as such, so that nothing in it can fail.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt, ne
from typing import Protocol

Properties = Mapping[str, str]
SIGNS: Mapping[str, Callable[[float, float], bool]] = {
    "=": eq,
    "<>": ne,
    ">": gt,
    ">=": ge,
    "<": lt,
    "<=": le,
}


class Condition(Protocol):
    """Predicate over a message: true, false or unknown (None)."""

    def sql(self) -> str:
        """Return it as a consumer writes it."""

    def holds(self, properties: Properties) -> bool | None:
        """Return its value for *properties*."""


@dataclass(frozen=True, slots=True)
class Compared(Condition):
    """A property beside a number."""

    name: str
    sign: str
    number: int | float
    number_first: bool = False

    def sql(self) -> str:
        """Return it, the number on either side."""
        parts = [self.name, self.sign, str(self.number)]
        return " ".join(reversed(parts) if self.number_first else parts)

    def holds(self, properties: Properties) -> bool | None:
        """Return it, unknown without the property."""
        if self.name not in properties:
            # A number on the left and nothing on the right: they differ.
            if self.number_first and self.sign in {"=", "<>"}:
                return self.sign == "<>"
            return None
        sides = int(properties[self.name]), self.number
        return SIGNS[self.sign](*(reversed(sides) if self.number_first else sides))


@dataclass(frozen=True, slots=True)
class Between(Condition):
    """A property between two numbers, both included, or not."""

    name: str
    low: int
    high: int
    negated: bool

    def sql(self) -> str:
        """Return it."""
        word = "NOT BETWEEN" if self.negated else "between"
        return f"{self.name} {word} {self.low} AND {self.high}"

    def holds(self, properties: Properties) -> bool | None:
        """Return it, unknown without the property."""
        if self.name not in properties:
            return None
        return (self.low <= int(properties[self.name]) <= self.high) != self.negated


@dataclass(frozen=True, slots=True)
class Among(Condition):
    """A property that is one of some texts, or none of them."""

    name: str
    texts: tuple[str, ...]
    negated: bool

    def sql(self) -> str:
        """Return it."""
        texts = ", ".join(quoted(text) for text in self.texts)
        return f"{self.name} {'NOT IN' if self.negated else 'in'} ({texts})"

    def holds(self, properties: Properties) -> bool | None:
        """Return it, unknown without the property."""
        if self.name not in properties:
            return None
        return (properties[self.name] in self.texts) != self.negated


@dataclass(frozen=True, slots=True)
class Same(Condition):
    """A property that equals a text, or differs from it."""

    name: str
    text: str
    negated: bool

    def sql(self) -> str:
        """Return it."""
        return f"{self.name} {'<>' if self.negated else '='} {quoted(self.text)}"

    def holds(self, properties: Properties) -> bool | None:
        """Return it, unknown without the property."""
        if self.name not in properties:
            return None
        return (properties[self.name] == self.text) != self.negated


@dataclass(frozen=True, slots=True)
class Absent(Condition):
    """A property that the message lacks, or has."""

    name: str
    negated: bool

    def sql(self) -> str:
        """Return it."""
        return f"{self.name} IS {'NOT ' if self.negated else ''}NULL"

    def holds(self, properties: Properties) -> bool | None:
        """Return it; it is never unknown."""
        return (self.name not in properties) != self.negated


@dataclass(frozen=True, slots=True)
class Opposite(Condition):
    """NOT."""

    part: Condition

    def sql(self) -> str:
        """Return it."""
        return f"NOT ({self.part.sql()})"

    def holds(self, properties: Properties) -> bool | None:
        """Return it; what is unknown stays so."""
        found = self.part.holds(properties)
        return None if found is None else not found


@dataclass(frozen=True, slots=True)
class Joined(Condition):
    """AND or OR of two."""

    word: str
    left: Condition
    right: Condition

    def sql(self) -> str:
        """Return it, with brackets."""
        return f"({self.left.sql()}) {self.word} ({self.right.sql()})"

    def holds(self, properties: Properties) -> bool | None:
        """Return the deciding value, or unknown, or the other value."""
        decides = self.word == "OR"
        found = [part.holds(properties) for part in (self.left, self.right)]
        if decides in found:
            return decides
        return None if None in found else not decides


def quoted(text: str) -> str:
    """Return a text as SQL has it."""
    return "'" + text.replace("'", "''") + "'"
