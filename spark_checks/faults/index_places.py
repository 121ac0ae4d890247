"""
Places of a message's items in the index of a generated store.
"""

from __future__ import annotations

from spark_checks.faults.fault import Expected, Site, at, at_record
from spark_checks.generate.index_part import hashes_of, index_file_name
from spark_checks.generate.part import Placed, rounds_of
from spark_checks.generate.plan import BEGAN_AT_MS, ROUND_MS
from spark_checks.readers.index import slot_count_of
from spec.store.index_file import (
    IndexItem,
    decode_header,
    decode_item,
    item_position,
    slot_position,
)


def index_file(site: Site, part: int) -> str:
    """Return the index file of *part*."""
    began_at_ms = BEGAN_AT_MS + part * rounds_of(site.plan) * ROUND_MS
    return f"index/{index_file_name(began_at_ms)}"


class IndexPart:
    """Bytes of the index file of a part, and the places in it."""

    def __init__(self, site: Site, part: int) -> None:
        self.file = index_file(site, part)
        self.data = (site.root / self.file).read_bytes()
        self.slots = slot_count_of(len(self.data))
        self.count = decode_header(self.data).index_count

    def position(self, number: int) -> int:
        """Return the position of item *number*."""
        return item_position(number, self.slots)

    def item(self, number: int) -> IndexItem:
        """Return item *number*."""
        return decode_item(self.data[self.position(number) :])

    def slot_position(self, number: int) -> int:
        """Return the position of the slot of item *number*."""
        return slot_position(self.item(number).key_hash, self.slots)


def item_positions(site: Site, message: Placed) -> list[int]:
    """Return the positions of the items of *message* in its index file."""
    part = message.offset // site.plan.log_size
    number = 1
    for one in site.part(part):
        count = len(list(hashes_of(one.record)))
        if one.offset == message.offset:
            index = IndexPart(site, part)
            return [index.position(number + n) for n in range(count)]
        number += count
    return []


def keys_lost(site: Site, message: Placed) -> list[Expected]:
    """Return the findings if the keys of *message* were changed."""
    file = index_file(site, message.offset // site.plan.log_size)
    items = [
        at("INV-INDEX-007", file, position)
        for position in item_positions(site, message)
    ]
    return [*items, at_record("INV-INDEX-008", message)]
