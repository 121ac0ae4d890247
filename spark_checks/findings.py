"""
A finding is one place in a store that is not as an invariant says.

An invariant has an id of its own, the clause of the specification that it rests
on, and a sentence for the operator: what it costs. The sentence of the clause is
not repeated here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from spec.clause import Clause


class Severity(StrEnum):
    """How bad a finding is."""

    ERROR = "error"
    """Messages are lost, wrong or out of reach, or the broker does not start."""
    WARNING = "warning"
    """A broker that runs, or starts again, puts this right by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Invariant:
    """Something that is true of every whole store."""

    id: str
    title: str
    requirement: Clause
    cost: str
    """What it means for messages when it is not true."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A place where an invariant does not hold."""

    invariant: Invariant
    severity: Severity
    file: str
    """Relative to the store."""
    offset: int
    """Byte position in the file."""
    length: int
    expected: str
    found: str
    message: str
    """One sentence."""

    def as_json(self) -> dict[str, object]:
        """Return the finding as the audit's output has it; offsets are strings."""
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
        """Return the finding, saying that *count* more like it are not listed."""
        if not count:
            return self
        text = f"{self.message.rstrip('.')}; {count} more in this file are not listed."
        return replace(self, message=text)


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Return *findings* as they are listed: errors first, by invariant and place."""
    return sorted(
        findings, key=lambda f: (f.severity, f.invariant.id, f.file, f.offset)
    )


FINDING_COLUMNS: Final = (
    "severity string, file string, offset bigint, length bigint, "
    "expected string, found string, message string"
)
"""What a row-level invariant returns, in the words of Spark's schemas."""
LISTED_MAX: Final = 50
"""Findings of one invariant in one file that are listed; the rest is counted."""
