"""
Few rows are read again, and the findings are those of reading all of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from columns.scan.log_ranges import Ranges
from spark_checks.audit import audit_store
from spark_checks.generate.store import generate
from spark_checks.invariants.index import index_items
from spark_checks.store_files import Store, list_store
from spark_checks.tables.store_tables import open_log
from spark_checks.tests.building import (
    FAULTS_PLAN,
    Placed,
    StoreBuilder,
    flip,
    overwrite,
)
from spec.derive.numpy_dtype import leading_fields
from spec.store.index_file import (
    decode_header,
    item_layout,
    item_position,
    slot_count_of,
)

_AT = {field.name: field.offset for field in leading_fields(item_layout)}
ALL_AT_ONCE = "spark_checks.checks.compare_rows.PLACES_MAX"
SECTIONS = "columns.scan.log_ranges.SECTION_COUNT"


def places_found(spark: SparkSession, store: Path) -> list[str]:
    """Return the ids, places and texts of an audit's findings."""
    found = audit_store(spark, str(store)).findings
    return [
        f"{one.invariant.id} {one.file} {one.offset} {one.message}" for one in found
    ]


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """Return a store whose units point at other queues, and at no record."""
    builder = StoreBuilder()
    for number in range(300):
        builder.put(("Orders", "Payments", "Other")[number % 3], number % 2, tags="A")
    store = builder.write(tmp_path)
    orders, payments = builder.placed["Orders", 0], builder.placed["Payments", 1]

    def point(unit: Placed, offset: int) -> None:
        overwrite(store, unit.queue_file, unit.unit_position, offset.to_bytes(8, "big"))

    point(orders[5], payments[40].offset)
    point(orders[6], payments[0].offset)
    point(orders[7], payments[3].offset + 1)
    point(orders[8], builder.placed["Other", 0][0].offset)
    flip(store, orders[20].queue_file, orders[20].unit_position + 19)  # its tags code
    lost = builder.placed["Other", 1][20]
    flip(store, lost.log_file, lost.position + 4)
    return store


def test_records_of_other_queues_are_found_by_their_places(
    damaged: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = places_found(spark, damaged)
    assert len([one for one in found if one.startswith("INV-CQ-004")]) == 3
    assert len([one for one in found if one.startswith("INV-CQ-001")]) == 2
    assert len([one for one in found if one.startswith("INV-CQ-003")]) == 1
    monkeypatch.setattr(ALL_AT_ONCE, 0)
    assert places_found(spark, damaged) == found


@pytest.fixture(scope="module")
def with_wrong_items(
    tmp_path_factory: pytest.TempPathFactory, spark: SparkSession
) -> Path:
    """Return a store with two wrong items in the middle of its index files."""
    store = tmp_path_factory.mktemp("items") / "store"
    generate(store, FAULTS_PLAN, spark.sparkContext)
    file = list_store(str(store)).index[0]
    data = (store / file.path).read_bytes()
    count, slots = decode_header(data).index_count, slot_count_of(file.size)
    hash_at, seconds_at = (_AT[name] for name in ("key_hash", "seconds"))
    flip(store, file.path, item_position(count // 2, slots) + hash_at + 3)
    flip(store, file.path, item_position(count // 2 + 20, slots) + seconds_at + 3, 64)
    return store


def test_only_sections_that_differ_are_read_again(
    with_wrong_items: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Ranges] = []

    def noted(session: SparkSession, store: Store, *args: Any, **how: Any) -> DataFrame:
        read.append(store.ranges)
        return open_log(session, store, *args, **how)

    monkeypatch.setattr(index_items, "open_log", noted)
    found = places_found(spark, with_wrong_items)
    size = list_store(str(with_wrong_items)).commit_log_size
    [[(begin, end)]] = read
    assert end - begin < size / 50
    assert {one.split()[0] for one in found} >= {"INV-INDEX-007", "INV-INDEX-008"}
    monkeypatch.setattr(SECTIONS, 1)
    assert places_found(spark, with_wrong_items) == found
    assert sum(end - begin for begin, end in read[1]) > size / 2


def test_records_of_disordered_items_are_found_by_their_places(
    with_wrong_items: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = places_found(spark, with_wrong_items)
    assert any(one.startswith(("INV-INDEX-005", "INV-INDEX-009")) for one in found)
    monkeypatch.setattr(ALL_AT_ONCE, 0)
    assert places_found(spark, with_wrong_items) == found
