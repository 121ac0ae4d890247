"""Selection of the clauses of a run, by the words of its command line."""

from __future__ import annotations

from collections.abc import Sequence

from cli.options.selection import select
from spec.clause import Clause, Level
from spec.registry import all_clauses


def chosen(only: str | None, level: str | None) -> list[Clause] | None:
    """Return the selected clauses in the order of their ids; None selects all.

    *only* has ids and patterns such as ``STORE-*``, *level* levels, commas between.
    """
    if not only and not level:
        return None
    clauses = all_clauses()
    see = "rmqc spec families lists all areas and families"
    names = select(only, clauses, kind="clause", see=see) if only else clauses
    found = [clauses[name] for name in sorted(names)]
    if level:
        levels = {Level(name) for name in select(level, list(Level), kind="level")}
        found = [one for one in found if one.level in levels]
    return found


def listed(
    selection: Sequence[str], level: str | None = None, release: str | None = None
) -> list[Clause]:
    """Return the selected clauses that apply to *release*; no word selects all.

    A level or a release that is None excludes nothing.
    """
    return [
        one
        for one in chosen(",".join(selection) or "*", level) or ()
        if release is None or one.applies_to(release)
    ]
