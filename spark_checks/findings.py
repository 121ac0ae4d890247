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
        return replace(self, message=text)


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Return *findings* in report order: errors first, by invariant and place."""
    return sorted(
        findings, key=lambda f: (f.severity, f.invariant.id, f.file, f.offset)
    )


FINDING_COLUMNS: Final = (
    "severity string, file string, offset bigint, length bigint, "
    "expected string, found string, message string"
)
"""Columns of the rows that a check returns, as a Spark schema."""
LISTED_MAX: Final = 50
"""Listed findings of one invariant in one file; further ones are counted."""
