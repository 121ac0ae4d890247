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

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from reference.core.broker.filter.sql.expressions import (
    ORDERS,
    Expression,
    and_,
    as_condition,
    between,
    equal,
    in_,
    is_null,
    literal,
    negative,
    not_,
    not_between,
    or_,
    ordered,
    property_text,
)
from reference.core.broker.filter.sql.values import SqlError, whole

KEYWORDS = frozenset(
    ["NOT", "AND", "OR", "BETWEEN", "IN", "TRUE", "FALSE", "NULL", "IS"]
)
END = "end"

_PASSED_OVER = re.compile(
    r"(?:[ \t\n\r\f]|--[^\n\r]*(?:\n|\r\n?)"
    r"|/\*[^*]*\*(?:\*|[^*/][^*]*\*)*/)+"
)
_PASSED_OVER_AT_END = re.compile(r"(?:[ \t\f]|/\*[^*]*\*(?:\*|[^*/][^*]*\*)*/)+")
"""The same behind the last line end: no comment of a line has an end there.

With thousands of signs ``--`` each would be scanned to the end of the text.
"""
_WORDS = (
    (
        "float",
        r"[0-9]+\.[0-9]*(?:E[+-]?[0-9]+)?|\.[0-9]+(?:E[+-]?[0-9]+)?|[0-9]+E[+-]?[0-9]+",
    ),
    ("whole", r"(?:0|[1-9][0-9]*L?)"),
    ("text", r"'(?:''|[^'])*'"),
    ("name", r"[a-z_$][a-z0-9_$]*"),
    ("sign", r"<>|>=|<=|[=<>(),+-]"),
)
_WORD = re.compile(
    "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _WORDS),
    re.IGNORECASE | re.ASCII,
)


class Word(NamedTuple):
    """One word."""

    kind: str
    """``float``, ``whole``, ``text``, ``name``; a keyword or sign is its own kind."""
    text: str


def words_of(sql: str) -> Iterator[Word]:
    """Yield the words of an expression, and END for ever after them."""
    position, last_line = 0, max(sql.rfind("\n"), sql.rfind("\r")) + 1
    while True:
        passed_over = _PASSED_OVER if position < last_line else _PASSED_OVER_AT_END
        blank = passed_over.match(sql, position)
        position = blank.end() if blank else position
        if position == len(sql):
            yield Word(END, "")
            continue
        match = _WORD.match(sql, position)
        if match is None:
            raise SqlError(f"{sql[position]!r} at {position} begins no word")
        position = match.end()
        kind, text = str(match.lastgroup), match[0]
        if kind == "sign" or text.upper() in KEYWORDS:
            kind = text.upper()
        yield Word(kind, text)


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
        return self._joined("OR", self._both, or_)

    def _both(self) -> Expression:
        return self._joined("AND", self._equality, and_)

    def _joined(
        self,
        keyword: str,
        read_part: Callable[[], Expression],
        join: Callable[[Sequence[Expression]], Expression],
    ) -> Expression:
        parts = [read_part()]
        while self._takes(keyword):
            parts.append(read_part())
        return parts[0] if len(parts) == 1 else join([*map(as_condition, parts)])

    def _equality(self) -> Expression:
        left = self._order()
        while True:
            if self._takes("="):
                left = equal(left, self._order())
            elif self._takes("<>"):
                left = not_(equal(left, self._order()))
            elif self._takes("IS"):
                is_not = self._takes("NOT")
                self._wants("NULL")
                left = not_(is_null(left)) if is_not else is_null(left)
            else:
                return left

    def _order(self) -> Expression:
        left = self._signed()
        while True:
            sign = next((one for one in ORDERS if self._takes(one)), None)
            if sign is not None:
                left = ordered(sign, left, self._signed())
            elif self._takes("BETWEEN"):
                left = between(left, *self._bounds())
            elif self._takes("IN"):
                left = in_(left, self._texts())
            elif self._next().kind == "NOT" and self._next(1).kind == "BETWEEN":
                self._drop(2)
                left = not_between(left, *self._bounds())
            elif self._next().kind == "NOT" and self._next(1).kind == "IN":
                self._drop(2)
                left = not_(in_(left, self._texts()))
            else:
                return left

    def _signed(self) -> Expression:
        if self._takes("+"):
            return self._signed()
        if self._takes("-"):
            return negative(self._signed())
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
    match word.kind:
        case "whole":
            return literal(whole(word.text.rstrip("lL")))
        case "float":
            return literal(_double(word.text))
        case "text":
            return literal(_text(word))
        case "name":
            return property_text(word.text)
        case "TRUE" | "FALSE":
            return literal(word.kind == "TRUE")
        case "NULL":
            return literal(None)
    raise SqlError(f"{word.text or word.kind!r} where a value is wanted")


def _double(text: str) -> float:
    """Return the literal; Java's smallest double is above 0, so 0.0 is refused."""
    value = float(text)
    if not 0 < value <= sys.float_info.max:
        raise SqlError(f"{text} is no double that a literal can be")  # [PULL-SQL-008]
    return value


def _text(word: Word) -> str:
    return word.text[1:-1].replace("''", "'")
