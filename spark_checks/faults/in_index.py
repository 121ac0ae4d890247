"""
Faults in the slots and items of an index file.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace

from spark_checks.faults.fault import INDEX_PART, Site, at
from spark_checks.faults.fault_list import FaultList, Found
from spark_checks.faults.index_places import IndexPart, item_positions, keys_lost
from spark_checks.generate.part import Placed
from spec.store.index_file import IndexItem, decode_item, encode_item

ITEM_FAULTS = FaultList()
KEY_FAULTS = FaultList()
"""Faults that only the comparison of keys finds."""
_word = struct.Struct(">i")
_SECONDS, _PREVIOUS = 12, 16
"""Positions of these words in an item."""


def _put(
    kind: str,
    description: str,
    number: int,
    finding: str,
    change: Callable[[int], int],
    *,
    byte: int = 0,
    place: Callable[[IndexPart, int], int] = IndexPart.position,
) -> None:
    """Add a fault that changes a word of item *number*, or of its slot."""

    def plant(site: Site) -> Found:
        index = IndexPart(site, INDEX_PART)
        position = place(index, number)
        (value,) = _word.unpack_from(index.data, position + byte)
        site.overwrite(index.file, position + byte, _word.pack(change(value)))
        return [at(finding, index.file, position)]

    ITEM_FAULTS.add(kind, description, plant)


def _slot(
    kind: str, description: str, number: int, change: Callable[[int], int]
) -> None:
    """Add a fault that changes the slot of item *number*."""
    place = IndexPart.slot_position
    _put(kind, description, number, "INV-INDEX-003", change, place=place)


def _previous(kind: str, description: str, number: int, value: int) -> None:
    """Add a fault that makes item *number* name another item."""
    finding = "INV-INDEX-004"
    _put(kind, description, number, finding, lambda _: value, byte=_PREVIOUS)


def _seconds(
    kind: str,
    description: str,
    number: int,
    change: Callable[[int], int],
    finding: str = "INV-INDEX-009",
) -> None:
    """Add a fault that changes the seconds of item *number*."""
    _put(kind, description, number, finding, change, byte=_SECONDS)


_slot("index-slot-zero", "a slot of zeros", 20, lambda _: 0)
_slot("index-slot-older", "a slot that names an older item", 40, lambda n: n - 1)
_slot("index-slot-past", "a slot past the items", 60, lambda n: n + (1 << 20))
_previous("index-chain-cut", "an end of a chain", 120, -1)
_previous("index-chain-circle", "an item naming itself", 140, 140)
_seconds("index-seconds", "seconds too many", 160, lambda _: 1 << 30, "INV-INDEX-005")
_seconds(
    "index-seconds-negative", "seconds below 0", 180, lambda _: -9, "INV-INDEX-005"
)
_seconds("index-seconds-early", "seconds of the file's begin", 80, lambda _: 0)
_seconds("index-seconds-late", "seconds of a later record", 100, lambda n: n + 24)


@ITEM_FAULTS.planting("index-hash", "a negative hash")
def _negative_hash(site: Site) -> Found:
    """Write a negative hash into an item, which moves it to another chain."""
    number, before = 200, IndexPart(site, INDEX_PART)
    position, chains = before.position(number), _chains(before)
    site.overwrite(before.file, position, _word.pack(-7))
    index = IndexPart(site, INDEX_PART)
    after = _chains(index)
    also = [
        at("INV-INDEX-004" if is_item else "INV-INDEX-003", index.file, place)
        for (is_item, place), named in after.items()
        if chains.get((is_item, place), 0) != named
    ]
    also += [  # slots without items now
        at("INV-INDEX-003", index.file, place)
        for is_item, place in chains
        if (is_item, place) not in after
    ]
    also.append(at("INV-INDEX-007", index.file, position))
    also.append(keys_lost(site, _message_of(site, index, number))[-1])
    return [at("INV-INDEX-006", index.file, position), *also]


def _message_of(site: Site, index: IndexPart, number: int) -> Placed:
    """Return the message that item *number* points at."""
    offset = index.item(number).commit_log_offset
    return next(m for m in site.part(INDEX_PART) if m.offset == offset)


def _key(
    kind: str,
    description: str,
    number: int,
    change: Callable[[Site, Placed, IndexPart, IndexItem], IndexItem],
) -> None:
    """Add a fault that changes the first item of the message of item *number*."""

    def plant(site: Site) -> Found:
        index = IndexPart(site, INDEX_PART)
        hit = _message_of(site, index, number)
        position = item_positions(site, hit)[0]
        item = decode_item(index.data[position:])
        changed = change(site, hit, index, item)
        site.overwrite(index.file, position, encode_item(changed))
        return [at("INV-INDEX-007", index.file, position), keys_lost(site, hit)[-1]]

    KEY_FAULTS.add(kind, description, plant)


def _of_next(site: Site, hit: Placed, _index: IndexPart, item: IndexItem) -> IndexItem:
    """Make *item* point at the record behind its own."""
    messages = site.part(INDEX_PART)
    return replace(item, commit_log_offset=messages[messages.index(hit) + 1].offset)


def _of_middle(
    _site: Site, hit: Placed, _index: IndexPart, item: IndexItem
) -> IndexItem:
    """Make *item* point into the middle of its record."""
    return replace(item, commit_log_offset=hit.offset + 8)


def _of_other_key(
    _site: Site, _hit: Placed, index: IndexPart, item: IndexItem
) -> IndexItem:
    """Return *item* with the hash of another key of the same slot."""
    code, slots = item.key_hash, index.slots
    return replace(item, key_hash=code - slots if code >= slots else code + slots)


_key("index-of-other", "an item of another record", 220, _of_next)
_key("index-of-nothing", "an item of no record", 240, _of_middle)
_key("index-other-key", "an item of another key", 260, _of_other_key)


@KEY_FAULTS.planting("index-no-key", "a key without an item")
def _no_key(site: Site) -> Found:
    """Replace an item by a copy of another of its slot, so that its key is missing."""
    index = IndexPart(site, INDEX_PART)
    items = {number: index.item(number) for number in range(280, index.count)}
    number, other = next(
        (number, item.previous_item)
        for number, item in items.items()
        if item.previous_item in items
    )
    hit = _message_of(site, index, number)
    begin = index.position(other)
    copied = index.data[begin : begin + _SECONDS]
    site.overwrite(index.file, index.position(number), copied)
    return keys_lost(site, hit)[-1:]


def _chains(index: IndexPart) -> dict[tuple[bool, int], int]:
    """Return the item number that every item and used slot should name, by place."""
    named: dict[tuple[bool, int], int] = {}
    last: dict[int, int] = {}
    for number in range(1, index.count):
        slot = index.slot_position(number)
        named[True, index.position(number)] = last.get(slot, 0)
        last[slot] = number
    return named | {(False, slot): number for slot, number in last.items()}
