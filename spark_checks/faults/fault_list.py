"""
Kinds of faults: how to plant each into a generated store, and the expected findings.

Most faults flip bits of one byte, or change one record. Others have a function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from spark_checks.faults.fault import (
    Change,
    Expected,
    Planted,
    Site,
    at,
    at_record,
)
from spark_checks.generate.part import Placed
from spark_checks.generate.rounds import Kind

Found = Sequence[Expected]
"""The required finding, then allowed ones about consequences."""
Plant = Callable[[Site], Found]
Place = tuple[str, int]
"""A file and a position in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Kind of fault."""

    kind: str
    description: str
    """Short description of the fault."""
    plant: Plant
    claims: frozenset[str] = frozenset()
    """Names of places that no other fault of the store may touch."""
    is_rich: bool = False
    """Whether the fault needs a rich store."""

    def planted(self, site: Site) -> Planted:
        """Plant the fault and return the expected findings."""
        expected, *also = self.plant(site)
        return Planted(kind=self.kind, expected=expected, also=tuple(also))


def record_place(message: Placed) -> Place:
    """Return the place of the record of *message*."""
    return message.log_file, message.position


def unit_place(message: Placed) -> Place:
    """Return the place of the unit of *message*."""
    return message.queue_file, message.unit_position


def _no_others(_site: Site, _message: Placed) -> Iterable[Expected]:
    return ()


class FaultList(list[Fault]):
    """Faults of one subject, in the order of their definition."""

    def __init__(self, *, is_rich: bool = False) -> None:
        super().__init__()
        self._is_rich = is_rich

    def add(self, kind: str, description: str, plant: Plant, *claims: str) -> None:
        """Add a fault that the function *plant* plants."""
        self.append(
            Fault(
                kind=kind,
                description=description,
                plant=plant,
                claims=frozenset(claims),
                is_rich=self._is_rich,
            )
        )

    def planting(
        self, kind: str, description: str, *claims: str
    ) -> Callable[[Plant], Plant]:
        """Add the fault that the decorated function plants."""

        def decorate(plant: Plant) -> Plant:
            self.add(kind, description, plant, *claims)
            return plant

        return decorate

    def flip(
        self,
        kind: str,
        description: str,
        finding: str,
        byte: int | Callable[[Placed], int],
        *,
        bits: int = 1,
        place: Callable[[Placed], Place] = record_place,
        hit: Kind = Kind.ORDINARY,
        also: Callable[[Site, Placed], Iterable[Expected]] = _no_others,
    ) -> None:
        """Add a fault that flips *bits* of a byte behind the *place* of a message.

        It is found at that place.
        """

        def plant(site: Site) -> Found:
            message = site.take(hit)
            file, position = place(message)
            offset = byte if isinstance(byte, int) else byte(message)
            site.flip(file, position + offset, bits)
            return [at(finding, file, position), *also(site, message)]

        self.add(kind, description, plant)

    def change(
        self,
        kind: str,
        description: str,
        finding: str,
        change: Change,
        *claims: str,
        hit: Kind = Kind.ORDINARY,
        found: Kind | None = None,
        also: Iterable[tuple[str, Kind]] = (),
    ) -> None:
        """Add a fault that changes a record of kind *hit*.

        It is found at that record, or at the one of kind *found* in its round.
        """

        def plant(site: Site) -> Found:
            messages = site.take_kinds()
            site.change(messages[hit], change)
            more = [at_record(name, messages[one]) for name, one in also]
            return [at_record(finding, messages[found or hit]), *more]

        self.add(kind, description, plant, *claims)
