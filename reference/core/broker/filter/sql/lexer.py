"""
The tokens of an SQL92 expression, read one by one.

Text behind a complete expression is never read, so an invalid token there has no
effect.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from reference.core.broker.filter.sql.values import SqlError

KEYWORDS = frozenset(
    ["NOT", "AND", "OR", "BETWEEN", "IN", "TRUE", "FALSE", "NULL", "IS"]
)
END = "end"

_PASSED_OVER = re.compile(
    r"(?:[ \t\n\r\f]|--[^\n\r]*(?:\n|\r\n?)"
    r"|/\*[^*]*\*(?:\*|[^*/][^*]*\*)*/)+"
)
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
    position = 0
    while True:
        blank = _PASSED_OVER.match(sql, position)
        position = blank.end() if blank else position
        if position == len(sql):
            yield Word(END, "")
            continue
        match = _WORD.match(sql, position)
        if match is None:
            raise SqlError(f"{sql[position]!r} at {position} begins no word")
        position = match.end()
        yield _word(str(match.lastgroup), match[0])


def _word(kind: str, text: str) -> Word:
    if kind == "sign":
        return Word(text, text)
    if kind == "name" and text.upper() in KEYWORDS:
        return Word(text.upper(), text)
    return Word(kind, text)
