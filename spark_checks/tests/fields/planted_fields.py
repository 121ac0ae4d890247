"""Wrong values in fields of a store, and the findings of an audit that explain them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from spark_checks.faults.fault import Expected
from spark_checks.findings import Finding
from spark_checks.tests.building import overwrite
from spark_checks.tests.fields.field_table import Outcome, Wrong, field_table


class Detection(StrEnum):
    """Detection of a wrong value by an audit."""

    ALWAYS = "always"
    SOMETIMES = "sometimes"
    NEVER = "never"


class Position(StrEnum):
    """Place of a structure among those of its queue or file."""

    FIRST = "first"
    MIDDLE = "middle"
    LAST = "last"


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldFault:
    """Wrong value for a field of a structure."""

    structure: str
    field: str
    wrong: Wrong
    position: Position

    @property
    def outcome(self) -> Outcome:
        """The table's outcome for the fault."""
        return field_table()[self.structure][self.field].outcome(self.wrong)

    @property
    def detection(self) -> Detection:
        """Whether an audit detects the fault."""
        if not self.outcome.findings:
            return Detection.NEVER
        return Detection.ALWAYS if self.outcome.is_certain else Detection.SOMETIMES

    def __str__(self) -> str:
        return f"{self.structure}.{self.field} {self.wrong} {self.position}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedField:
    """Fault in a copy of a store."""

    fault: FieldFault
    file: str
    offset: int
    """Begin of the wrong field."""
    data: bytes
    right: bytes
    """Bytes of the field before."""
    expected: tuple[Expected, ...]
    """Possible findings; an audit has one of them if the fault is certain."""


def missed_faults(
    sheet: Iterable[PlantedField], findings: Iterable[Finding]
) -> list[PlantedField]:
    """Return the certain faults of *sheet* that *findings* do not contain."""
    found = _places(findings)
    return [
        one
        for one in sheet
        if one.fault.detection is Detection.ALWAYS
        and not found.intersection(one.expected)
    ]


def unexplained_findings(
    sheet: Iterable[PlantedField], findings: Iterable[Finding]
) -> list[Finding]:
    """Return the *findings* of invariants that no fault of *sheet* breaks."""
    possible = {known for one in sheet for known in one.fault.outcome.findings}
    return [one for one in findings if one.invariant.id not in possible]


def _places(findings: Iterable[Finding]) -> set[Expected]:
    return {
        Expected(finding=one.invariant.id, file=one.file, offset=one.offset)
        for one in findings
    }


@contextmanager
def planted(root: Path, sheet: Iterable[PlantedField]) -> Iterator[None]:
    """Write the faults of *sheet* into the store at *root*, and remove them after."""
    faults = list(sheet)
    for one in faults:
        overwrite(root, one.file, one.offset, one.data)
    try:
        yield
    finally:
        for one in faults:
            overwrite(root, one.file, one.offset, one.right)
