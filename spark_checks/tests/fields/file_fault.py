"""
Fault of a whole file, a page or a setting, in any small store of a real broker.

Unlike the faults of single fields, these are not generated from the layouts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """File and offset of the finding about a fault."""

    file: str = ""
    """Path relative to the store; empty if the finding is in another file."""
    offset: int | None = None
    """None if the place within the file follows from the records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFault:
    """Fault in files of a store."""

    kind: str
    description: str
    plant: Callable[[Path], Place]
    """Plants the fault into the store at a path; returns the place of its finding."""
    findings: tuple[str, ...] = ()
    """Ids of invariants, of which one reports the fault; empty if none does."""
    severity: str = "error"
    needs_rows: bool = False
    """Whether only the comparison of rows finds the place; the survey detects it."""
    why: str = ""
    """Reason why no audit detects the fault, or not in every store."""


def file_fault_rows(faults: tuple[FileFault, ...]) -> list[str]:
    """Return *faults* as rows of Markdown."""
    return [
        f"| `{one.kind}` | {one.description} | {found} | {one.why} |"
        for one in faults
        for found in [" or ".join(one.findings)]
    ]
