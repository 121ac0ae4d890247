"""
Catalogue of all faults, and their distribution over stores.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from spark_checks.faults.fault import Fault, Planted
from spark_checks.faults.field_faults import field_faults
from spark_checks.faults.in_files import FILE_FAULTS
from spark_checks.faults.in_index import INDEX_FAULTS
from spark_checks.faults.in_queues import QUEUE_FAULTS, RICH_FAULTS
from spark_checks.faults.in_records import RECORD_FAULTS
from spark_checks.faults.in_system_topics import SYSTEM_TOPIC_FAULTS
from spark_checks.faults.site import Site
from spark_checks.generate.plan import Plan

CATALOGUE: Mapping[str, Fault] = {
    fault.kind: fault
    for fault in (
        *field_faults(),
        *RECORD_FAULTS,
        *QUEUE_FAULTS,
        *FILE_FAULTS,
        *INDEX_FAULTS,
        *SYSTEM_TOPIC_FAULTS,
        *RICH_FAULTS,
    )
}
"""Every fault by the name of its kind."""


def sheets(kinds: Iterable[str] = CATALOGUE) -> list[list[str]]:
    """Return *kinds* in few lists, each without conflicts.

    Faults of rich stores need stores of their own, and come last.
    """
    every = list(kinds)
    return [
        *_together([kind for kind in every if not CATALOGUE[kind].is_rich]),
        *_together([kind for kind in every if CATALOGUE[kind].is_rich]),
    ]


def _together(kinds: Iterable[str]) -> list[list[str]]:
    found: list[list[str]] = []
    for kind in kinds:
        for sheet in found:
            if not any(CATALOGUE[one].claims & CATALOGUE[kind].claims for one in sheet):
                sheet.append(kind)
                break
        else:
            found.append([kind])
    return found


def plant_all(root: Path, plan: Plan, kinds: Iterable[str]) -> list[Planted]:
    """Plant *kinds*, of one sheet, into the store of *plan* at *root*."""
    site = Site(root=root, plan=plan)
    return [CATALOGUE[kind].planted(site) for kind in kinds]
