"""
Invariants, and findings where a store breaks one.

invariants.toml declares the invariants. The code names them by their ids.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Final

EXPLAINED = ", where OTHER is the path of that store"
"""Explanation of OTHER in commands that copy files from another store."""
EXPLAINED_HERE = "{where OTHER}"
"""Place of that explanation in an advice of invariants.toml."""
TEXTS = ("expected", "found", "message")
"""Texts of a finding."""


class Severity(StrEnum):
    """Gravity of a finding."""

    ERROR = "error"
    """Messages are lost, wrong or out of reach, or the broker does not start."""
    WARNING = "warning"
    """Anything less, such as what a running or restarting broker repairs by itself."""
    UNFINISHED = "unfinished"
    """An error, but a warning in a store that may be unfinished. No report has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Invariant:
    """Statement that is true of every intact store; see invariants.toml."""

    id: str
    title: str
    requirement: str
    """Id of a clause of the specification."""
    cost: str
    advice: str = "Keep a copy of the store before the broker is started on it."
    severity: Severity = Severity.ERROR
    needs_whole_log: bool = False
    start_repairs: bool = False
    start_rebuilds: Sequence[str] = ()
    expected: str = "{expected}"
    found: str = "{found}"
    message: str = "{file} has {found}; expected: {expected}."


def _declared() -> Iterator[Invariant]:
    """Yield the invariants of invariants.toml, in the order of a report."""
    path = Path(__file__).with_name("invariants.toml")
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    for name, own in tables.items():
        if "title" in own:
            table = {**tables.get(name.rpartition("-")[0], {}), **own}
            table["severity"] = Severity(table.get("severity", Severity.ERROR))
            if "advice" in table:
                table["advice"] = table["advice"].replace(EXPLAINED_HERE, EXPLAINED)
            yield Invariant(id=name, **table)


INVARIANTS: Final[Mapping[str, Invariant]] = {one.id: one for one in _declared()}
"""Every invariant by its id; a broken one may break those behind it."""
_RANKS = {name: rank for rank, name in enumerate(INVARIANTS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Place in a store where an invariant does not hold."""

    invariant: Invariant
    severity: Severity
    file: str
    """Path relative to the store."""
    offset: int
    """Byte position in the file."""
    length: int
    expected: str
    found: str
    message: str
    """One sentence."""
    more: int = 0
    """Similar findings in this file that are not listed."""

    @property
    def directory(self) -> str:
        """Directory of the file, relative to the store."""
        return self.file.rpartition("/")[0] or "the store"

    def as_json(self) -> dict[str, object]:
        """Return the finding for the audit's JSON output; offsets are strings."""
        return {
            "invariant": self.invariant.id,
            "severity": str(self.severity),
            "file": self.file,
            "offset": str(self.offset),
            "length": self.length,
            "expected": self.expected,
            "found": self.found,
            "message": self.message,
            "requirement": self.invariant.requirement,
            "cost": self.invariant.cost,
        }

    def with_more(self, count: int) -> Finding:
        """Return the finding with a note that *count* similar ones are not listed."""
        if not count:
            return self
        text = f"{self.message.rstrip('.')}; {count} more in this file are not listed."
        return replace(self, message=text, more=count)

    def settled(self, *, is_open: bool) -> Finding:
        """Return the finding in a store that may be unfinished, or in a closed one."""
        if self.severity is not Severity.UNFINISHED:
            return self
        return replace(self, severity=Severity.WARNING if is_open else Severity.ERROR)


DAMAGE: Final = ("INV-LOG-001", "INV-LOG-002", "INV-LOG-003", "INV-LOG-004", "INV-FILE")
"""Invariants, or families of them, that a damaged commit log breaks."""
WRONG_NAME: Final = "INV-FILE-001"
"""Invariant of files with a name that no broker writes: the log is intact."""


def is_damage(finding: Finding) -> bool:
    """Return whether *finding* is an error that damages the commit log."""
    return (
        finding.severity is Severity.ERROR
        and finding.file.startswith("commitlog/")
        and finding.invariant.id.startswith(DAMAGE)
        and finding.invariant.id != WRONG_NAME
    )


def is_about_two_stores(finding: Finding) -> bool:
    """Return whether *finding* is a difference from another store."""
    return finding.invariant.id.startswith("INV-AGAINST")


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Return *findings* in report order: errors first, then causes, then places."""

    def rank(finding: Finding) -> tuple[str, bool, int, str, int]:
        cause = _RANKS[finding.invariant.id]
        is_effect = not is_damage(finding)
        return finding.severity, is_effect, cause, finding.file, finding.offset

    return sorted(findings, key=rank)


LISTED_MAX: Final = 50
"""Listed findings of one invariant in one file; further ones are counted."""
