"""
Selection of named things by a comma list of ids and patterns, as ``A-001,B-*``.

Every command selects clauses, invariants and measurements in the same way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches
from fnmatch import fnmatchcase

from cli.options.exit_codes import WrongValueError

ALL = "all"
"""The word for all names where a word selects recorded results."""
SUGGESTIONS_MAX = 3
LISTED_MAX = 15
"""Most names that a message lists when none is near."""


def select(text: str, names: Collection[str], *, kind: str, see: str = "") -> list[str]:
    """Return those of *names*, in their order, that *text* selects.

    Letter case is ignored. A word that selects nothing raises WrongValueError, with the
    *kind* of thing, and the pattern that it begins or the nearest of *names*. Without
    these the message refers to *see*.
    """
    patterns = words(text)
    folded = {name: name.lower() for name in names}
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern.lower()) for name in folded.values()):
            raise WrongValueError(_unknown_pattern(pattern, names, kind, see))
    return [
        name
        for name, lower in folded.items()
        if any(fnmatchcase(lower, pattern.lower()) for pattern in patterns)
    ]


def select_with_all(text: str, names: Iterable[str], *, kind: str) -> set[str]:
    """Return those of *names*, and of ALL, that *text* selects; none if it is empty."""
    return set(select(text, sorted({*names, ALL}), kind=kind)) if text else set()


def words(text: str) -> list[str]:
    """Return the words of a comma list, without empty ones."""
    return [word.strip() for word in text.split(",") if word.strip()]


def _unknown_pattern(word: str, names: Iterable[str], kind: str, see: str) -> str:
    begun = f"{word.lower()}-"
    family = next((one for one in names if one.lower().startswith(begun)), None)
    if family is not None:
        return f"unknown {kind} {word}; did you mean {family[: len(begun)]}*?"
    return unknown_name(word, names, kind, see)


def unknown_name(word: str, names: Iterable[str], kind: str, see: str = "") -> str:
    """Return the message about a *word* that selects none of *names*."""
    by_folded = {name.lower(): name for name in names}
    near = get_close_matches(word.lower(), by_folded, n=SUGGESTIONS_MAX)
    if not near and len(by_folded) > LISTED_MAX:
        return f"unknown {kind} {word}" + (f"; {see}" if see else "")
    if not near:
        return f"unknown {kind} {word}; one of {', '.join(by_folded.values())}"
    *others, last = [by_folded[one] for one in near]
    suggestion = f"{', '.join(others)} or {last}" if others else last
    return f"unknown {kind} {word}; did you mean {suggestion}?"
