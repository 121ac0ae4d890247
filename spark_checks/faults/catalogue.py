"""Catalogue of all faults, and their distribution over stores."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from spark_checks.faults import in_files, in_index, in_queues, in_records
from spark_checks.faults.fault import Fault, Plant, Planted
from spark_checks.faults.field_faults import WrongField
from spark_checks.faults.site import Site
from spark_checks.generate.plan import Plan

PATH = Path(__file__).with_name("faults.toml")
_FUNCTIONS: Mapping[str, Plant] = {
    name.replace("_", "-"): value
    for module in (in_files, in_index, in_queues, in_records)
    for name, value in vars(module).items()
}
"""Functions that plant a fault, among others, by the name of its kind."""


def _declared() -> Iterator[Fault]:
    """Yield the faults of faults.toml, those with a wrong field first."""
    tables = tomllib.loads(PATH.read_text(encoding="utf-8"))
    every = [(subject, one) for subject, some in tables.items() for one in some]
    for subject, group in sorted(every, key=lambda one: "structure" not in one[1]):
        for kind, own in group.pop("faults").items():
            members = {**group, **own}
            about, claims = members.pop("about"), members.pop("claims", ())
            is_field = "structure" in group
            yield Fault(
                kind=kind,
                subject=subject,
                description=about,
                plant=WrongField(**members).plant if is_field else _FUNCTIONS[kind],
                claims=frozenset(claims),
            )


CATALOGUE: Mapping[str, Fault] = {fault.kind: fault for fault in _declared()}
"""Every fault by the name of its kind."""


def sheets(kinds: Iterable[str] = CATALOGUE) -> list[list[str]]:
    """Return *kinds* in few lists, each without conflicts.

    Faults of rich stores need stores of their own, and come last.
    """
    found: list[list[Fault]] = []
    for fault in sorted(
        (CATALOGUE[kind] for kind in kinds), key=lambda one: one.is_rich
    ):
        for sheet in found:
            is_alike = sheet[0].is_rich is fault.is_rich
            if is_alike and not any(one.claims & fault.claims for one in sheet):
                sheet.append(fault)
                break
        else:
            found.append([fault])
    return [[fault.kind for fault in sheet] for sheet in found]


def plant_all(root: Path, plan: Plan, kinds: Iterable[str]) -> list[Planted]:
    """Plant *kinds*, of one sheet, into the store of *plan* at *root*."""
    site = Site(root=root, plan=plan)
    return [CATALOGUE[kind].planted(site) for kind in kinds]
