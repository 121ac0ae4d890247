"""
Findings of one cause as one group with a count.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from spark_checks.findings import Finding
from spark_checks.report.start_forecast import number_of

DIRECTORIES_MAX = 3
"""Directories of one invariant that have groups of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingGroup:
    """Findings of one invariant in one directory, or in many."""

    findings: tuple[Finding, ...]

    @property
    def first(self) -> Finding:
        """The first finding."""
        return self.findings[0]

    @property
    def count(self) -> int:
        """Number of findings, with those that are not listed."""
        return sum(1 + one.more for one in self.findings)

    @property
    def message(self) -> str:
        """The finding, or their number and the first."""
        if self.count == 1:
            return self.first.message
        total = number_of(self.count, "finding")
        directories = {one.directory for one in self.findings}
        place = self.first.directory
        if len(directories) > 1:
            place = f"{len(directories)} directories"
        return f"{total} in {place}, the first: {self.first.message}"

    def as_json(self) -> dict[str, object]:
        """Return the group for the audit's JSON output."""
        return {
            "invariant": self.first.invariant.id,
            "severity": str(self.first.severity),
            "count": self.count,
            "file": self.first.file,
            "offset": str(self.first.offset),
            "message": self.message,
        }


def groups_of(findings: Iterable[Finding]) -> list[FindingGroup]:
    """Return *findings* by severity and invariant, in their order.

    They are grouped by directory too, if the directories are few.
    """
    kinds: dict[tuple[str, str], dict[str, list[Finding]]] = {}
    for one in findings:
        places = kinds.setdefault((str(one.severity), one.invariant.id), {})
        places.setdefault(one.directory, []).append(one)
    found: list[list[Finding]] = []
    for places in kinds.values():
        if len(places) <= DIRECTORIES_MAX:
            found += places.values()
        else:
            found.append([one for group in places.values() for one in group])
    return [FindingGroup(findings=tuple(group)) for group in found]
