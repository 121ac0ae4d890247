"""
Chains of an index file are checked; recorded files are intact.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from spark_checks.audit import audit_store
from spark_checks.faults.places import item_places
from spark_checks.faults.site import Site
from spark_checks.generate.index_part import index_file_name, index_of
from spark_checks.generate.part import messages_of
from spark_checks.generate.plan import Plan
from spark_checks.generate.store import generate
from spark_checks.invariants.index.index_headers import check_index_headers
from spark_checks.readers.index import ItemDamage, batches, parts_of
from spark_checks.store_files import list_store
from spark_checks.survey.summary import SurveySummary
from spark_checks.tests.building import BEGAN_AT_MS
from spec.store.index_file import (
    HEADER_SIZE,
    SLOT_SIZE,
    IndexHeader,
    decode_header,
    decode_item,
    encode_header,
    item_position,
    key_hash,
    slot_count_of,
    slot_position,
)

REAL = sorted(
    (Path(__file__).resolve().parents[3] / "fixtures" / "store").glob("*/index/*")
)
PLAN = Plan(files=1, log_size=40_000)


def rows_of(data: bytes) -> list[dict[str, Any]]:
    """Return the rows of the index file *data*."""

    def read_at(position: int, size: int) -> bytes:
        return data[position : position + size]

    [file] = parts_of("index/0", len(data))
    return [row for batch in batches(read_at, file) for row in batch.to_pylist()]


def damaged(data: bytes) -> list[tuple[int, int]]:
    """Return position and damage of every damaged row."""
    return [(row["position"], row["damage"]) for row in rows_of(data) if row["damage"]]


@pytest.fixture(scope="module")
def index() -> bytes:
    """Return a generated index file."""
    return index_of([message.record for message in messages_of(PLAN, 0)])


@pytest.mark.parametrize("path", REAL, ids=lambda path: "-".join(path.parts[-3::2]))
def test_a_real_file_is_in_order(path: Path) -> None:
    data = path.read_bytes()
    rows = rows_of(data)
    assert damaged(data) == []
    assert len(rows) == decode_header(data).index_count - 1
    slots = slot_count_of(len(data))
    for row in rows:
        item = decode_item(data[item_position(row["number"], slots) :])
        assert (item.key_hash, item.commit_log_offset, item.previous_item) == (
            row["key_hash"],
            row["commit_log_offset"],
            row["names"],
        )


def test_a_generated_file_is_in_order_and_has_every_key(index: bytes) -> None:
    assert damaged(index) == []
    hashes = [row["key_hash"] for row in rows_of(index)]
    first = next(messages_of(PLAN, 0)).record
    assert key_hash(first.topic, "order-000000000000") in hashes


def _with(data: bytes, position: int, form: str, value: int) -> bytes:
    size = struct.calcsize(form)
    return data[:position] + struct.pack(form, value) + data[position + size :]


@pytest.mark.parametrize(
    ("at", "form", "value", "damage"),
    [
        (16, ">i", 1 << 20, ItemDamage.PREVIOUS),
        (16, ">i", -1, ItemDamage.PREVIOUS),
        (16, ">i", 40, ItemDamage.PREVIOUS),
        (12, ">i", 1 << 20, ItemDamage.SECONDS),
        (12, ">i", -1, ItemDamage.SECONDS),
    ],
)
def test_an_item_with_a_wrong_word_is_found(
    index: bytes, at: int, form: str, value: int, damage: ItemDamage
) -> None:
    position = item_position(40, slot_count_of(len(index)))
    assert damaged(_with(index, position + at, form, value)) == [
        (position, int(damage))
    ]


@pytest.mark.parametrize(("seconds", "beside"), [(0, 39), (23, 41)])
def test_an_item_that_is_out_of_order_is_suspected_and_so_is_the_one_beside(
    index: bytes, seconds: int, beside: int
) -> None:
    slots = slot_count_of(len(index))
    places = [item_position(number, slots) for number in (40, beside)]
    data = _with(index, places[0] + 12, ">i", seconds)
    assert damaged(data) == [(at, int(ItemDamage.ORDER)) for at in sorted(places)]


@pytest.mark.parametrize("value", [0, 3, 1 << 30, -7])
def test_a_slot_that_names_another_item_is_found(index: bytes, value: int) -> None:
    slots = slot_count_of(len(index))
    item = decode_item(index[item_position(40, slots) :])
    position = slot_position(item.key_hash, slots)
    assert damaged(_with(index, position, ">i", value)) == [
        (position, int(ItemDamage.SLOT))
    ]


def test_an_item_with_another_hash_breaks_its_chains(index: bytes) -> None:
    position = item_position(40, slot_count_of(len(index)))
    found = damaged(_with(index, position, ">i", -5))
    assert position in [at for at, damage in found if damage & ItemDamage.HASH]


@pytest.mark.parametrize("count", [0, -1, 1 << 30])
def test_a_file_whose_count_is_wrong_is_left_to_its_header(
    index: bytes, count: int
) -> None:
    assert rows_of(_with(index, 36, ">i", count)) == []


def test_a_file_of_another_size_is_left_alone(index: bytes) -> None:
    assert rows_of(index[:-1]) == []
    assert rows_of(index[:HEADER_SIZE]) == []
    assert rows_of(index[:10]) == []
    assert slot_count_of(HEADER_SIZE + SLOT_SIZE) == 0


def test_a_clock_that_was_put_back_is_no_fault(
    spark: SparkSession, tmp_path: Path
) -> None:
    plan = Plan(files=2, log_size=100_000)
    generate(tmp_path, plan)
    site = Site(root=tmp_path, plan=plan)
    hit = site.take()
    back = replace(hit.record, stored_at_ms=hit.record.stored_at_ms - 5_000)
    site.rewrite(hit, back)
    (file, *_), positions = zip(*item_places(site, hit), strict=True)
    for position in positions:
        seconds = decode_item((tmp_path / file).read_bytes()[position:]).seconds
        site.overwrite((file, position + 12), struct.pack(">i", seconds - 5))
    assert ItemDamage.ORDER in [
        damage for _, damage in damaged((tmp_path / file).read_bytes())
    ]
    assert audit_store(spark, str(tmp_path)).findings == ()


@pytest.mark.parametrize(("log_file", "first"), [(1, 0), (1, 1), (0, 0)])
def test_a_start_after_a_crash_may_index_from_a_log_file_on_again(
    tmp_path: Path, log_file: int, first: int
) -> None:
    plan = Plan(files=3, log_size=40_000)
    generate(tmp_path, plan)
    parts = [[one.record for one in messages_of(plan, n)] for n in range(plan.files)]
    before = [*parts[0], *parts[1], *parts[2][:5]]
    again = [record for part in parts[log_file:2] for record in part]
    for file in (tmp_path / "index").iterdir():
        file.unlink()
    for number, records in enumerate([before, again[first:], parts[2]]):
        path = tmp_path / "index" / index_file_name(BEGAN_AT_MS + number)
        path.write_bytes(index_of(records))
    found = check_index_headers(list_store(str(tmp_path)), SurveySummary())
    wrong = [one.file for one in found if one.invariant.id == "INV-INDEX-001"]
    is_legal = first == 0
    second = f"index/{index_file_name(BEGAN_AT_MS + 1)}"
    assert wrong == ([] if is_legal else [second])


@pytest.mark.parametrize(
    ("order", "wrong"),
    [
        ([0, 0, 1, 2], []),
        ([0, 1, 0, 1, 2], []),
        ([1, 0, 2], [1]),
        ([0, 2, 1], [2]),
        ([0, 0, 2], [1]),
        ([1, 1, 2], [1]),
        ([0, 1, 1], [2]),
    ],
)
def test_files_that_are_exchanged_or_repeated_do_not_index_again(
    tmp_path: Path, order: list[int], wrong: list[int]
) -> None:
    plan = Plan(files=3, log_size=40_000)
    generate(tmp_path, plan)
    log = [one.record for n in range(plan.files) for one in messages_of(plan, n)]
    third = len(log) // 3 + 2  # an index file does not begin with a log file
    for file in (tmp_path / "index").iterdir():
        file.unlink()
    for number, part in enumerate(order):
        path = tmp_path / "index" / index_file_name(BEGAN_AT_MS + number)
        path.write_bytes(index_of(log[part * third : (part + 1) * third]))
    found = check_index_headers(list_store(str(tmp_path)), SurveySummary())
    assert [one.file for one in found if one.invariant.id == "INV-INDEX-001"] == [
        f"index/{index_file_name(BEGAN_AT_MS + number)}" for number in wrong
    ]


def test_a_file_without_items_may_have_a_begin_and_no_end(tmp_path: Path) -> None:
    plan = Plan(files=2, log_size=40_000)
    generate(tmp_path, plan)
    (path, *_) = sorted((tmp_path / "index").iterdir())
    header = encode_header(IndexHeader(begin_offset=300, index_count=0))
    path.write_bytes(header + bytes(path.stat().st_size - len(header)))
    store, summary = list_store(str(tmp_path)), SurveySummary(log_end=400)
    assert list(check_index_headers(store, summary)) == []
    (found,) = check_index_headers(store, replace(summary, log_end=200))
    assert found.found == "begin_offset 300"
