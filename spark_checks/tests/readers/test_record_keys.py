"""
Keys of records are those of the specification, also in recorded stores.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from operator import xor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from columns.numbers.long_hashes import hash_of_longs
from columns.scan.log_file import LogRange, ReadAt
from columns.scan.log_ranges import Ranges, within
from spark_checks.invariants.index.index_items import key_ranges
from spark_checks.readers.record_keys import key_batches
from spark_checks.situation import Situation
from spark_checks.store_files import Store, list_store
from spark_checks.survey.survey import survey_log
from spec.store.index_file import decode_header, decode_item, item_position, key_hash
from spec.store.message_record import Record, encode_record
from spec.wire.message.properties import encode_properties, keys_of

ROOT = Path(__file__).resolve().parents[3]
STORES = sorted((ROOT / "fixtures" / "store").glob("*-*"))
EVERYTHING = [(-1, 1 << 62)]


def _where(data: bytes, base: int = 0) -> LogRange:
    return LogRange(base=base, file_size=len(data), start=0, end=len(data))


def _keys(
    data: bytes, *, base: int = 0, ranges: Ranges = EVERYTHING
) -> list[dict[str, Any]]:
    found = key_batches(_reader(data), _where(data, base), ranges)
    return [row for batch in found for row in batch.to_pylist()]


def _key_sums(data: bytes, *, base: int, ranges: Ranges) -> tuple[int, int]:
    """Return the sums of keys and of tags."""
    situation = Situation(key_ranges=ranges)
    found = survey_log(_reader(data), _where(data, base), situation).summary
    return found.key_sums.get(0, 0), found.tag_sums.get(0, 0)


def _reader(data: bytes) -> ReadAt:
    def read_at(position: int, size: int) -> bytes:
        return data[position : position + size]

    return read_at


def _files(store: Path) -> Iterator[tuple[int, bytes]]:
    for path in sorted((store / "commitlog").iterdir()):
        yield int(path.name), path.read_bytes()


def _items(store: Store) -> set[tuple[int, int]]:
    found = set()
    for file in store.index:
        data = (Path(store.url) / file.path).read_bytes()
        slots = (len(data) - 40) // 84
        for number in range(1, decode_header(data).index_count):
            item = decode_item(data[item_position(number, slots) :])
            found.add((item.commit_log_offset, item.key_hash))
    return found


def _sum(keys: set[tuple[int, int]]) -> int:
    offsets, codes = (np.array(c, np.int64) for c in zip(*keys, strict=True))
    return int(np.bitwise_xor.reduce(hash_of_longs(offsets, codes)))


def _xor(sums: Iterable[int]) -> int:
    return reduce(xor, sums, 0)


@pytest.mark.parametrize("path", STORES, ids=lambda path: path.name)
def test_the_index_of_a_real_store_has_its_keys_and_no_others(path: Path) -> None:
    store = list_store(str(path))
    ranges = key_ranges(store)
    rows = [
        row
        for base, data in _files(path)
        for row in _keys(data, base=base, ranges=ranges)
    ]
    keys = {(row["offset"], row["key_hash"]) for row in rows if not row["is_tag"]}
    tags = {(row["offset"], row["key_hash"]) for row in rows if row["is_tag"]}
    items = _items(store)
    inside = within(np.array([offset for offset, _ in items]), ranges)
    wanted = {item for item, is_in in zip(items, inside, strict=True) if is_in}
    sums = [_key_sums(data, base=base, ranges=ranges) for base, data in _files(path)]
    with_tags = keys | tags
    assert _xor(of_keys for of_keys, _ in sums) == _sum(keys)
    assert _xor(of_tags for _, of_tags in sums) == _sum(tags)
    assert len(ranges) == (1 if path.name.startswith(("5.4", "5.5")) else 2)
    assert len(keys) > 400
    assert keys <= wanted
    assert wanted <= with_tags


def _log(*properties: str, flags: int = 0) -> bytes:
    data = b""
    for text in properties:
        record = Record(
            topic="Orders",
            queue_id=0,
            queue_offset=0,
            physical_offset=len(data),
            properties=text,
            system_flags=flags,
        )
        data += encode_record(record)
    return data


@pytest.mark.parametrize(
    "pairs",
    [
        {},
        {"KEYS": "one"},
        {"KEYS": "one two  three "},
        {"KEYS": " "},
        {"KEYS": "grün 日本"},
        {"UNIQ_KEY": "grün", "KEYS": "𝄞", "TAGS": "日本"},
        {"XKEYS": "no", "KEYS": "yes"},
        {"A": "b", "UNIQ_KEY": "7F00", "TAGS": "TagA"},
        {"KEYS": "polygenelubricants"},
    ],
)
def test_keys_are_hashed_as_the_specification_hashes_them(
    pairs: dict[str, str],
) -> None:
    others = {"UNIQ_KEY": "0123456789", "KEYS": "key", "TAGS": "T"}
    data = _log(encode_properties(others), encode_properties(pairs))
    data += _log("")  # wrong physical offset, no keys
    found = [(row["key_hash"], row["is_tag"]) for row in _keys(data) if row["offset"]]
    unique = pairs.get("UNIQ_KEY")
    texts = [(key, 0) for key in ([unique] if unique else []) + keys_of(pairs)]
    texts += [(f"T#{tag}", 1) for tag in [pairs.get("TAGS")] if tag]
    wanted = [(key_hash("Orders", text), is_tag) for text, is_tag in texts]
    assert sorted(found) == sorted(wanted)


@pytest.mark.parametrize(("flags", "count"), [(0, 1), (4, 1), (8, 1), (12, 0)])
def test_what_is_rolled_back_has_no_keys(flags: int, count: int) -> None:
    data = _log("KEYS\x01one\x02", flags=flags)
    assert len(_keys(data)) == count


def test_damage_is_passed_over() -> None:
    one = _log("KEYS\x01one\x02", "KEYS\x01two\x02", "KEYS\x01six\x02")
    size = len(one) // 3
    data = one[:size] + bytes(size) + one[2 * size :]
    assert [row["offset"] for row in _keys(data)] == [0, 2 * size]
