"""
Mutant: the reference with one seeded fault, described by one small TOML file.

The fault is one textual edit of one file. The text to replace must occur exactly once,
so that a change of the reference cannot silently remove the fault. The edit is made in
a tree of links. ``mutant:ID`` runs from there, or ``client-mutant:ID`` for an edit of
the reference's client, which the suite for clients must detect.

    description = "the header length is read from 8 bits"
    file = "spec/wire/remoting/frame.py"
    find = "& 0xFFFFFF"
    replace = "& 0xFF"
    caught_by = ["WIRE-FRAME-002"]

A fault that a real implementation had lists its reports in ``issues``, like
``apache/rocketmq#9121``. A fault that generated histories detect, with other values
each time, has ``varies = true``.
"""

from __future__ import annotations

import re
import shutil
import tomllib
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

CATALOGUE = Path(__file__).parent
PLANTED = ("spec", "columns", "reference")
OF_CLIENTS = (
    "reference/core/client/",
    "reference/shell/client/",
    "reference/shell/adapter/",
)
"""Folder in which an edit makes a client mutant, not a broker mutant."""
_KEYS = {"description", "file", "find", "replace", "caught_by"}
_MAY = {"issues", "varies"}
_ISSUE = re.compile(r"[\w.-]+/[\w.-]+#\d+")


class MutantError(Exception):
    """There is no such mutant, or it no longer fits the sources."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One fault and the clauses that must detect it."""

    id: str
    description: str
    """Description of the fault, as a sentence about the peer."""
    file: str
    find: str
    replace: str
    caught_by: tuple[str, ...]
    """Each of these clauses fails on the mutant."""
    issues: tuple[str, ...] = ()
    """Reports of real implementations that had this fault: owner/name#number."""
    varies: bool = False
    """Whether generated histories find it: then the failure has other words each time.
    """

    @property
    def target(self) -> str:
        """Target text of a run on the mutant."""
        kind = "client-mutant" if self.file.startswith(OF_CLIENTS) else "mutant"
        return f"{kind}:{self.id}"


def all_mutants() -> dict[str, Mutant]:
    """Return every described mutant by id, which is the name of its file."""
    files = sorted(CATALOGUE.glob("*.toml"))
    return {file.stem: _read(file) for file in files}


def mutant(mutant_id: str) -> Mutant:
    """Return the mutant of this id."""
    file = CATALOGUE / f"{mutant_id}.toml"
    if not mutant_id.replace("_", "").isalnum() or not file.is_file():
        near = get_close_matches(
            mutant_id, [one.stem for one in CATALOGUE.glob("*.toml")]
        )
        advice = f"did you mean {', '.join(near)}?" if near else f"see {CATALOGUE}"
        raise MutantError(f"no mutant {mutant_id!r}; {advice}")
    return _read(file)


def plant(target: str, directory: Path, *, source: Path) -> Path:
    """
    Make the packages below *source* anew in *directory*, with *target*'s fault in one.

    What lies beside the mutated file, or beside a folder on the way to it, is linked.
    What is there already, because the mutant is restarted, is used again.
    """
    fault = mutant(target.partition(":")[2])
    if fault.target != target:
        raise MutantError(f"{target}: it is the target {fault.target}")
    if directory.exists():
        return directory
    text = mutated(fault, source)
    directory.mkdir(parents=True)
    for package in PLANTED:
        (directory / package).symlink_to(source / package)
    path = Path(fault.file)
    for folder in reversed(path.parents[:-1]):
        _unfold(source / folder, directory / folder)
    (directory / path).unlink()
    (directory / path).write_text(text, encoding="utf-8")
    _own_compiled(source / path, directory / path)
    return directory


def _unfold(source: Path, link: Path) -> None:
    """Make a folder of links of what is a link to *source*."""
    link.unlink()
    link.mkdir()
    for inner in source.iterdir():
        (link / inner.name).symlink_to(inner)


def _own_compiled(source: Path, path: Path) -> None:
    """Give *path* a folder of compiled modules that has all of *source*'s but its own.

    They let a mutant start as fast as the reference.
    """
    folder = path.parent / "__pycache__"
    folder.unlink(missing_ok=True)
    # Other processes are just writing the files *.pyc.*.
    ignored = shutil.ignore_patterns("*.pyc.*", f"{path.stem}.*")
    if (source.parent / "__pycache__").is_dir():
        shutil.copytree(source.parent / "__pycache__", folder, ignore=ignored)


def mutated(fault: Mutant, source: Path) -> str:
    """Return the text of the fault's file below *source* with the edit made."""
    path = source / fault.file
    if not path.is_file():
        raise MutantError(f"mutant {fault.id}: there is no {fault.file}")
    text = path.read_text(encoding="utf-8")
    count = text.count(fault.find)
    if count != 1:
        raise MutantError(
            f"mutant {fault.id}: {fault.find!r} is {count} times in {fault.file}"
        )
    return text.replace(fault.find, fault.replace)


def _read(file: Path) -> Mutant:
    values = tomllib.loads(file.read_text(encoding="utf-8"))
    if values.keys() - _MAY != _KEYS:
        raise MutantError(
            f"{file.name}: a mutant has exactly {', '.join(sorted(_KEYS))}"
            f" and may have {', '.join(sorted(_MAY))}"
        )
    caught_by, issues = (tuple(values.pop(key, ())) for key in ("caught_by", "issues"))
    wrong = [issue for issue in issues if not _ISSUE.fullmatch(issue)]
    if wrong:
        raise MutantError(f"{file.name}: {wrong[0]!r} is not owner/name#number")
    return Mutant(id=file.stem, caught_by=caught_by, issues=issues, **values)
