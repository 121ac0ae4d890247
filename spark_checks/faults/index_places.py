"""
Places of a message's items in the index of a generated store.
"""

from __future__ import annotations

from spark_checks.faults.fault import Expected, Site, at_record
from spark_checks.generate.index_part import ITEMS_PER_SLOT, hashes_of, index_file_name
from spark_checks.generate.part import Placed, rounds_of
from spark_checks.generate.plan import BEGAN_AT_MS, ROUND_MS
from spec.store.index_file import HEADER_SIZE, ITEM_SIZE, SLOT_SIZE, item_position


def index_file(site: Site, part: int) -> str:
    """Return the index file of *part*."""
    began_at_ms = BEGAN_AT_MS + part * rounds_of(site.plan) * ROUND_MS
    return f"index/{index_file_name(began_at_ms)}"


def slots_of(site: Site, part: int) -> int:
    """Return the number of slots of the index file of *part*."""
    size = (site.root / index_file(site, part)).stat().st_size
    return (size - HEADER_SIZE) // (SLOT_SIZE + ITEMS_PER_SLOT * ITEM_SIZE)


def item_positions(site: Site, message: Placed) -> list[int]:
    """Return the positions of the items of *message* in its index file."""
    part = message.offset // site.plan.log_size
    number = 1
    for one in site.part(part):
        count = len(list(hashes_of(one.record)))
        if one.offset == message.offset:
            slots = slots_of(site, part)
            return [item_position(number + n, slots) for n in range(count)]
        number += count
    return []


def keys_lost(site: Site, message: Placed) -> list[Expected]:
    """Return the findings if the keys of *message* were changed."""
    file = index_file(site, message.offset // site.plan.log_size)
    items = [
        Expected(finding="INV-INDEX-007", file=file, offset=position)
        for position in item_positions(site, message)
    ]
    return [*items, at_record("INV-INDEX-008", message)]
