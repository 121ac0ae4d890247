"""
Faults in the slots and items of an index file.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from spark_checks.faults.fault import Expected, Fault, Site
from spark_checks.faults.in_files import index_file
from spark_checks.generate.index_part import ITEMS_PER_SLOT
from spec.store.index_file import (
    HEADER_SIZE,
    ITEM_SIZE,
    SLOT_SIZE,
    decode_header,
    decode_item,
    item_position,
    slot_position,
)

Found = tuple[Expected, Sequence[Expected]]
PART = 1
"""The index file that is harmed; the headers of others are."""
_SECONDS, _PREVIOUS = 12, 16
"""Where these words stand in an item."""


def _slots(site: Site) -> int:
    size = (site.root / index_file(site, PART)).stat().st_size
    return (size - HEADER_SIZE) // (SLOT_SIZE + ITEMS_PER_SLOT * ITEM_SIZE)


def _put(site: Site, position: int, value: int) -> None:
    site.overwrite(index_file(site, PART), position, struct.pack(">i", value))


def _item(
    kind: str, says: str, number: int, at: int, finding: str, value: int
) -> Fault:
    """Return a fault that puts *value* into a word of item *number*."""

    def plant(site: Site) -> Found:
        position = item_position(number, _slots(site))
        _put(site, position + at, value)
        return _expected(finding, site, position), ()

    return Fault(kind=kind, says=says, plant=plant)


def _slot(kind: str, says: str, number: int, change: Callable[[int], int]) -> Fault:
    """Return a fault that changes the slot of item *number*."""

    def plant(site: Site) -> Found:
        slots = _slots(site)
        data = (site.root / index_file(site, PART)).read_bytes()
        item = decode_item(data[item_position(number, slots) :])
        position = slot_position(item.key_hash, slots)
        _put(site, position, change(int.from_bytes(data[position : position + 4])))
        return _expected("INV-INDEX-003", site, position), ()

    return Fault(kind=kind, says=says, plant=plant)


def _expected(finding: str, site: Site, position: int) -> Expected:
    return Expected(finding=finding, file=index_file(site, PART), offset=position)


def _negative_hash(site: Site) -> Found:
    """Give an item another hash: it leaves one chain and stands in another."""
    slots, number = _slots(site), 200
    before = _chains(site)
    position = item_position(number, slots)
    _put(site, position, -7)
    after = _chains(site)
    also = [
        _expected("INV-INDEX-004" if is_item else "INV-INDEX-003", site, place)
        for (is_item, place), named in after.items()
        if before.get((is_item, place), 0) != named
    ]
    also += [  # slots that have lost their only item
        _expected("INV-INDEX-003", site, place)
        for is_item, place in before
        if (is_item, place) not in after
    ]
    return _expected("INV-INDEX-006", site, position), also


def _chains(site: Site) -> dict[tuple[bool, int], int]:
    """Return what every item, and every slot in use, should name, by its place."""
    slots = _slots(site)
    data = (site.root / index_file(site, PART)).read_bytes()
    named: dict[tuple[bool, int], int] = {}
    last: dict[int, int] = {}
    for number in range(1, decode_header(data).index_count):
        position = item_position(number, slots)
        slot = slot_position(decode_item(data[position:]).key_hash, slots)
        named[True, position] = last.get(slot, 0)
        last[slot] = number
    return named | {(False, slot): number for slot, number in last.items()}


ITEM_FAULTS: tuple[Fault, ...] = (
    _slot("index-slot-zero", "a slot of zeros", 20, lambda _: 0),
    _slot("index-slot-older", "a slot that names an older item", 40, lambda n: n - 1),
    _slot("index-slot-past", "a slot past the items", 60, lambda n: n + (1 << 20)),
    _item("index-chain-cut", "an end of a chain", 120, _PREVIOUS, "INV-INDEX-004", -1),
    _item(
        "index-chain-circle",
        "an item naming itself",
        140,
        _PREVIOUS,
        "INV-INDEX-004",
        140,
    ),
    _item("index-seconds", "seconds too many", 160, _SECONDS, "INV-INDEX-005", 1 << 30),
    _item(
        "index-seconds-negative", "seconds below 0", 180, _SECONDS, "INV-INDEX-005", -9
    ),
    Fault(kind="index-hash", says="a negative hash", plant=_negative_hash),
)
