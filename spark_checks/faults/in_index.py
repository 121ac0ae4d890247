"""
Faults in the slots and items of an index file.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from spark_checks.faults.fault import INDEX_PART, Expected, Fault, Site
from spark_checks.faults.index_places import (
    index_file,
    item_positions,
    keys_lost,
    slots_of,
)
from spark_checks.generate.part import Placed
from spec.store.index_file import (
    decode_header,
    decode_item,
    item_position,
    slot_position,
)

Found = tuple[Expected, Sequence[Expected]]
_SECONDS, _PREVIOUS = 12, 16
"""Positions of these words in an item."""


def _put(site: Site, position: int, value: int) -> None:
    site.overwrite(index_file(site, INDEX_PART), position, struct.pack(">i", value))


def _item(
    kind: str, description: str, number: int, at: int, finding: str, value: int
) -> Fault:
    """Return a fault that puts *value* into a word of item *number*."""

    def plant(site: Site) -> Found:
        position = item_position(number, slots_of(site, INDEX_PART))
        _put(site, position + at, value)
        return _expected(finding, site, position), ()

    return Fault(kind=kind, description=description, plant=plant)


def _seconds(
    kind: str, description: str, number: int, change: Callable[[int], int]
) -> Fault:
    """Return a fault that changes the seconds of item *number*, within the header's."""

    def plant(site: Site) -> Found:
        position = item_position(number, slots_of(site, INDEX_PART))
        data = (site.root / index_file(site, INDEX_PART)).read_bytes()
        seconds = change(decode_item(data[position:]).seconds)
        _put(site, position + _SECONDS, seconds)
        return _expected("INV-INDEX-009", site, position), ()

    return Fault(kind=kind, description=description, plant=plant)


def _slot(
    kind: str, description: str, number: int, change: Callable[[int], int]
) -> Fault:
    """Return a fault that changes the slot of item *number*."""

    def plant(site: Site) -> Found:
        slots = slots_of(site, INDEX_PART)
        data = (site.root / index_file(site, INDEX_PART)).read_bytes()
        item = decode_item(data[item_position(number, slots) :])
        position = slot_position(item.key_hash, slots)
        _put(site, position, change(int.from_bytes(data[position : position + 4])))
        return _expected("INV-INDEX-003", site, position), ()

    return Fault(kind=kind, description=description, plant=plant)


def _expected(finding: str, site: Site, position: int) -> Expected:
    return Expected(finding=finding, file=index_file(site, INDEX_PART), offset=position)


def _negative_hash(site: Site) -> Found:
    """Write a negative hash into an item, which moves it to another chain."""
    slots, number = slots_of(site, INDEX_PART), 200
    before = _chains(site)
    position = item_position(number, slots)
    _put(site, position, -7)
    after = _chains(site)
    also = [
        _expected("INV-INDEX-004" if is_item else "INV-INDEX-003", site, place)
        for (is_item, place), named in after.items()
        if before.get((is_item, place), 0) != named
    ]
    also += [  # slots without items now
        _expected("INV-INDEX-003", site, place)
        for is_item, place in before
        if (is_item, place) not in after
    ]
    also.append(_expected("INV-INDEX-007", site, position))
    also.append(keys_lost(site, _message_of(site, number))[-1])
    return _expected("INV-INDEX-006", site, position), also


def _message_of(site: Site, number: int) -> Placed:
    """Return the message that item *number* points at."""
    position = item_position(number, slots_of(site, INDEX_PART))
    data = (site.root / index_file(site, INDEX_PART)).read_bytes()
    offset = decode_item(data[position:]).commit_log_offset
    return next(m for m in site.part(INDEX_PART) if m.offset == offset)


def _of_another(site: Site) -> Found:
    """Make an item point at the record behind its own."""
    hit = _message_of(site, 220)
    messages = site.part(INDEX_PART)
    other = messages[messages.index(hit) + 1]
    position = item_positions(site, hit)[0]
    site.overwrite(
        index_file(site, INDEX_PART), position + 4, struct.pack(">q", other.offset)
    )
    return _expected("INV-INDEX-007", site, position), keys_lost(site, hit)[-1:]


def _of_nothing(site: Site) -> Found:
    """Make an item point into the middle of its record."""
    hit = _message_of(site, 240)
    position = item_positions(site, hit)[0]
    site.overwrite(
        index_file(site, INDEX_PART), position + 4, struct.pack(">q", hit.offset + 8)
    )
    return _expected("INV-INDEX-007", site, position), keys_lost(site, hit)[-1:]


def _other_key(site: Site) -> Found:
    """Write the hash of another key of the same slot into an item."""
    slots = slots_of(site, INDEX_PART)
    hit = _message_of(site, 260)
    position = item_positions(site, hit)[0]
    data = (site.root / index_file(site, INDEX_PART)).read_bytes()
    code = decode_item(data[position:]).key_hash
    other = code - slots if code >= slots else code + slots
    site.overwrite(index_file(site, INDEX_PART), position, struct.pack(">i", other))
    return _expected("INV-INDEX-007", site, position), keys_lost(site, hit)[-1:]


def _no_key(site: Site) -> Found:
    """Replace an item by a copy of another of its slot, so that its key is missing."""
    slots = slots_of(site, INDEX_PART)
    data = (site.root / index_file(site, INDEX_PART)).read_bytes()
    items = {
        number: decode_item(data[item_position(number, slots) :])
        for number in range(280, decode_header(data).index_count)
    }
    number, other = next(
        (number, item.previous_item)
        for number, item in items.items()
        if item.previous_item in items
    )
    hit, position = _message_of(site, number), item_position(number, slots)
    begin = item_position(other, slots)
    site.overwrite(
        index_file(site, INDEX_PART), position, data[begin : begin + _SECONDS]
    )
    return keys_lost(site, hit)[-1], ()


def _chains(site: Site) -> dict[tuple[bool, int], int]:
    """Return the item number that every item and used slot should name, by place."""
    slots = slots_of(site, INDEX_PART)
    data = (site.root / index_file(site, INDEX_PART)).read_bytes()
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
    _seconds("index-seconds-early", "seconds of the file's begin", 80, lambda _: 0),
    _seconds("index-seconds-late", "seconds of a later record", 100, lambda n: n + 24),
    Fault(kind="index-hash", description="a negative hash", plant=_negative_hash),
)
KEY_FAULTS: tuple[Fault, ...] = (
    Fault(
        kind="index-of-other",
        description="an item of another record",
        plant=_of_another,
    ),
    Fault(
        kind="index-of-nothing", description="an item of no record", plant=_of_nothing
    ),
    Fault(
        kind="index-other-key", description="an item of another key", plant=_other_key
    ),
    Fault(kind="index-no-key", description="a key without an item", plant=_no_key),
)
"""Faults that only the comparison of keys finds."""
