"""
An index file: a hash table on disk, from keys to places in the commit log.

A header, then slots, then items. A key's hash chooses a slot; the slot names the
newest item of that slot, and each item names the one before it. Item 0 is never
used, so that 0 can mean none. Only hashes are kept: whoever finds an offset must
look at the message there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from reference.core.store.files import Files
from reference.core.store.layouts import index_header_codec, item_codec, slot_codec
from spec.store.index_file import (
    file_size,
    item_position,
    seconds_between,
    slot_position,
)

if TYPE_CHECKING:
    from reference.core.store.index_rows import KeyRow

Key = tuple[int, int, int]
"""A key's hash, and where and when the record that has it was stored."""


class IndexFile:
    """One index file, open for filling and asking."""

    def __init__(
        self, files: Files, name: str, *, slot_count: int, item_count: int
    ) -> None:
        self.name = name
        self.path = f"index/{name}"
        self._slot_count = slot_count
        self._item_count = item_count
        # [INDEX-FILE-001]
        self._file = files.open(self.path, file_size(slot_count, item_count))
        self._view = self._file.view
        header: tuple[int, ...] = index_header_codec.unpack_from(self._view)
        self.begin_ms, self.end_ms, self.begin_offset, self.end_offset = header[:4]
        self._slots_taken, count = header[4:]
        self._next_item: int = max(count, 1)  # [INDEX-HEADER-002] [INDEX-ITEM-005]
        """Number of the item that comes next; the header calls it the item count."""

    @property
    def is_full(self) -> bool:
        """Whether no further key fits."""
        return self._next_item >= self._item_count  # [INDEX-FILE-002]

    @property
    def room(self) -> int:
        """How many further keys `put_row` takes: none before the first; -1 if full."""
        if self.is_full:
            return -1
        return self._item_count - self._next_item if self._next_item > 1 else 0

    def begin_after(self, previous: IndexFile) -> None:
        """Note where the full file *previous* ended; the first put overwrites it."""
        self.begin_ms = self.end_ms = previous.end_ms  # [INDEX-ITEM-004]
        self.begin_offset = self.end_offset = previous.end_offset
        self.write_header()

    def put(self, key_hash: int, physical_offset: int, stored_at_ms: int) -> None:
        """Add a key of the message at *physical_offset*; the file must not be full.

        The header follows when the message has no further keys (4.6.0
        org.apache.rocketmq.store.index.IndexFile#putKey writes it after each).
        """
        slot_at = slot_position(key_hash, self._slot_count)  # [INDEX-SLOT-001]
        number = self._next_item
        (previous,) = slot_codec.unpack_from(self._view, slot_at)
        if not 0 < previous <= number:
            previous = 0
        seconds = seconds_between(self.begin_ms, stored_at_ms)
        # [INDEX-ITEM-001] [INDEX-ITEM-002] [INDEX-ITEM-003]
        item = item_codec.pack(key_hash, physical_offset, seconds, previous)
        self._file.write(item, item_position(number, self._slot_count))
        self._file.write(slot_codec.pack(number), slot_at)  # [INDEX-SLOT-002]
        if number <= 1:
            # [INDEX-HEADER-003]
            self.begin_ms, self.begin_offset = stored_at_ms, physical_offset
        # [INDEX-HEADER-004]
        self.end_ms, self.end_offset = stored_at_ms, physical_offset
        self._slots_taken += 1  # [INDEX-HEADER-005]
        self._next_item = number + 1

    def put_row(self, keys: KeyRow) -> None:
        """Add many keys as `put` adds each; there is room for them, and an item."""
        from reference.core.store.index_rows import made_items

        made = made_items(
            self._view,
            keys,
            slot_count=self._slot_count,
            first=self._next_item,
            begin_ms=self.begin_ms,
        )
        self._file.write(made.items, item_position(self._next_item, self._slot_count))
        self._file.write_words(made.named, made.places)
        self.end_ms, self.end_offset = made.end_ms, made.end_offset
        self._slots_taken += made.item_count
        self._next_item += made.item_count
        self.write_header()

    def put_all(self, keys: Sequence[Key]) -> bool:
        """Add *keys* as `put` does one by one, and the header behind the last.

        Return False, with nothing done, for the first of a file, which its header is
        made of, and for as many as leave no room for another.
        """
        first = self._next_item
        if first <= 1 or first + len(keys) >= self._item_count:
            return False
        if not keys:
            return True
        view, begin_ms, slot_count = self._view, self.begin_ms, self._slot_count
        newest: dict[int, int] = {}
        items = []
        for number, (key_hash, physical_offset, stored_at_ms) in enumerate(keys, first):
            slot_at = slot_position(key_hash, slot_count)
            previous = newest.get(slot_at)
            if previous is None:
                (previous,) = slot_codec.unpack_from(view, slot_at)
                if not 0 < previous <= number:
                    previous = 0
            seconds = seconds_between(begin_ms, stored_at_ms)
            items.append(item_codec.pack(key_hash, physical_offset, seconds, previous))
            newest[slot_at] = number
        # What is refused here counts for nothing, and is written over.
        self._file.reserve(0, index_header_codec.size)
        self._file.write(b"".join(items), item_position(first, slot_count))
        named = b"".join(map(slot_codec.pack, newest.values()))
        self._file.write_words(named, [*newest])
        _, self.end_offset, self.end_ms = keys[-1]
        self._slots_taken += len(keys)
        self._next_item += len(keys)
        self.write_header()
        return True

    def may_have(self, begin_ms: int, end_ms: int) -> bool:
        """Return whether a message stored between the two may be in this file."""
        if begin_ms < self.begin_ms and end_ms > self.end_ms:
            return True
        return any(self.begin_ms <= ms <= self.end_ms for ms in (begin_ms, end_ms))

    def find(self, key_hash: int, begin_ms: int, end_ms: int) -> Iterator[int]:
        """Yield the places of messages with a key of this hash, the newest first.

        4.6.0 org.apache.rocketmq.store.index.IndexFile#selectPhyOffset.
        """
        slot_at = slot_position(key_hash, self._slot_count)
        (number,) = slot_codec.unpack_from(self._view, slot_at)
        for _ in range(self._next_item):  # a damaged chain may be a ring
            if not 0 < number <= self._next_item or self._next_item <= 1:
                return
            at = item_position(number, self._slot_count)
            found_hash, offset, seconds, before = item_codec.unpack_from(self._view, at)
            if seconds < 0:
                return
            stored_at_ms = self.begin_ms + seconds * 1000
            # [QUERY-KEY-006] [QUERY-KEY-007]
            if found_hash == key_hash and begin_ms <= stored_at_ms <= end_ms:
                yield offset
            if before == number or stored_at_ms < begin_ms:
                return
            number = before

    def flush(self) -> None:
        """Return when everything written is on disk."""
        self._file.flush()

    def close(self) -> None:
        """Give the mapping back."""
        self._file.close()

    def write_header(self) -> None:
        """Let the file tell of all keys that were put."""
        values = (self.begin_ms, self.end_ms, self.begin_offset, self.end_offset)
        counts = (self._slots_taken, self._next_item)
        # [INDEX-HEADER-001]
        self._file.write(index_header_codec.pack(*values, *counts), 0)
