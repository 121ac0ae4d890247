"""
The grammar of SQL expressions, as 4.6.0's SelectorParser has it.

Alternatives are separated by bars, repetitions are in braces::

    condition   = both { OR both }
    both        = equality { AND equality }
    equality    = order { ("=" | "<>") order | IS [NOT] NULL }
    order       = signed { (">" | ">=" | "<" | "<=") signed
                         | [NOT] BETWEEN signed AND signed
                         | [NOT] IN "(" text { "," text } ")" }
    signed      = ("+" | "-" | NOT) signed | literal | name | "(" condition ")"

The end is not checked: text behind a condition is ignored.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from reference.core.broker.filter.sql import expressions
from reference.core.broker.filter.sql.expressions import (
    ORDERS,
    Expression,
    as_condition,
    literal,
    not_,
)
from reference.core.broker.filter.sql.lexer import Word, words_of
from reference.core.broker.filter.sql.values import SqlError, compare, whole

_CONSTANTS = {"TRUE": True, "FALSE": False, "NULL": None}


def parse_sql(sql: str) -> Expression:
    """Return the condition that *sql* is, or raise SqlError."""
    try:
        return as_condition(_Parser(sql).condition())
    except RecursionError:
        raise SqlError("too many levels") from None


class _Parser:
    def __init__(self, sql: str) -> None:
        self._words = words_of(sql)
        self._ahead: list[Word] = []

    def condition(self) -> Expression:
        parts = [self._both()]
        while self._takes("OR"):
            parts.append(self._both())
        return (
            parts[0]
            if len(parts) == 1
            else expressions.or_([*map(as_condition, parts)])
        )

    def _both(self) -> Expression:
        parts = [self._equality()]
        while self._takes("AND"):
            parts.append(self._equality())
        return (
            parts[0]
            if len(parts) == 1
            else expressions.and_([*map(as_condition, parts)])
        )

    def _equality(self) -> Expression:
        left = self._order()
        while True:
            if self._takes("="):
                left = _equal(left, self._order())
            elif self._takes("<>"):
                left = not_(_equal(left, self._order()))
            elif self._takes("IS"):
                is_not = self._takes("NOT")
                self._wants("NULL")
                is_null = expressions.equal(left, literal(None))
                left = not_(is_null) if is_not else is_null
            else:
                return left

    def _order(self) -> Expression:
        left = self._signed()
        while True:
            sign = next((one for one in ORDERS if self._takes(one)), None)
            if sign is not None:
                left = _ordered(sign, left, self._signed())
            elif self._takes("BETWEEN"):
                left = _between(left, *self._bounds())
            elif self._takes("IN"):
                left = _in(left, self._texts())
            elif self._next().kind == "NOT" and self._next(1).kind == "BETWEEN":
                self._drop(2)
                left = _not_between(left, *self._bounds())
            elif self._next().kind == "NOT" and self._next(1).kind == "IN":
                self._drop(2)
                left = not_(_in(left, self._texts()))
            else:
                return left

    def _signed(self) -> Expression:
        if self._takes("+"):
            return self._signed()
        if self._takes("-"):
            return expressions.negative(self._signed())
        if self._takes("NOT"):
            return not_(as_condition(self._signed()))
        word = self._take()
        if word.kind == "(":
            inner = self.condition()
            self._wants(")")
            return inner
        return _single(word)

    def _bounds(self) -> tuple[Expression, Expression]:
        low = self._signed()
        self._wants("AND")
        return low, self._signed()

    def _texts(self) -> tuple[str, ...]:
        self._wants("(")
        texts = [_text(self._wants("text"))]
        while self._takes(","):
            texts.append(_text(self._wants("text")))
        self._wants(")")
        return tuple(texts)

    def _next(self, ahead: int = 0) -> Word:
        while len(self._ahead) <= ahead:
            self._ahead.append(next(self._words))
        return self._ahead[ahead]

    def _take(self) -> Word:
        word = self._next()
        self._drop(1)
        return word

    def _drop(self, count: int) -> None:
        del self._ahead[:count]

    def _takes(self, kind: str) -> bool:
        if self._next().kind == kind:
            self._drop(1)
            return True
        return False

    def _wants(self, kind: str) -> Word:
        word = self._take()
        if word.kind != kind:
            raise SqlError(f"{word.text or word.kind!r} where {kind} is wanted")
        return word


def _single(word: Word) -> Expression:
    """Return the literal or property that *word* is."""
    makes: dict[str, Callable[[str], Expression]] = {
        "whole": lambda text: literal(whole(text.rstrip("lL"))),
        "float": lambda text: literal(_double(text)),
        "text": lambda _: literal(_text(word)),
        "name": expressions.property_text,
    }
    if word.kind in _CONSTANTS:
        return literal(_CONSTANTS[word.kind])
    if word.kind not in makes:
        raise SqlError(f"{word.text or word.kind!r} where a value is wanted")
    return makes[word.kind](word.text)


def _double(text: str) -> float:
    """Return the literal; Java's smallest double is above 0, so 0.0 is refused."""
    value = float(text)
    if not 0 < value <= sys.float_info.max:
        raise SqlError(f"{text} is no double that a literal can be")  # [PULL-SQL-008]
    return value


def _text(word: Word) -> str:
    return word.text[1:-1].replace("''", "'")


def _equal(left: Expression, right: Expression) -> Expression:
    if any(one.is_literal and one.constant is None for one in (left, right)):
        raise SqlError("NULL equals nothing")
    literals = left.is_literal and right.is_literal
    if literals and left.is_condition and not right.is_condition:
        raise SqlError("a truth value beside another kind")
    return expressions.equal(left, right)


def _ordered(sign: str, left: Expression, right: Expression) -> Expression:
    for part in (left, right):
        is_text = isinstance(part.constant, str)
        if is_text or part.is_condition:
            raise SqlError("neither texts nor conditions have an order")
    return expressions.ordered(sign, left, right)


def _between(value: Expression, low: Expression, high: Expression) -> Expression:
    if low.is_literal and high.is_literal:
        if low.constant is None or high.constant is None:
            raise SqlError("NULL is no bound")
        if compare(high.constant, low.constant) < 0:
            raise SqlError("bounds in the wrong order")
    bounds = [_ordered(">=", value, low), _ordered("<=", value, high)]
    return expressions.and_(bounds)


def _not_between(value: Expression, low: Expression, high: Expression) -> Expression:
    bounds = [_ordered("<", value, low), _ordered(">", value, high)]
    return expressions.or_(bounds)


def _in(left: Expression, texts: tuple[str, ...]) -> Expression:
    if not left.is_property:
        raise SqlError("only a property can be IN something")
    return expressions.in_(left, texts)
