"""
Choice of the mutants of a run: all, or those of a change and a tenth of the others.

A change is what is not committed, and the commits that the upstream branch lacks, or
else the last commit. It touches a mutant with its file, its description, or a test or
the text of one of its clauses. The tenth depends on the last commit, so that ten
commits run about all. Without git all run.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

from conformance.harness.child_run.child_run import files_naming
from conformance.mutants.mutant import CATALOGUE, Mutant

ROOT = CATALOGUE.parents[1]
SINCE = "MUTANTS_SINCE"
"""Environment variable with the commit before the change."""
TENTHS = 10
_TEXTS_OF_CLAUSES = ("spec/*.py", "conformance/*.py")
"""Files whose lines name clauses. Recorded results name nearly all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Difference between two states of the sources."""

    commit: str
    """Hash of the last commit, in hexadecimal."""
    files: frozenset[str]
    """Paths from the root, of what is not committed yet as well."""
    lines: str
    """The lines that were removed or added in clauses and tests."""


def change_of(root: Path) -> Change | None:
    """Return the change of the checkout at *root*; None without git or its history."""
    try:
        since = os.environ.get(SINCE) or _commit_before(root)
        commit = _git(root, "rev-parse", "HEAD").strip()
        form = "--unified=0", "--no-color"
        difference = _git(root, "diff", *form, since, "--", *_TEXTS_OF_CLAUSES)
        names = _git(root, "diff", "--name-only", since)
        names += _git(root, "ls-files", "--others", "--exclude-standard")
    except (OSError, subprocess.CalledProcessError):
        return None
    return Change(commit=commit, files=frozenset(names.splitlines()), lines=difference)


def _commit_before(root: Path) -> str:
    """Return the commit before the change."""
    head = _git(root, "rev-parse", "HEAD").strip()
    try:
        base = _git(root, "merge-base", head, "@{upstream}").strip()
    except subprocess.CalledProcessError:  # there is no upstream branch
        base = head
    return f"{head}~1" if base == head else base


def chosen(mutants: Mapping[str, Mutant], change: Change | None) -> list[str]:
    """Return the ids of the *mutants* to run for *change*; all if it is None."""
    if change is None:
        return list(mutants)
    tenth = int(change.commit, 16) % TENTHS
    return [
        name
        for name, mutant in mutants.items()
        if crc32(name.encode()) % TENTHS == tenth or is_touched(mutant, change)
    ]


def is_touched(mutant: Mutant, change: Change) -> bool:
    """Return whether *change* touches *mutant*, or a clause that must detect it."""
    if any(clause in change.lines for clause in mutant.caught_by):
        return True
    description = CATALOGUE / f"{mutant.id}.toml"
    files = [description, *files_naming(mutant.caught_by)]
    return not change.files.isdisjoint({mutant.file, *_from_root(files)})


def _from_root(files: Iterable[Path]) -> set[str]:
    return {file.relative_to(ROOT).as_posix() for file in files}


def _git(root: Path, *words: str) -> str:
    run = subprocess.run(
        ["git", "-C", str(root), *words],  # noqa: S607 # the user's git
        capture_output=True,
        check=True,
        encoding="utf-8",
        errors="replace",
    )
    return run.stdout
