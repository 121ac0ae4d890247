"""Index files: every key of every message is found along a chain of items."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

import pytest

from conformance.harness.pytest_plugin.expectations import expect, expect_that
from conformance.harness.targets.store_files import (
    StoreFiles,
    offsets_of_key,
)
from conformance.harness.targets.target import Target
from conformance.store.written_store import Written
from spec.clause import release_key
from spec.integers import INT32_MIN, java_string_hash
from spec.registry import clause
from spec.store.commit_log import PlacedRecord
from spec.store.index_file import (
    IndexItem,
    key_hash,
    seconds_between,
)
from spec.store.message_record import SystemFlag
from spec.wire.message.properties import decode_properties

pytestmark = pytest.mark.needs("store")

NONE = IndexItem(key_hash=0, commit_log_offset=0)
"""Content of an index item that was never written."""
ROLLBACK = int(SystemFlag.TRANSACTION_ROLLBACK)


def keys_of(placed: PlacedRecord, *, splits_once: bool = False) -> Iterator[str]:
    """Yield the keys that a record is indexed under, in their order.

    With *splits_once*, a value may have separators, as since 4.9.1.
    """
    properties = decode_properties(placed.record.properties, splits_once=splits_once)
    if placed.record.system_flags & ROLLBACK == ROLLBACK:
        return
    if "UNIQ_KEY" in properties:
        yield properties["UNIQ_KEY"]
    for key in properties.get("KEYS", "").split(" "):
        if key:
            yield key


def hashes_of(
    placed: PlacedRecord, *, with_tag: bool, splits_once: bool = False
) -> list[int]:
    """Return the hashes that a record is indexed under, in their order."""
    keys = list(keys_of(placed, splits_once=splits_once))
    properties = decode_properties(placed.record.properties, splits_once=splits_once)
    tag = properties.get("TAGS")
    rolled_back = placed.record.system_flags & ROLLBACK == ROLLBACK
    if tag and with_tag and not rolled_back:
        keys.append(f"T#{tag}")
    return [key_hash(placed.record.topic, key) for key in keys]


def all_items(files: StoreFiles) -> list[IndexItem]:
    """Return the items of all files, oldest first."""
    return [item for file in files.index_files() for item in file.items().values()]


@pytest.mark.clause("INDEX-KEY-001", "INDEX-KEY-003", "INDEX-ITEM-001")
def test_every_key_has_an_item_in_the_order_of_the_log(
    readable: StoreFiles, target: Target
) -> None:
    with_tag = clause("INDEX-KEY-005").applies_to(target.release)
    splits_once = release_key(target.release) >= (4, 9, 1)
    items = [(item.key_hash, item.commit_log_offset) for item in all_items(readable)]
    end = items[-1][1] if items else -1
    begin = items[0][1] if items else 0
    expected = [
        (hashed, placed.offset)
        for placed in readable.records()
        for hashed in hashes_of(placed, with_tag=with_tag, splits_once=splits_once)
        if begin <= placed.offset <= end
    ]
    found = [item for item in items if item[1] <= end]
    same = takewhile(
        lambda pair: pair[0] == pair[1], zip(found, expected, strict=False)
    )
    differs = len(list(same))
    hashes, places = ({pair[part] for pair in expected} for part in (0, 1))
    expect(
        "INDEX-ITEM-001",
        found=[offset for _, offset in found if offset not in places][:3],
        expected=[],
        what="offsets of items at which no record begins",
    )
    expect(
        "INDEX-KEY-001",
        found=[hashed for hashed, _ in found if hashed not in hashes][:3],
        expected=[],
        what="hashes of items that no key of a record has",
    )
    expect(
        "INDEX-KEY-003",
        found=(len(found), found[differs : differs + 3]),
        expected=(len(expected), expected[differs : differs + 3]),
        what=f"number of items; hashes and offsets from item {differs} on",
    )


@pytest.mark.restores
@pytest.mark.clause("INDEX-KEY-005")
@pytest.mark.needs("wire", "config")
def test_a_tag_has_an_item_after_those_of_the_keys(written: Written) -> None:
    indexed: dict[int, list[int]] = {}
    for item in all_items(written.files):
        indexed.setdefault(item.commit_log_offset, []).append(item.key_hash)
    records = {placed.offset: placed for placed in written.records()}
    for sent in written.sent:
        if "TAGS" in sent.message.properties:
            placed = records[sent.commit_log_offset]
            expect(
                "INDEX-KEY-005",
                found=indexed.get(placed.offset),
                expected=hashes_of(placed, with_tag=True),
                what=f"hashes of the items of the message at {placed.offset}",
            )


@pytest.mark.clause("INDEX-SLOT-001", "INDEX-SLOT-002", "INDEX-ITEM-002")
def test_every_item_is_on_the_chain_of_its_slot(files: StoreFiles) -> None:
    for file in files.index_files():
        items = {
            number: (item.key_hash % file.slot_count, item.previous_item)
            for number, item in file.items().items()
        }
        expect(
            "INDEX-SLOT-002",
            found=file.used_slots(),
            expected={slot: number for number, (slot, _) in items.items()},
            what=f"newest item by slot of {file.name}",
        )
        newest: dict[int, int] = {}
        for number, (slot, previous) in items.items():
            expect(
                "INDEX-ITEM-002",
                found=previous,
                expected=newest.get(slot, 0),
                what=f"previous of item {number} of {file.name}",
            )
            newest[slot] = number


@pytest.mark.restores
@pytest.mark.clause("INDEX-SLOT-001", "INDEX-KEY-001")
@pytest.mark.needs("wire", "config")
def test_a_key_leads_to_all_its_messages(written: Written) -> None:
    records = {placed.offset: placed for placed in written.records()}
    index = written.files.index_files()
    for sent in written.sent:
        placed = records[sent.commit_log_offset]
        for key in keys_of(placed):
            hits = offsets_of_key(index, placed.record.topic, key)
            expect_that(
                "INDEX-SLOT-001",
                sent.commit_log_offset in hits,
                found=hits,
                expected=f"{sent.commit_log_offset} among them",
                what=f"offsets that the key {key!r} leads to",
            )


@pytest.mark.restores
@pytest.mark.clause("INDEX-KEY-002")
@pytest.mark.needs("wire", "config")
def test_a_key_with_the_smallest_hash_is_kept_under_zero(written: Written) -> None:
    offsets = {
        sent.commit_log_offset
        for sent in written.sent
        for key in sent.message.properties.get("KEYS", "").split()
        if java_string_hash(f"{sent.message.topic}#{key}") == INT32_MIN
    }
    own = {sent.commit_log_offset for sent in written.sent}
    found = {
        item.commit_log_offset for item in all_items(written.files) if not item.key_hash
    }
    expect(
        "INDEX-KEY-002",
        found=found & own,
        expected=offsets,
        what="offsets of items with the hash 0",
    )


@pytest.mark.restores
@pytest.mark.clause("INDEX-KEY-004")
@pytest.mark.needs("wire", "config")
def test_a_rolled_back_record_has_no_item(written: Written) -> None:
    indexed = {item.commit_log_offset for item in all_items(written.files)}
    expect(
        "INDEX-KEY-004",
        found=[sent.commit_log_offset in indexed for sent in written.unqueued],
        expected=[True, False],
        what="a prepared and a rolled back record are indexed",
    )


@pytest.mark.clause("INDEX-HEADER-001", "INDEX-HEADER-003", "INDEX-HEADER-004")
def test_the_header_spans_from_the_first_item_to_the_last(readable: StoreFiles) -> None:
    index = readable.index_files()  # Before the records: the broker may write more.
    stored = {
        placed.offset: placed.record.stored_at_ms for placed in readable.records()
    }
    for file in index:
        items = list(file.items().values())
        if not items or items[0].commit_log_offset not in stored:
            continue
        first, last = items[0].commit_log_offset, items[-1].commit_log_offset
        header = file.header
        expect(
            "INDEX-HEADER-003",
            found=(header.begin_offset, header.begin_stored_at_ms),
            expected=(first, stored[first]),
            what=f"begin offset and time of {file.name}",
        )
        expect(
            "INDEX-HEADER-004",
            found=(header.end_offset, header.end_stored_at_ms),
            expected=(last, stored[last]),
            what=f"end offset and time of {file.name}",
        )


@pytest.mark.clause("INDEX-HEADER-002", "INDEX-ITEM-005")
def test_items_are_counted_from_one(files: StoreFiles) -> None:
    for file in files.index_files():
        expect(
            "INDEX-HEADER-002",
            found=file.header.index_count,
            expected=max(file.end_of_items, 1),
            what=f"index count of {file.name}",
        )
        expect(
            "INDEX-ITEM-005",
            found=file.item(0),
            expected=NONE,
            what=f"item 0 of {file.name}",
        )


@pytest.mark.clause("INDEX-HEADER-005")
def test_the_slot_count_counts_items(files: StoreFiles) -> None:
    for file in files.index_files():
        expect(
            "INDEX-HEADER-005",
            found=file.header.slot_count,
            expected=len(file.items()),
            what=f"slot count of {file.name}",
        )


@pytest.mark.clause("INDEX-HEADER-006")
def test_the_slot_count_counts_slots(files: StoreFiles) -> None:
    for file in files.index_files():
        expect(
            "INDEX-HEADER-006",
            found=file.header.slot_count,
            expected=len(file.used_slots()),
            what=f"slot count of {file.name}",
        )


@pytest.mark.clause("INDEX-ITEM-003", "INDEX-ITEM-004")
def test_seconds_count_from_the_begin_time(files: StoreFiles) -> None:
    stored = {placed.offset: placed.record.stored_at_ms for placed in files.records()}
    before_ms = 0
    for file in files.index_files():
        header = file.header
        for number, item in file.items().items():
            if item.commit_log_offset not in stored:
                continue
            begin_ms = before_ms if number == 1 else header.begin_stored_at_ms
            expect(
                "INDEX-ITEM-004" if number == 1 else "INDEX-ITEM-003",
                found=item.seconds,
                expected=seconds_between(begin_ms, stored[item.commit_log_offset]),
                what=f"seconds of item {number} of {file.name}",
            )
        before_ms = header.end_stored_at_ms
