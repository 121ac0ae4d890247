"""
Recorded runs on mutants: one line for each mutant, with its provenance.

A row belongs to one fault. It becomes *stale* when the mutant's edit or its clauses
change. The mutant's sentence and its issues may change without a new run.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock

from conformance.harness.report.outcome import Outcome
from conformance.harness.targets.started.embedded import SOURCES
from conformance.interop.tools.cell_file import read_cells, write_cells
from conformance.mutants.matrix import Kill
from conformance.mutants.mutant import Mutant, all_mutants
from conformance.mutants.texts import golden_of, is_as_golden, keep_golden

FILE = SOURCES / "fixtures" / "mutants" / "kills.json"
"""Recorded rows, one for each line."""
DIGEST_SIZE = 16
"""Hexadecimal digits of a fault's digest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Outcome of a run on one mutant."""

    name: str
    """The mutant's id."""
    fault: str
    """The digest of the fault that the run was made on."""
    outcomes: Mapping[str, str]
    """Outcome of each clause of the mutant."""
    at: str
    """End of the run."""
    duration_s: float

    def as_json(self) -> Mapping[str, object]:
        """Return it as it is recorded."""
        return asdict(self)

    @classmethod
    def from_json(cls, shown: dict[str, Any]) -> Row:
        """Return the row that was recorded so."""
        return cls(**shown)

    @property
    def failed(self) -> tuple[str, ...]:
        """Clauses that failed, as they must."""
        return tuple(
            n for n, outcome in self.outcomes.items() if outcome == Outcome.FAIL
        )

    @property
    def missed(self) -> tuple[str, ...]:
        """Clauses that did not fail."""
        return tuple(name for name in self.outcomes if name not in self.failed)

    def is_of(self, fault: Mutant) -> bool:
        """Return whether the run was made on this very fault."""
        return self.name == fault.id and self.fault == digest(fault)

    def kills(self, fault: Mutant) -> bool:
        """Return whether every clause of this fault failed."""
        return self.is_of(fault) and not self.missed


def digest(fault: Mutant) -> str:
    """Return the digest of the fault: its edit and its clauses."""
    parts = (fault.file, fault.find, fault.replace, *fault.caught_by)
    text = "\0".join(parts).encode()
    return hashlib.sha256(text).hexdigest()[:DIGEST_SIZE]


def recorded(file: Path = FILE) -> dict[str, Row]:
    """Return the rows that *file* holds, by mutant; none if there is no file."""
    return read_cells(file, Row.from_json)


def without_kill(
    faults: Mapping[str, Mutant], rows: Mapping[str, Row]
) -> dict[str, Mutant]:
    """Return those of *faults* of which *rows* do not show that they are killed."""
    return {
        name: fault
        for name, fault in faults.items()
        if name not in rows or not rows[name].kills(fault)
    }


def keep(row: Row, file: Path) -> None:
    """Write *row* into *file*, in place of an older one; drop those of no mutant."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(_lock_of(file)):
        rows = {**recorded(file), row.name: row}
        there = [rows[name] for name in all_mutants() if name in rows]
        write_cells(rows, file, order=there)


def _lock_of(file: Path) -> Path:
    """Return the lock of *file*, which several runs may add to at a time."""
    name = hashlib.sha256(str(file.resolve()).encode()).hexdigest()[:DIGEST_SIZE]
    return Path(tempfile.gettempdir()) / f"rmqc-kills-{name}.lock"


def keep_each(kills: Iterable[Kill], file: Path, *, count: int) -> Iterator[str]:
    """Keep each of *count* kills as it comes, its text too, and yield a line of it."""
    for number, kill in enumerate(kills, start=1):
        if kill.outcomes and not kill.could_not_be_seen:
            keep(row_of(kill), file)
            if kill.caught and golden_of(kill) is None:
                keep_golden(kill)
        yield f"{number} of {count}: {kill.mutant.id}: {_summary(kill)}"


def row_of(kill: Kill) -> Row:
    """Return the row of a run that has just ended."""
    return Row(
        name=kill.mutant.id,
        fault=digest(kill.mutant),
        outcomes={
            name: str(kill.outcomes.get(name, "not run"))
            for name in kill.mutant.caught_by
        },
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        duration_s=round(kill.duration_s, 1),
    )


def _summary(kill: Kill) -> str:
    if not kill.outcomes:
        last = (kill.output.strip().splitlines() or ["no output"])[-1]
        return f"left for the next run: this one broke: {last}"
    if kill.could_not_be_seen:
        return "left for a machine with the privileges that it needs"
    if kill.missed:
        return f"NOT DETECTED by {' '.join(kill.missed)}"
    other = "" if is_as_golden(kill) else ", ITS TEXT DIFFERS"
    named = " ".join(kill.mutant.caught_by)
    return f"killed by {named}, {kill.duration_s:.0f} s{other}"
