"""
``python -m conformance.mutants``: list the mutants, or run the suites on some.

With ids, each mutant is a target of its own. The tests of its clauses run on it, and
the kill matrix is printed. ``all`` means all mutants, ``golden`` those with a golden
text. ``--write`` before them records the kills and writes golden texts anew.
"""

from __future__ import annotations

import sys

from conformance.mutants.kill_record import FILE, keep, row_of
from conformance.mutants.matrix import examine_all, matrix_lines
from conformance.mutants.mutant import Mutant, MutantError, all_mutants, mutant
from conformance.mutants.texts import golden_names, keep_golden


def main(ids: list[str]) -> int:
    """Print the list, or the kill matrix of *ids*, and return the exit code."""
    try:
        if not ids:
            _write(f"{one.id:<28} {one.description}" for one in all_mutants().values())
            return 0
        writes = ids[0] == "--write"
        kills = examine_all(_wanted(ids[1:] if writes else ids))
    except MutantError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    _write(matrix_lines(kills))
    for kill in kills:
        if writes and kill.caught:
            keep_golden(kill)
            keep(row_of(kill), FILE)
    return 0 if all(kill.caught for kill in kills) else 1


def _wanted(words: list[str]) -> list[Mutant]:
    """Return the mutants that the words of the command line name."""
    if words == ["all"]:
        return list(all_mutants().values())
    names = golden_names() if words == ["golden"] else words
    return [mutant(name) for name in names]


def _write(lines: object) -> None:
    assert hasattr(lines, "__iter__")
    sys.stdout.writelines(f"{line}\n" for line in lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
