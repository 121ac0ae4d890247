"""
Invariants, and findings where a store breaks one.

An invariant has an id, a clause of the specification, and a sentence about its cost for
the operator.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from spec.clause import Clause


class Severity(StrEnum):
    """Gravity of a finding."""

    ERROR = "error"
    """Messages are lost, wrong or out of reach, or the broker does not start."""
    WARNING = "warning"
    """A running or restarting broker repairs this by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Invariant:
    """Statement that is true of every intact store."""

    id: str
    title: str
    requirement: Clause
    cost: str
    """Consequence for messages when the invariant is broken."""


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
            "requirement": self.invariant.requirement.id,
            "cost": self.invariant.cost,
        }

    def with_more(self, count: int) -> Finding:
        """Return the finding with a note that *count* similar ones are not listed."""
        if not count:
            return self
        text = f"{self.message.rstrip('.')}; {count} more in this file are not listed."
        return replace(self, message=text, more=count)


CAUSES: Final = (
    *("INV-AGAINST", "INV-LOG", "INV-FILE", "INV-CONFIG", "INV-CHECK"),
    *("INV-CQ", "INV-EXT", "INV-BATCH", "INV-LIGHT", "INV-OFFSET"),
    *("INV-TXN", "INV-DELAY", "INV-RETRY", "INV-TIMER", "INV-INDEX"),
)
"""Families of invariants: a broken one may break those behind it."""


DAMAGE: Final = ("INV-LOG-001", "INV-LOG-002", "INV-LOG-003", "INV-LOG-004", "INV-FILE")
"""Invariants, or families of them, that a damaged commit log breaks."""
STRAY: Final = "INV-FILE-001"
"""Invariant of files that no store has: the log beside them is intact."""


def is_damage(finding: Finding) -> bool:
    """Return whether *finding* is an error that damages the commit log."""
    return (
        finding.severity is Severity.ERROR
        and finding.file.startswith("commitlog/")
        and finding.invariant.id.startswith(DAMAGE)
        and finding.invariant.id != STRAY
    )


def is_about_two_stores(finding: Finding) -> bool:
    """Return whether *finding* is a difference from another store."""
    return finding.invariant.id.startswith("INV-AGAINST")


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Return *findings* in report order: errors first, then causes, then places."""

    def rank(finding: Finding) -> tuple[str, bool, int, str, str, int]:
        name = finding.invariant.id
        family = name.rpartition("-")[0]
        cause = CAUSES.index(family) if family in CAUSES else len(CAUSES)
        is_effect = not is_damage(finding)
        return finding.severity, is_effect, cause, name, finding.file, finding.offset

    return sorted(findings, key=rank)


LISTED_MAX: Final = 50
"""Listed findings of one invariant in one file; further ones are counted."""
