"""
Catalogue of all faults, and their distribution over stores.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from spark_checks.faults.fault import Planted, Site
from spark_checks.faults.fault_list import Fault
from spark_checks.faults.in_files import (
    CHECKPOINT_FAULTS,
    CONFIG_FAULTS,
    HEADER_FAULTS,
    LOG_FAULTS,
)
from spark_checks.faults.in_index import ITEM_FAULTS, KEY_FAULTS
from spark_checks.faults.in_pops import POP_FAULTS
from spark_checks.faults.in_queues import QUEUE_FAULTS
from spark_checks.faults.in_records import RECORD_FAULTS
from spark_checks.faults.in_rich import RICH_FAULTS
from spark_checks.faults.in_system_topics import SYSTEM_TOPIC_FAULTS
from spark_checks.generate.plan import Plan

CATALOGUE: Mapping[str, Fault] = {
    fault.kind: fault
    for fault in (
        *RECORD_FAULTS,
        *QUEUE_FAULTS,
        *LOG_FAULTS,
        *HEADER_FAULTS,
        *ITEM_FAULTS,
        *KEY_FAULTS,
        *SYSTEM_TOPIC_FAULTS,
        *CHECKPOINT_FAULTS,
        *CONFIG_FAULTS,
        *RICH_FAULTS,
        *POP_FAULTS,
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
    claimed: list[set[str]] = []
    for kind in kinds:
        claims = CATALOGUE[kind].claims
        place = next(
            (n for n, taken in enumerate(claimed) if not taken & claims), len(found)
        )
        if place == len(found):
            found.append([])
            claimed.append(set())
        found[place].append(kind)
        claimed[place] |= claims
    return found


def plant_all(root: Path, plan: Plan, kinds: Iterable[str]) -> list[Planted]:
    """Plant *kinds*, of one sheet, into the store of *plan* at *root*."""
    site = Site(root=root, plan=plan)
    return [CATALOGUE[kind].planted(site) for kind in kinds]
