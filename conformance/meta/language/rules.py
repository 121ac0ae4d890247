"""The mechanical rules for prose and names, each with its remedy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from conformance.meta.language.prose import Kind, Text

WORDS_MAX = 25
CLAUSE_WORDS_MAX = 30
"""Limit for a clause, whose sentence also names constants and values."""

WORDS = {
    r"told|tell(s|ing)?": "report, return, send, configure",
    r"said|say(s|ing)?": "contain, state, return, report",
    r"hear[ds]?|hearing": "receive",
    r"ask(s|ed|ing)?|askers?": "request, query, send, call",
    r"vouch\w*": "guarantee, confirm",
    r"believe[sd]?|judge[sd]?|judging|notice[sd]?": "validate, check, detect",
    r"wish(es|ed)?|want(s|ed)?": "request, require, need",
    r"knows?|knew": "has, contains, is aware by a table: name it",
    r"everyday": "fast path; common",
    r"at once": "immediately; in one batch",
    r"in one go": "in one call, in one write",
    r"in a row": "consecutive",
    r"nobody|somebody|no one|someone": "no client, a caller: name the party",
    r"whoever|whatever|wherever": "name the party or the condition",
    r"backstage|aside": "system topic",
    r"look(s|ed|ing)?(?! ?up)": "read, check, search, inspect",
    r"twins?|twofold": "accelerated function, fallback",
    r"odd(ly)?": "invalid, unusual",
    r"light queues?": "LMQ",
    r"(?-i:is none|are none|is no more)": "is not; does not exist",
    r"(?<=\b(?:an|no|of|in|as|by)\s)answers?|(?<=\b(?:the|its|one|two|any|all)\s)answers?"
    r"|(?<=\b(?:each|this|same|last|from|with|more)\s)answers?"
    r"|(?<=\b(?:every|their|first|whose|empty|wrong|other)\s)answers?": "response",
}
"""Banned words (patterns of whole words, in any case) and their replacements."""

NAME_PARTS = frozenset(
    [
        "answer",
        "answers",
        "tell",
        "tells",
        "told",
        "say",
        "says",
        "said",
        "hear",
        "heard",
        "ask",
        "asks",
        "asked",
        "asker",
        "vouch",
        "vouched",
        "everyday",
        "nobody",
        "somebody",
        "whoever",
        "whatever",
        "backstage",
        "aside",
        "wish",
        "wishes",
        "twin",
        "twins",
        "twofold",
        "judge",
        "judged",
        "judging",
    ]
)
"""Banned parts of snake-case and camel-case names."""

_OPENING = re.compile(
    r"(what|who|whose|whoever|whatever|where|wherever|which|how|when|of|that)\b"
    r"|(return|yield|give)s? (what|how|where|who|which)\b",
    re.IGNORECASE,
)
_LEANING = re.compile(
    r"(?i:\bsuch\b(?! as\b)|\bso does\b|\bone of (these|those|them)\b)"
    r"|(?i:\bthe same is true\b|\bthis (is|was|has|does|holds|may|can)\b)"
    r"|(?i:\bthese (are|have|may|can)\b)"
    r"|\bwhich \d+\.\d+ did\b|^(It|They|Then|So|This|These|Those) "
)
_WORDS = {re.compile(rf"\b({p})\b", re.IGNORECASE): use for p, use in WORDS.items()}
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_SENTENCE_END = re.compile(
    r"(?<=[.!?])[\"')]*\s+(?=[\"'(*]*[A-Z0-9`])|\n\s*\n|\n\s*[-*] "
)
_WORD = re.compile(r"[A-Za-z0-9][\w'’.,=:+/-]*")
_OPENED = {Kind.DOCSTRING, Kind.COMMENT, Kind.HEADING}
_MEASURED = {Kind.DOCSTRING, Kind.PARAGRAPH, Kind.CLAUSE}


class Violation(NamedTuple):
    """A broken rule."""

    line: int
    rule: str
    found: str
    """The word or words at fault."""
    remedy: str


def violations(text: Text) -> Iterator[Violation]:
    """Yield the violations in one piece of prose."""
    if text.kind is Kind.NAME:
        yield from _name(text)
        return
    if text.kind in _OPENED and (opening := _OPENING.match(text.text)):
        yield Violation(
            text.line, "opening", opening[0], "begin with a noun or an imperative verb"
        )
    yield from _words(text)
    if text.kind is Kind.CLAUSE:
        for found in _LEANING.finditer(text.text):
            yield Violation(
                text.line,
                "leaning",
                found[0].strip(),
                "a clause stands alone: repeat the noun",
            )
    if text.kind in _MEASURED:
        yield from _lengths(text)


def _name(text: Text) -> Iterator[Violation]:
    for part in _PART.findall(text.text):
        if part.lower() in NAME_PARTS:
            yield Violation(
                text.line, "name", text.text, "use the term of docs/glossary.md"
            )
            return


def _words(text: Text) -> Iterator[Violation]:
    for pattern, use in _WORDS.items():
        for found in pattern.finditer(text.text):
            line = text.line + text.text.count("\n", 0, found.start())
            yield Violation(line, "word", found[0], use)


def _lengths(text: Text) -> Iterator[Violation]:
    limit = CLAUSE_WORDS_MAX if text.kind is Kind.CLAUSE else WORDS_MAX
    for sentence in _SENTENCE_END.split(text.text):
        count = len(_WORD.findall(sentence or ""))
        if count > limit:
            opening = " ".join(sentence.split()[:5])
            yield Violation(
                text.line,
                "long",
                f"{count} words: {opening} …",
                f"at most {limit} words",
            )
