"""
An index file finds messages by key: 40 bytes of header, then slots, then items.

A key's hash selects a slot. The slot holds the number of its newest item, and each item
the number of the previous one. Item numbers begin at 1: item 0 is never written. A hit
is a hint only: the reader compares the key with the record's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from construct import Int32sb, Int64sb, Struct

from spec.clause import Clause, Level
from spec.integers import INT32_MAX, INT32_MIN, java_string_hash
from spec.layout import LayoutError, build, field, parse

HEADER_SIZE = 40
SLOT_SIZE = 4
ITEM_SIZE = 20
SLOT_COUNT_DEFAULT = 5_000_000
"""Slots of a file by default (maxHashSlotNum)."""
ITEM_COUNT_DEFAULT = 20_000_000
"""Places for items, the unused place 0 included by default (maxIndexNum)."""
ITEMS_PER_SLOT = ITEM_COUNT_DEFAULT // SLOT_COUNT_DEFAULT
"""Places per slot, by default of every release."""

_FILE = "org.apache.rocketmq.store.index.IndexFile"
_HEADER = "org.apache.rocketmq.store.index.IndexHeader"
_SERVICE = "org.apache.rocketmq.store.index.IndexService"

INDEX_FILE_SIZE = Clause(
    id="INDEX-FILE-001",
    level=Level.MUST,
    text="An index file has 40 bytes of header, 4 for every slot, 20 for every item.",
    source=f"4.6.0 {_FILE}#IndexFile",
)
INDEX_FILE_FULL = Clause(
    id="INDEX-FILE-002",
    level=Level.MUST,
    text=(
        "An index file holds one item less than maxIndexNum, because item number 0 "
        "is unused."
    ),
    source=f"4.6.0 {_FILE}#putKey",
)
INDEX_HEADER_FIELDS = Clause(
    id="INDEX-HEADER-001",
    level=Level.MUST,
    text="An index header is begin and end store time, begin and end commit-log offset,"
    " slot count and index count, in 8, 8, 8, 8, 4 and 4 bytes.",
    source=f"4.6.0 {_HEADER}#updateByteBuffer",
)
INDEX_COUNT_BEGINS_AT_ONE = Clause(
    id="INDEX-HEADER-002",
    level=Level.QUIRK,
    text="The index count is one more than the number of items.",
    source=f"4.6.0 {_HEADER}#indexCount",
)
INDEX_BEGIN = Clause(
    id="INDEX-HEADER-003",
    level=Level.MUST,
    text="The begin values of an index header are the first item's store time and"
    " offset.",
    source=f"4.6.0 {_FILE}#putKey",
)
INDEX_END = Clause(
    id="INDEX-HEADER-004",
    level=Level.MUST,
    text="The end values of an index header are the last item's store time and offset.",
    source=f"4.6.0 {_FILE}#putKey",
)
INDEX_SLOT_COUNT_IS_ITEMS = Clause(
    id="INDEX-HEADER-005",
    level=Level.QUIRK,
    text="Up to 4.7.0, the slot count of an index header counts items, not slots.",
    source=f"4.6.0 {_FILE}#putKey",
    until="4.7.0",
    issues=(
        "apache/rocketmq#1919",
        "apache/rocketmq#1987",
    ),
)
INDEX_SLOT_COUNT = Clause(
    id="INDEX-HEADER-006",
    level=Level.MUST,
    text=(
        "From 4.7.1 on, the slot count of an index header counts the slots that "
        "hold an item."
    ),
    source=f"4.9.7 {_FILE}#putKey",
    since="4.7.1",
)
INDEX_SLOT = Clause(
    id="INDEX-SLOT-001",
    level=Level.MUST,
    text="A key's slot is its hash modulo the number of slots of the file.",
    source=f"4.6.0 {_FILE}#putKey",
)
INDEX_SLOT_VALUE = Clause(
    id="INDEX-SLOT-002",
    level=Level.MUST,
    text="A slot holds the number of its newest item, 0 where it has none.",
    source=f"4.6.0 {_FILE}#putKey",
)
INDEX_ITEM_FIELDS = Clause(
    id="INDEX-ITEM-001",
    level=Level.MUST,
    text="An item is key hash, commit-log offset, seconds and previous item's number,"
    " in 4, 8, 4 and 4 bytes.",
    source=f"4.6.0 {_FILE}#putKey",
)
INDEX_ITEM_PREVIOUS = Clause(
    id="INDEX-ITEM-002",
    level=Level.MUST,
    text=(
        "An item's previous is the number of the item that its slot held before, 0 "
        "for the first."
    ),
    source=f"4.6.0 {_FILE}#putKey",
)
INDEX_ITEM_SECONDS = Clause(
    id="INDEX-ITEM-003",
    level=Level.MUST,
    text="An item's seconds are the whole ones from the header's begin time to the"
    " record's store time, at least 0.",
    source=f"4.6.0 {_FILE}#putKey",
    hints=(("about 1000 times too large", "were milliseconds written?"),),
)
INDEX_FIRST_ITEM_SECONDS = Clause(
    id="INDEX-ITEM-004",
    level=Level.QUIRK,
    text="The first item of a file that follows a full one counts its seconds from the"
    " end time of the full one.",
    source=f"4.6.0 {_SERVICE}#getAndCreateLastIndexFile",
)
INDEX_ITEM_NUMBERS = Clause(
    id="INDEX-ITEM-005",
    level=Level.QUIRK,
    text="Items are numbered from 1; the bytes of item 0 stay zero.",
    source=f"4.6.0 {_HEADER}#indexCount",
)
INDEX_KEY = Clause(
    id="INDEX-KEY-001",
    level=Level.MUST,
    text="The hashed text of a key is the topic, a # and the key.",
    source=f"4.6.0 {_SERVICE}#buildKey",
)
INDEX_KEY_HASH = Clause(
    id="INDEX-KEY-002",
    level=Level.MUST,
    text="A key's hash is the absolute value of Java's String.hashCode, and 0 where"
    " that is -2147483648.",
    source=f"4.6.0 {_FILE}#indexKeyHashMethod",
)
INDEX_KEYS_OF_MESSAGE = Clause(
    id="INDEX-KEY-003",
    level=Level.MUST,
    text="A message has an item for its UNIQ_KEY and one for every key in KEYS, in this"
    " order.",
    source=f"4.6.0 {_SERVICE}#buildIndex",
)
INDEX_TAG_OF_MESSAGE = Clause(
    id="INDEX-KEY-005",
    level=Level.MUST,
    text=(
        "From 5.4 on, a message with a tag has one more item after those of its "
        "keys, for the text topic, #T# and tag."
    ),
    source=f"5.4.0 {_SERVICE}#buildIndex",
    since="5.4",
)
INDEX_NO_ROLLBACK = Clause(
    id="INDEX-KEY-004",
    level=Level.MUST,
    text="A record with TRANSACTION_ROLLBACK_TYPE (12) is not indexed.",
    source=f"4.6.0 {_SERVICE}#buildIndex",
)

header_layout = Struct(
    field("begin_stored_at_ms", Int64sb, "of the first item (Java: beginTimestamp)"),
    field("end_stored_at_ms", Int64sb, "of the last item (Java: endTimestamp)"),
    field("begin_offset", Int64sb, "of the first item's record (Java: beginPhyOffset)"),
    field("end_offset", Int64sb, "of the last item's record (Java: endPhyOffset)"),
    field("slot_count", Int32sb, "slots in use; items before 4.7.1 (hashSlotCount)"),
    field("index_count", Int32sb, "number of the next item (Java: indexCount)"),
)
slot_layout = Struct(
    field("newest_item", Int32sb, "number of the slot's newest item, 0 for none"),
)
item_layout = Struct(
    field("key_hash", Int32sb, "of topic#key, never negative"),
    field("commit_log_offset", Int64sb, "where the record begins"),
    field("seconds", Int32sb, "from begin_stored_at_ms (Java: timeDiff)"),
    field("previous_item", Int32sb, "the next older item of the slot, 0 for none"),
)
assert header_layout.sizeof() == HEADER_SIZE
assert slot_layout.sizeof() == SLOT_SIZE
assert item_layout.sizeof() == ITEM_SIZE


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexHeader:
    """Header of an index file, about all its items."""

    begin_stored_at_ms: int = 0
    end_stored_at_ms: int = 0
    begin_offset: int = 0
    end_offset: int = 0
    slot_count: int = 0
    index_count: int = 1
    """One more than there are items; 0 in a file is read as 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexItem:
    """A hint that a record has a key of this hash."""

    key_hash: int
    commit_log_offset: int
    seconds: int = 0
    previous_item: int = 0


def key_hash(topic: str, key: str) -> int:
    """Return the hash under which *key* of a message of *topic* is kept."""
    code = java_string_hash(f"{topic}#{key}")
    return 0 if code == INT32_MIN else abs(code)


def slot_position(key_hash: int, slot_count: int) -> int:
    """Return the byte at which the slot of *key_hash* begins."""
    return HEADER_SIZE + key_hash % slot_count * SLOT_SIZE


def item_position(number: int, slot_count: int) -> int:
    """Return the byte at which item *number* begins."""
    return HEADER_SIZE + slot_count * SLOT_SIZE + number * ITEM_SIZE


def file_size(slot_count: int, item_count: int) -> int:
    """Return the size of a file of so many slots and places for items."""
    return item_position(item_count, slot_count)


def slot_count_of(size: int) -> int:
    """Return the slots of a file of *size* bytes with the default places per slot.

    It is 0 for a size that no such file has.
    """
    per_slot = SLOT_SIZE + ITEMS_PER_SLOT * ITEM_SIZE
    slots, rest = divmod(size - HEADER_SIZE, per_slot)
    return slots if size > HEADER_SIZE and not rest else 0


def seconds_between(begin_stored_at_ms: int, stored_at_ms: int) -> int:
    """Return the seconds of an item in a file that began at *begin_stored_at_ms*."""
    if begin_stored_at_ms <= 0:
        return 0
    return min(max((stored_at_ms - begin_stored_at_ms) // 1000, 0), INT32_MAX)


def encode_header(header: IndexHeader) -> bytes:
    """Return the 40 bytes of *header*."""
    names = IndexHeader.__slots__
    return build(header_layout, {name: getattr(header, name) for name in names})


def decode_header(data: bytes | bytearray | memoryview) -> IndexHeader:
    """Return the header that begins *data*; ignore later bytes."""
    parsed = parse(header_layout, data[:HEADER_SIZE])
    found = IndexHeader(**{name: parsed[name] for name in IndexHeader.__slots__})
    if found.index_count < 0 or found.slot_count < 0:
        name = "index_count" if found.index_count < 0 else "slot_count"
        offset = 36 if found.index_count < 0 else 32
        raise LayoutError(f"{parsed[name]} is negative", field=name, offset=offset)
    return found


def encode_item(item: IndexItem) -> bytes:
    """Return the 20 bytes of *item*."""
    names = IndexItem.__slots__
    return build(item_layout, {name: getattr(item, name) for name in names})


def decode_item(data: bytes | bytearray | memoryview) -> IndexItem:
    """Return the item that begins *data*; ignore later bytes."""
    parsed = parse(item_layout, data[:ITEM_SIZE])
    return IndexItem(**{name: parsed[name] for name in IndexItem.__slots__})


def encode_slot(newest_item: int) -> bytes:
    """Return the 4 bytes of a slot."""
    return build(slot_layout, {"newest_item": newest_item})


def decode_slot(data: bytes | bytearray | memoryview) -> int:
    """Return the number of the newest item of the slot that begins *data*."""
    return int(parse(slot_layout, data[:SLOT_SIZE]).newest_item)


def items_of_slot(
    data: bytes | bytearray | memoryview, key_hash: int, slot_count: int
) -> Iterator[IndexItem]:
    """Yield the items of the slot of *key_hash*, newest first.

    The chain ends at an item number that the file does not have, and where it does
    not fall: items only point at older ones.
    """
    position = slot_position(key_hash, slot_count)
    number = decode_slot(data[position : position + SLOT_SIZE])
    above = max(decode_header(data).index_count, 1)
    while 0 < number < above:
        position = item_position(number, slot_count)
        item = decode_item(data[position : position + ITEM_SIZE])
        yield item
        above, number = number, item.previous_item
