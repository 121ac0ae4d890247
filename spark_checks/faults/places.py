"""Places in the log and the index of a generated store."""

from __future__ import annotations

from spark_checks.faults.site import INDEX_PART, Site
from spark_checks.generate.index_part import hashes_of, index_file_name
from spark_checks.generate.part import Placed
from spec.store.index_file import (
    IndexItem,
    decode_header,
    decode_item,
    item_position,
    slot_count_of,
    slot_position,
)

Place = tuple[str, int]
"""A file and a position in it."""


def end_of(site: Site, part: int) -> Place:
    """Return the place behind the last record of *part*."""
    last = site.part(part)[-1]
    file, position = last.record_place
    return file, position + last.size


class IndexPart:
    """Bytes of the index file of a part, and the places in it."""

    def __init__(self, site: Site, part: int = INDEX_PART) -> None:
        self._messages = site.part(part)
        began_at_ms = self._messages[0].record.stored_at_ms
        self.file = f"index/{index_file_name(began_at_ms)}"
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

    def message_of(self, number: int) -> Placed:
        """Return the message that item *number* points at."""
        offset = self.item(number).commit_log_offset
        return next(one for one in self._messages if one.offset == offset)


def item_places(site: Site, message: Placed) -> list[Place]:
    """Return the places of the items of *message* in its index file."""
    part = message.offset // site.plan.log_size
    number = 1
    for one in site.part(part):
        count = len(list(hashes_of(one.record)))
        if one.offset == message.offset:
            index = IndexPart(site, part)
            return [(index.file, index.position(number + n)) for n in range(count)]
        number += count
    return []
