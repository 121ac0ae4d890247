"""
``python -m conformance.mutants``: list the mutants, or run the suites on some.

With ids, each mutant is a target of its own: the tests of the clauses that must notice
it are run on it, and the kill matrix is printed.
"""

from __future__ import annotations

import sys

from conformance.mutants.matrix import examine_all, matrix_lines
from conformance.mutants.planting import MutantError, all_mutants, mutant


def main(ids: list[str]) -> int:
    """Print the list, or the kill matrix of *ids*, and return the exit code."""
    try:
        if not ids:
            _write(f"{one.id:<28} {one.says}" for one in all_mutants().values())
            return 0
        wanted = (
            all_mutants() if ids == ["all"] else {name: mutant(name) for name in ids}
        )
        kills = examine_all(wanted.values())
    except MutantError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    _write(matrix_lines(kills))
    return 0 if all(kill.caught for kill in kills) else 1


def _write(lines: object) -> None:
    assert hasattr(lines, "__iter__")
    sys.stdout.writelines(f"{line}\n" for line in lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
