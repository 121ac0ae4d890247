"""
Spark data source ``rocketmq.index``: one row per item of every index file.

The hash chains are checked here: an item must name the previous item of its slot, a
slot its last item. A slot that names another item has a row of its own. A chain stays
in its slot, so a partition is a range of slots of one file. It reads all items of the
file in windows and keeps those of its slots.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntFlag
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from columns.gather import Ints, dtype_of
from columns.numbers.index_items import TimeDecreases, chains, outside
from columns.scan.log_file import ReadAt
from columns.scan.log_ranges import Ranges, within
from spark_checks.readers.schemas import arrow_schema, as_batch
from spark_checks.readers.table_source import FileSource
from spec.layout import LayoutError
from spec.store.index_file import (
    HEADER_SIZE,
    ITEM_SIZE,
    ITEMS_PER_SLOT,
    SLOT_SIZE,
    IndexHeader,
    decode_header,
    decode_item,
    item_layout,
    item_position,
    slot_count_of,
)

ROWS_AT_ONCE = 200_000
PARTITION_ITEMS = 4_000_000
"""Items of one partition's slots; a file has 20,000,000 by default."""
_schema = arrow_schema("rocketmq.index")
_dtype = dtype_of(item_layout)
_Items = npt.NDArray[Any]


class ItemDamage(IntFlag):
    """Kinds of damage to an item or a slot."""

    PREVIOUS = 1
    """The item does not name the previous item of its slot."""
    SECONDS = 2
    """Its seconds are outside the times of the header."""
    HASH = 4
    """Its hash is negative."""
    SLOT = 8
    """The slot does not name its last item."""
    ORDER = 16
    """The item is earlier than the previous item or later than the next one. One of the
    two is wrong, unless the clock was put back."""
    PLACE = 32
    """It points at a place outside of the file's range."""


@dataclass(frozen=True, kw_only=True)
class IndexFile:
    """Some slots of one index file."""

    path: str
    """Path relative to the store."""
    size: int
    slots: range

    @property
    def byte_count(self) -> int:
        """Number of bytes to read: those of the slots, and as large a part of items."""
        return self.size * len(self.slots) // max(slot_count_of(self.size), 1)


class IndexSource(FileSource[IndexFile]):
    """Reads index files. Options: ``url``, ``files`` (JSON), ``where`` (JSON).

    With ``ranges`` (JSON) of the log, rows are only the items that point there.
    """

    source_name = "rocketmq.index"

    def parts(self) -> Sequence[IndexFile]:
        """Return the ranges of the selected files."""
        return [
            part
            for file in self.files
            if self.conditions.may_equal("file", file.path)
            for part in parts_of(file.path, file.size)
        ]

    def batches_in(self, read_at: ReadAt, part: IndexFile) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one range."""
        return batches(read_at, part, self.option("ranges"))


def capacity_of(size: int) -> int:
    """Return the number of items that a file of *size* bytes has room for."""
    return slot_count_of(size) * ITEMS_PER_SLOT


def parts_of(path: str, size: int, *, items: int = PARTITION_ITEMS) -> list[IndexFile]:
    """Return ranges of slots with about *items* items each."""
    slots = range(max(slot_count_of(size), 1))  # one of a file of another size
    step = max(items // ITEMS_PER_SLOT, 1)
    return [
        IndexFile(path=path, size=size, slots=slots[first : first + step])
        for first in slots[::step]
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedItems:
    """Items of some slots of a file, and the links that they should have."""

    items: Mapping[str, _Items]
    """Columns of the items, as in columns.toml."""
    wrong_slots: Mapping[str, _Items]
    """Columns of the slots that do not name their last item."""
    slots_used: int
    """Number of slots with an item, by the slots or by the items, the smaller one."""


def batches(
    read_at: ReadAt, file: IndexFile, ranges: Ranges | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of *file*; none if its header or size is invalid.

    With *ranges* of the log, they are only the items that point there.
    """
    found = check_items(read_at, file)
    if found is None:
        return
    tables = [found.items, found.wrong_slots]
    if ranges is not None:
        inside = within(found.items["commit_log_offset"], ranges)
        tables = [{name: column[inside] for name, column in found.items.items()}]
    for rows in tables:
        for start in range(0, len(rows["position"]), ROWS_AT_ONCE):
            part = slice(start, start + ROWS_AT_ONCE)
            columns = {name: column[part] for name, column in rows.items()}
            count = len(columns["position"])
            yield as_batch(_schema, count, {**columns, "file": file.path})


def check_items(read_at: ReadAt, file: IndexFile) -> CheckedItems | None:
    """Return the items of *file*; None if its header or size is invalid."""
    slot_count = slot_count_of(file.size)
    try:
        header = decode_header(read_at(0, HEADER_SIZE))
    except LayoutError:
        return None
    count = header.index_count
    if not 1 <= count <= capacity_of(file.size):
        return None
    mine = file.slots
    begin = item_position(1, slot_count)
    decreases = TimeDecreases(header)
    of_slots = (mine, slot_count)
    numbers, items, slots = _items(read_at, begin, count - 1, of_slots, decreases)
    held = read_at(HEADER_SIZE + mine.start * SLOT_SIZE, len(mine) * SLOT_SIZE)
    names = np.frombuffer(held, dtype=">i4")
    previous, last = chains(numbers, slots, len(mine))
    wrong = np.flatnonzero(names != last)
    damage = _damage_of(numbers, items, previous, header, decreases)
    if _has_end_offsets(read_at, begin, count - 1, header):
        offsets = items["commit_log_offset"]
        is_beside = (offsets < header.begin_offset) | (offsets > header.end_offset)
        damage[is_beside] |= int(ItemDamage.PLACE)
    return CheckedItems(
        items={
            "number": numbers,
            "position": begin + (numbers - 1) * ITEM_SIZE,
            "key_hash": items["key_hash"],
            "commit_log_offset": items["commit_log_offset"],
            "seconds": items["seconds"],
            "begun_at_ms": np.full(len(numbers), header.begin_stored_at_ms),
            "names": items["previous_item"],
            "should_name": previous,
            "damage": damage,
        },
        wrong_slots={
            "position": HEADER_SIZE + (mine.start + wrong) * SLOT_SIZE,
            "names": names[wrong],
            "should_name": last[wrong],
            "damage": np.full(len(wrong), int(ItemDamage.SLOT)),
        },
        slots_used=int(min(np.count_nonzero(names), np.count_nonzero(last))),
    )


def _items(
    read_at: ReadAt,
    begin: int,
    count: int,
    slots: tuple[range, int],
    decreases: TimeDecreases,
) -> tuple[Ints, Mapping[str, Ints], Ints]:
    """Return numbers, columns and relative slots of the items in some *slots*.

    There are *count* items from position *begin*. *decreases* gets the seconds of all.
    """
    mine, slot_count = slots
    numbers: list[Ints] = [np.zeros(0, dtype=np.int64)]
    found: list[_Items] = [np.zeros(0, dtype=_dtype)]
    of_slots: list[Ints] = [np.zeros(0, dtype=np.int64)]
    for start in range(0, count, ROWS_AT_ONCE):
        size = min(ROWS_AT_ONCE, count - start) * ITEM_SIZE
        data = read_at(begin + start * ITEM_SIZE, size)
        items = np.frombuffer(data[: len(data) // ITEM_SIZE * ITEM_SIZE], dtype=_dtype)
        decreases.note(start + 1, items["seconds"].astype(np.int64))
        of_slot = items["key_hash"].astype(np.int64) % slot_count - mine.start
        kept = np.flatnonzero(of_slot.view(np.uint64) < len(mine))
        is_whole = len(kept) == len(items)
        numbers.append(kept + start + 1)
        found.append(items if is_whole else items[kept])
        of_slots.append(of_slot if is_whole else of_slot[kept])
    columns = {  # numpy compares native numbers in a fifth of the time
        name: np.concatenate(
            [items[name] for items in found], dtype=kind.newbyteorder("=")
        )
        for name, (kind, *_) in (_dtype.fields or {}).items()
    }
    return np.concatenate(numbers), columns, np.concatenate(of_slots)


def _damage_of(
    numbers: Ints,
    items: Mapping[str, Ints],
    previous: Ints,
    header: IndexHeader,
    decreases: TimeDecreases,
) -> Ints:
    is_damaged = {
        ItemDamage.PREVIOUS: items["previous_item"] != previous,
        ItemDamage.HASH: items["key_hash"] < 0,
        ItemDamage.SECONDS: outside(numbers, items["seconds"], header),
        ItemDamage.ORDER: decreases.are_among(numbers),
    }
    found = np.zeros(len(numbers), dtype=np.int64)
    for damage, which in is_damaged.items():
        found[np.flatnonzero(which)] |= int(damage)
    return found


def _has_end_offsets(
    read_at: ReadAt, begin: int, count: int, header: IndexHeader
) -> bool:
    """Return whether the first and the last of *count* items are the *header*'s.

    Offsets rise from item to item, so all others lie between.
    """
    ends = [read_at(begin + at * ITEM_SIZE, ITEM_SIZE) for at in (0, count - 1)]
    if not count or any(len(end) < ITEM_SIZE for end in ends):
        return False
    offsets = [decode_item(end).commit_log_offset for end in ends]
    return offsets == [header.begin_offset, header.end_offset]
