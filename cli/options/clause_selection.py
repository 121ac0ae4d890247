"""Selection of the clauses of a run, by the words of its command line."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

import click

from spec.clause import Clause, Level
from spec.registry import all_clauses


def chosen(only: str | None, level: str | None) -> list[Clause] | None:
    """Return the selected clauses in the order of their ids; None selects all.

    *only* has ids and patterns such as ``STORE-*``, *level* levels, commas between.
    """
    if not only and not level:
        return None
    found = sorted(all_clauses().values(), key=lambda one: one.id)
    if only:
        found = [one for one in found if _matches(one.id, _patterns(only))]
    if level:
        levels = _levels(level)
        found = [one for one in found if one.level in levels]
    return found


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _patterns(only: str) -> list[str]:
    patterns = [word.strip().upper() for word in only.split(",") if word.strip()]
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in all_clauses()):
            raise click.UsageError(f"--only: there is no clause {pattern}")
    return patterns


def _levels(level: str) -> set[Level]:
    words = [word.strip().upper() for word in level.split(",") if word.strip()]
    unknown = [word for word in words if word not in set(Level)]
    if unknown:
        known = ", ".join(Level)
        raise click.UsageError(f"--level: {unknown[0]} is none of {known}")
    return {Level(word) for word in words}
