"""Faults of index items that depend on other items or messages."""

from __future__ import annotations

import struct
from dataclasses import replace

from spark_checks.faults.fault import Found, at, at_record
from spark_checks.faults.places import IndexPart, item_places
from spark_checks.faults.site import INDEX_PART, Site
from spec.store.index_file import encode_item

_SAME_ITEM_SIZE = 12
"""Bytes of an item before those that depend on its place."""


def index_hash(site: Site) -> Found:
    """Write a negative hash into an item, which moves it to another chain."""
    number, before = 200, IndexPart(site)
    place, chains = (before.file, before.position(number)), _chains(before)
    message = before.message_of(number)
    site.overwrite(place, struct.pack(">i", -7))
    after = _chains(IndexPart(site))
    also = [  # slots may have no items now
        at("INV-INDEX-004" if one[0] else "INV-INDEX-003", (before.file, one[1]))
        for one in {**after, **chains}
        if chains.get(one, 0) != after.get(one)
    ]
    also += [at("INV-INDEX-007", place), at_record("INV-INDEX-008", message)]
    return [at("INV-INDEX-006", place), *also]


def index_of_other(site: Site) -> Found:
    """Make an item point at the record behind its own."""
    index, messages = IndexPart(site), site.part(INDEX_PART)
    hit = index.message_of(220)
    place = item_places(site, hit)[0]
    offset = messages[messages.index(hit) + 1].offset
    site.overwrite((place[0], place[1] + 4), struct.pack(">q", offset))
    return [at("INV-INDEX-007", place), at_record("INV-INDEX-008", hit)]


def index_other_key(site: Site) -> Found:
    """Give an item the hash of another key of the same slot."""
    number, index = 260, IndexPart(site)
    item, place = index.item(number), (index.file, index.position(number))
    by = -index.slots if item.key_hash >= index.slots else index.slots
    site.overwrite(place, encode_item(replace(item, key_hash=item.key_hash + by)))
    hit = index.message_of(number)
    return [at("INV-INDEX-007", place), at_record("INV-INDEX-008", hit)]


def index_no_key(site: Site) -> Found:
    """Replace an item by a copy of another of its slot, so that its key is missing."""
    index = IndexPart(site)
    items = {number: index.item(number) for number in range(280, index.count)}
    number, other = next(
        (number, item.previous_item)
        for number, item in items.items()
        if item.previous_item in items
    )
    begin = index.position(other)
    copied = index.data[begin : begin + _SAME_ITEM_SIZE]
    site.overwrite((index.file, index.position(number)), copied)
    return [at_record("INV-INDEX-008", index.message_of(number))]


def _chains(index: IndexPart) -> dict[tuple[bool, int], int]:
    """Return the item number that every item and used slot should name, by place."""
    named: dict[tuple[bool, int], int] = {}
    last: dict[int, int] = {}
    for number in range(1, index.count):
        slot = index.slot_position(number)
        named[True, index.position(number)] = last.get(slot, 0)
        last[slot] = number
    return named | {(False, slot): number for slot, number in last.items()}
