"""
The declarations read what Apache RocketMQ wrote, and write the same bytes again.

The bytes were recorded from real releases, see fixtures/MANIFEST.toml.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from spec.clause import release_key
from spec.integers import tags_code
from spec.recognise import recognise
from spec.store import index_file
from spec.store.blank import encode_blank
from spec.store.checkpoint import decode_checkpoint, encode_checkpoint
from spec.store.commit_log import PlacedRecord, Stop, scan
from spec.store.config.config_files import (
    decode_consumer_offsets,
    decode_delay_offsets,
    encode_consumer_offsets,
    encode_delay_offsets,
)
from spec.store.consume_queue import decode_units, encode_unit, unit_codec
from spec.store.file_names import offset_of, store_file
from spec.store.message_record import decode_record, encode_record, record_codec
from spec.wire.bodies import fastjson
from spec.wire.message.properties import Property, decode_properties, keys_of
from spec.wire.remoting.frame import frame_codec

FIXTURES = Path(__file__).parents[3] / "fixtures"
STORES = sorted(path.name for path in (FIXTURES / "store").iterdir() if path.is_dir())
FRAMES = sorted(
    path.relative_to(FIXTURES / "wire").as_posix()
    for path in (FIXTURES / "wire").rglob("*.bin")
)
DELAYED = "SCHEDULE_TOPIC_XXXX"


@cache
def log_of(store: str) -> dict[int, PlacedRecord]:
    """Return the records of a recorded store by their offsets."""
    found: dict[int, PlacedRecord] = {}
    for path in sorted((FIXTURES / "store" / store / "commitlog").iterdir()):
        records = scan(path.read_bytes(), offset_of(path.name)).records
        found |= {placed.offset: placed for placed in records}
    return found


@pytest.mark.parametrize("store", STORES)
def test_a_commit_log_is_read_to_its_end_and_written_again(store: str) -> None:
    for path in sorted((FIXTURES / "store" / store / "commitlog").iterdir()):
        data, base = path.read_bytes(), offset_of(path.name)
        found = scan(data, base)
        assert found.stop is not Stop.BROKEN
        written = b"".join(encode_record(placed.record) for placed in found.records)
        assert data.startswith(written)
        assert found.end_offset == base + len(written)
        for placed in found.records:
            assert placed.record.physical_offset == placed.offset
            assert decode_record(encode_record(placed.record)) == placed.record
        if found.blank:
            assert found.blank.size == len(data) - len(written)
            assert data[len(written) :].startswith(encode_blank(found.blank))


@pytest.mark.parametrize("store", STORES)
def test_the_quick_reader_reads_the_recorded_log_too(store: str) -> None:
    for path in sorted((FIXTURES / "store" / store / "commitlog").iterdir()):
        data = path.read_bytes()
        position = 0
        for placed in scan(data, offset_of(path.name)).records:
            values, end = record_codec.decode_from(data, position)
            assert record_codec.encode(values) == data[position:end]
            assert end - position == placed.size
            position = end


@pytest.mark.parametrize("store", STORES)
def test_every_unit_points_at_its_record(store: str) -> None:
    log = log_of(store)
    units = 0
    for path in (FIXTURES / "store" / store / "consumequeue").rglob("0*"):
        if not path.is_file():
            continue
        file, data = store_file(path), path.read_bytes()
        for n, unit in enumerate(decode_units(data)):
            assert encode_unit(unit) == data[n * 20 : n * 20 + 20]
            assert unit_codec.decode(data, n * 20)[1] == unit.size
            placed = log[unit.commit_log_offset]
            record = placed.record
            units += 1
            assert (record.topic, record.queue_id) == (file.topic, file.queue_id)
            assert record.queue_offset == file.begin_offset // 20 + n
            assert placed.size == unit.size
            if record.topic != DELAYED:
                tags = decode_properties(record.properties).get(Property.TAGS)
                assert unit.tags_code == tags_code(tags)
    assert units > 100


@pytest.mark.parametrize("store", STORES)
def test_every_index_item_is_of_a_key_of_its_record(store: str) -> None:
    log = log_of(store)
    for path in sorted((FIXTURES / "store" / store / "index").iterdir()):
        data = path.read_bytes()
        header = index_file.decode_header(data)
        slots = _slot_count(len(data))
        items = []
        for number in range(1, header.index_count):
            place = index_file.item_position(number, slots)
            item = index_file.decode_item(data[place : place + 20])
            record = log[item.commit_log_offset].record
            properties = decode_properties(record.properties)
            keys = [properties.get(Property.UNIQ_KEY, ""), *keys_of(properties)]
            if has_tag_items(store):
                keys.append(f"T#{properties.get(Property.TAGS)}")
            hashes = {index_file.key_hash(record.topic, key) for key in keys}
            assert item.key_hash in hashes
            chain = list(index_file.items_of_slot(data, item.key_hash, slots))
            assert item in chain
            items.append(item)
        begin, end = items[0].commit_log_offset, items[-1].commit_log_offset
        assert (header.begin_offset, header.end_offset) == (begin, end)
        assert header.begin_stored_at_ms == log[begin].record.stored_at_ms
        assert header.end_stored_at_ms == log[end].record.stored_at_ms
        used = len({item.key_hash % slots for item in items})
        assert header.slot_count == (len(items) if counts_items(store) else used)


def counts_items(store: str) -> bool:
    """Return whether the slot count of *store* counts items (INDEX-HEADER-005)."""
    return release_key(release_of(store)) < release_key("4.7.1")


def has_tag_items(store: str) -> bool:
    """Return whether *store* has an item for each tag, too (INDEX-KEY-005)."""
    return release_key(release_of(store)) >= release_key("5.4")


def release_of(store: str) -> str:
    """Return the release that wrote *store*."""
    return store.partition("-")[0]


def _slot_count(size: int) -> int:
    """Return the slots of an index file with 4 items a slot, as brokers default to."""
    return (size - index_file.HEADER_SIZE) // (4 + 4 * 20)


@pytest.mark.parametrize("store", STORES)
def test_an_index_file_is_written_again_part_by_part(store: str) -> None:
    for path in sorted((FIXTURES / "store" / store / "index").iterdir()):
        data = path.read_bytes()
        slots_at, slots = index_file.HEADER_SIZE, _slot_count(len(data))
        items_at = index_file.item_position(0, slots)
        header = index_file.decode_header(data)
        written = [index_file.encode_header(header)]
        for place in range(slots_at, items_at, index_file.SLOT_SIZE):
            written.append(index_file.encode_slot(index_file.decode_slot(data[place:])))
        for place in range(items_at, len(data), index_file.ITEM_SIZE):
            item = index_file.decode_item(data[place:])
            assert index_file.decode_item(index_file.encode_item(item)) == item
            written.append(index_file.encode_item(item))
        assert b"".join(written) == data


@pytest.mark.parametrize("store", STORES)
def test_a_checkpoint_is_written_as_it_was(store: str) -> None:
    data = (FIXTURES / "store" / store / "checkpoint").read_bytes()
    assert encode_checkpoint(decode_checkpoint(data)) == data


@pytest.mark.parametrize("store", STORES)
def test_every_config_file_is_written_again_but_for_its_line_breaks(store: str) -> None:
    paths = sorted((FIXTURES / "store" / store / "config").iterdir())
    assert {"topics.json", "subscriptionGroup.json"} <= {path.name for path in paths}
    for path in paths:
        data = path.read_bytes()
        value = fastjson.loads(data)
        assert isinstance(value, dict)
        assert fastjson.loads(fastjson.dumps(value)) == value
        # Java breaks lines and indents; a tab or a break in a text is escaped.
        assert fastjson.dumps(value) == data.translate(None, b"\t\n")


@pytest.mark.parametrize("store", STORES)
def test_offsets_in_config_files_are_written_again_as_they_were(store: str) -> None:
    consumers = config_file(store, "consumerOffset.json")
    if consumers:
        found = decode_consumer_offsets(consumers)
        assert decode_consumer_offsets(encode_consumer_offsets(found)) == found
        # Since 5.0 the table has neighbours, among them its version.
        assert encode_consumer_offsets(found)[1:-1] in consumers
    delays = config_file(store, "delayOffset.json")
    if delays:
        assert encode_delay_offsets(decode_delay_offsets(delays))[1:-1] in delays


def config_file(store: str, name: str) -> bytes:
    """Return a file of the directory config, its line breaks taken out, if it is there.

    A broker that was killed may not have written it yet.
    """
    path = FIXTURES / "store" / store / "config" / name
    return path.read_bytes().translate(None, b"\t\n") if path.exists() else b""


@pytest.mark.parametrize("store", STORES)
def test_every_file_of_a_log_queue_and_index_is_recognised(store: str) -> None:
    folder = FIXTURES / "store" / store
    for name in ("commitlog", "consumequeue", "index"):
        for path in (folder / name).rglob("*"):
            data = path.read_bytes() if path.is_file() else b""
            if data.strip(b"\0"):
                assert recognise(data, file=store_file(path)).is_sound


@pytest.mark.parametrize("name", FRAMES)
def test_a_recorded_frame_is_recognised_and_read_quickly(name: str) -> None:
    data = (FIXTURES / "wire" / name).read_bytes()
    assert frame_codec.encode(frame_codec.decode(data)) == data
    assert recognise(data).kind == "frame"


def test_stores_and_frames_of_six_releases_are_recorded() -> None:
    releases = ("4.4.0", "4.6.0", "4.9.7", "5.3.3", "5.4.0", "5.5.0")
    endings = ("killed", "stopped")
    assert sorted(f"{one}-{end}" for one in releases for end in endings) == STORES
    assert len(FRAMES) > 500
