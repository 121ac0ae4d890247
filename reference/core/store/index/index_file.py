"""
An index file: a hash table on disk, from keys to commit-log offsets.

A header, then slots, then items. The hash of a key selects a slot. The slot contains
the number of its newest item, and each item the number of the one before it. Item 0 is
never used, so 0 means none. The file has only hashes, so a query checks the message.

The hash is Java's string hash, here faster than its definition in ``spec.integers``.
Unique keys of one producer share their beginnings for a millisecond, and all producers
share the ends, which count messages. The hashes of both and of topics are cached.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from functools import lru_cache
from operator import mul
from sys import byteorder
from typing import NamedTuple

from reference.core.store.layouts import index_header_codec, item_codec, slot_codec
from reference.core.store.mapped.files import Files, FilesError
from spec.integers import INT32_MAX, java_string_hash
from spec.store.index_file import (
    HEADER_SIZE,
    ITEM_SIZE,
    SLOT_SIZE,
    file_size,
    item_position,
    slot_position,
)

_UTF_16 = "utf-16-le" if byteorder == "little" else "utf-16-be"
_POWERS_COUNT = 1024
_POWERS: tuple[int, ...] = tuple(
    pow(31, n, 2**32) for n in reversed(range(_POWERS_COUNT))
)
"""Powers of 31, the highest first: the factors of a text's code units."""
_TAIL = 3
"""Characters at the end of a unique key that change with each message."""

IndexKey = tuple[int, int, int]
"""Hash of a key, commit-log offset and store time of its message."""


class IndexFile:
    """One index file, open for puts and queries (Java: IndexFile)."""

    def __init__(
        self, files: Files, name: str, *, slot_count: int, item_count: int
    ) -> None:
        self.name = name
        self.path = f"index/{name}"
        self.slot_count = slot_count
        # [INDEX-FILE-001]
        self._file = files.open(self.path, file_size(slot_count, item_count))
        self.view = self._file.view
        header: tuple[int, ...] = index_header_codec.unpack_from(self.view)
        self.begin_ms, self.end_ms, self.begin_offset, self.end_offset = header[:4]
        self._slots_taken, count = header[4:]
        self.next_item: int = max(count, 1)  # [INDEX-HEADER-002] [INDEX-ITEM-005]
        """Number of the next item; the header calls it the item count."""
        self.room = item_count - self.next_item
        """Keys that still fit; none in a full file. [INDEX-FILE-002]"""
        self._items_begin = item_position(0, slot_count)

    def begin_after(self, previous: IndexFile) -> None:
        """Copy the end of the full file *previous*; the first put overwrites it."""
        self.begin_ms = self.end_ms = previous.end_ms  # [INDEX-ITEM-004]
        self.begin_offset = self.end_offset = previous.end_offset
        self.write_header()

    def put(self, keys: Sequence[IndexKey]) -> None:
        """Add keys of consecutive messages; there is room for all, and one at least.

        4.6.0 org.apache.rocketmq.store.index.IndexFile#putKey, which writes the header
        after each key.
        """
        number, begin_ms, slot_count = self.next_item, self.begin_ms, self.slot_count
        holes_take_space = self._file.holes_take_space
        newest: dict[int, int] = {}
        items = []
        for key_hash, physical_offset, stored_at_ms in keys:
            slot_at = HEADER_SIZE + key_hash % slot_count * SLOT_SIZE
            previous = newest.get(slot_at, 0)
            if not previous:
                if holes_take_space:
                    self._file.reserve(slot_at, SLOT_SIZE)
                (previous,) = slot_codec.unpack_from(self.view, slot_at)
                if not 0 < previous <= number:
                    previous = 0
            seconds = 0
            if 0 < begin_ms < stored_at_ms:  # [INDEX-ITEM-003]
                seconds = (stored_at_ms - begin_ms) // 1000
                if seconds > INT32_MAX:
                    seconds = INT32_MAX
            # [INDEX-ITEM-001] [INDEX-ITEM-002]
            item = item_codec.pack(key_hash, physical_offset, seconds, previous)
            items.append(item)
            newest[slot_at] = number  # [INDEX-SLOT-002]
            if number == 1:
                begin_ms = stored_at_ms
            number += 1
        if self.next_item == 1:
            self._file.reserve(0, HEADER_SIZE)
            _, self.begin_offset, self.begin_ms = keys[0]  # [INDEX-HEADER-003]
        places = [*newest]
        if len(places) == 1:  # a quarter of a microsecond less than for a sequence
            slots = slot_codec.pack(number - 1)
        else:
            slots = b"".join(map(slot_codec.pack, newest.values()))
        self.add(
            b"".join(items), len(items), slots, places, stored_at_ms, physical_offset
        )

    def add(
        self,
        items: bytes,
        item_count: int,
        slot_words: bytes,
        slot_places: list[int],
        end_ms: int,
        end_offset: int,
    ) -> None:
        """Write encoded items, then their slots, then the header.

        *slot_words* are the newest items of the changed slots, *slot_places* the byte
        positions of these. *end_ms* and *end_offset* are those of the last message.
        Raises FilesError before the header counts any of them. A later put overwrites
        such items.
        """
        self._file.write(items, self._items_begin + self.next_item * ITEM_SIZE)
        if len(slot_places) == 1:
            self._file.write(slot_words, slot_places[0])
        else:
            self._file.write_words(slot_words, slot_places)
        self.end_ms, self.end_offset = end_ms, end_offset  # [INDEX-HEADER-004]
        self._slots_taken += item_count  # [INDEX-HEADER-005]
        self.next_item += item_count
        self.room -= item_count
        self.write_header()

    def may_have(self, begin_ms: int, end_ms: int) -> bool:
        """Return whether the file may have messages stored between two times."""
        if begin_ms < self.begin_ms and end_ms > self.end_ms:
            return True
        return any(self.begin_ms <= ms <= self.end_ms for ms in (begin_ms, end_ms))

    def find(self, key_hash: int, begin_ms: int, end_ms: int) -> Iterator[int]:
        """Yield commit-log offsets of messages with a key of this hash, newest first.

        4.6.0 org.apache.rocketmq.store.index.IndexFile#selectPhyOffset.
        """
        slot_at = slot_position(key_hash, self.slot_count)
        if self._file.holes_take_space:
            try:
                self._file.reserve(slot_at, SLOT_SIZE)
            except FilesError:
                return  # the slot is a hole, and empty
        (number,) = slot_codec.unpack_from(self.view, slot_at)
        for _ in range(self.next_item):  # a damaged chain may be a ring
            if not 0 < number <= self.next_item or self.next_item <= 1:
                return
            at = item_position(number, self.slot_count)
            found_hash, offset, seconds, before = item_codec.unpack_from(self.view, at)
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
        """Wait until every written byte is on disk."""
        self._file.flush()

    def close(self) -> None:
        """Unmap the file."""
        self._file.close()

    def write_header(self) -> None:
        """Write times, offsets and counts of all keys so far."""
        values = (self.begin_ms, self.end_ms, self.begin_offset, self.end_offset)
        counts = (self._slots_taken, self.next_item)
        # [INDEX-HEADER-001]
        self._file.write(index_header_codec.pack(*values, *counts), 0)


def index_hash(topic: str, key: str) -> int:
    """Return the hash of *key* in the index: 31 bits, 0 or more."""
    # 0.7 µs for a unique key, where the hash of the whole text takes 3.8 µs.
    head, head_power = _head_hash(key[:-_TAIL])
    tail, tail_power = _tail_hash(key[-_TAIL:])
    code = (_topic_hash(topic) * head_power + head) * tail_power + tail & 0xFFFFFFFF
    # [INDEX-KEY-002] Java's absolute value; that of the smallest int is 0 here.
    return code if code < 2**31 else -code & 0x7FFFFFFF


class _Hash(NamedTuple):
    """Java's hash of a part of a text; both members are modulo 2**32."""

    code: int
    power: int
    """31 to the number of the part's code units: the factor of what precedes it."""


def _hash(text: str) -> _Hash:
    units: bytes | array[int] = text.encode() if text.isascii() else _utf_16(text)
    count = len(units)
    if count >= _POWERS_COUNT:
        return _Hash(java_string_hash(text) & 0xFFFFFFFF, pow(31, count, 2**32))
    code: int = sum(map(mul, units, _POWERS[-count:])) if count else 0
    return _Hash(code & 0xFFFFFFFF, _POWERS[-1 - count])


def _utf_16(text: str) -> array[int]:
    return array("H", text.encode(_UTF_16, "surrogatepass"))


@lru_cache(maxsize=16384)
def _topic_hash(topic: str) -> int:
    return _hash(f"{topic}#").code  # [INDEX-KEY-001]


_head_hash = lru_cache(maxsize=1024)(_hash)
_tail_hash = lru_cache(maxsize=4096)(_hash)
