"""Kinds of faults, and the findings that are expected of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from msgspec import Struct
from msgspec.structs import asdict

from spark_checks.faults.places import Place
from spark_checks.faults.site import Site
from spark_checks.generate.part import Placed

RICH_SUBJECTS = ("rich", "pops")
"""Subjects whose faults need a rich store."""


class Expected(Struct, frozen=True, kw_only=True):
    """Required or allowed finding."""

    finding: str
    """Id of the invariant."""
    file: str
    offset: int

    @property
    def place(self) -> str:
        """The invariant with its place, as a report has both."""
        return f"{self.finding}  {self.file} @ {self.offset}"


class Planted(Expected, frozen=True, kw_only=True):
    """Fault in a store, with its required finding."""

    kind: str
    also: tuple[Expected, ...] = ()
    """Allowed findings about consequences."""

    @property
    def expected(self) -> Expected:
        """The required finding alone."""
        return Expected(finding=self.finding, file=self.file, offset=self.offset)


Found = Sequence[Expected]
"""The required finding, then allowed ones about consequences."""
Plant = Callable[[Site], Found]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Kind of fault."""

    kind: str
    subject: str
    description: str
    """Short description of the fault."""
    plant: Plant
    claims: frozenset[str] = frozenset()
    """Names of places that no other fault of the store may touch."""

    @property
    def is_rich(self) -> bool:
        """Whether the fault needs a rich store."""
        return self.subject in RICH_SUBJECTS

    def planted(self, site: Site) -> Planted:
        """Plant the fault and return the expected findings."""
        expected, *also = self.plant(site)
        return Planted(kind=self.kind, also=tuple(also), **asdict(expected))


def at(finding: str, place: Place) -> Expected:
    """Return a finding at a byte of a file."""
    return Expected(finding=finding, file=place[0], offset=place[1])


def at_record(finding: str, message: Placed) -> Expected:
    """Return a finding at the record of *message*."""
    return at(finding, message.record_place)


def at_unit(finding: str, message: Placed) -> Expected:
    """Return a finding at the unit of *message*."""
    return at(finding, message.unit_place)
