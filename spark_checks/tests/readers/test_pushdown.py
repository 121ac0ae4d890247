"""
Excluded files are not read, and the result is the same.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from columns.scan.log_file import LogRange
from spark_checks.readers.commit_log import CommitLogSource
from spark_checks.readers.consume_queue import ConsumeQueueSource
from spark_checks.readers.index import IndexSource
from spark_checks.readers.pushdown import Condition, Conditions
from spark_checks.store_files import Store, list_store, listing
from spark_checks.tables.store_tables import open_commit_log
from spark_checks.tests.building import BEGAN_AT_MS, StoreBuilder
from spec.store.consume_queue import UNIT_SIZE

BUILDER = StoreBuilder()
for number in range(500):
    BUILDER.put(f"Topic{number % 2}", number % 4 // 2, tags="TagA", body=b"b" * 60)
FILES = 6
COLUMNS = ("offset", "size", "topic")
BOUNDS = st.integers(-5, FILES * BUILDER.log_size + 5)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Return a store of six commit-log files and four queues."""
    found = list_store(str(BUILDER.write(tmp_path_factory.mktemp("store"))))
    assert len(found.commit_log) == FILES
    return found


def options_of(store: Store, **more: str) -> dict[str, str]:
    return {"url": store.url, "files": listing(store.commit_log), **more}


def ranges_of(store: Store, *filters: Condition, **more: str) -> list[LogRange]:
    reader = CommitLogSource(options_of(store, **more))
    reader.conditions = Conditions(filters)
    return [*reader.parts()]


def rows_of(
    store: Store, filters: Sequence[Condition], columns: Sequence[str]
) -> list[dict[str, Any]]:
    reader = CommitLogSource(options_of(store))
    reader.selected = columns
    reader.conditions = Conditions(filters)
    return [
        row
        for part in reader.partitions()
        for batch in reader.read(part)
        for row in batch.to_pylist()
    ]


def test_files_outside_a_range_of_offsets_are_not_read(store: Store) -> None:
    size = BUILDER.log_size
    found = ranges_of(store, ("offset", ">=", 2 * size), ("offset", "<", 4 * size))
    assert [part.base for part in found] == [2 * size, 3 * size]
    assert ranges_of(store, ("offset", ">", FILES * size)) == []
    assert [p.base for p in ranges_of(store, ("file_base", "in", (0, size)))] == [
        0,
        size,
    ]


def test_one_offset_costs_a_part_of_its_file(store: Store) -> None:
    placed = BUILDER.placed["Topic1", 0][77]
    (part,) = ranges_of(store, ("offset", "=", placed.offset))
    assert part.base + part.end == placed.offset + 1
    assert part.start <= placed.position
    rows = rows_of(store, [("offset", "=", placed.offset)], COLUMNS)
    assert rows[-1] == {"offset": placed.offset, "size": placed.size, "topic": "Topic1"}


@settings(deadline=None, max_examples=40)
@given(low=BOUNDS, high=BOUNDS)
def test_no_wanted_row_is_left_out(store: Store, low: int, high: int) -> None:
    filters = [("offset", ">=", low), ("offset", "<=", high)]
    every = rows_of(store, [], COLUMNS)
    wanted = [row for row in every if low <= row["offset"] <= high]
    found = rows_of(store, filters, COLUMNS)
    assert [row for row in found if low <= row["offset"] <= high] == wanted


def test_time_excludes_files_only_where_the_clock_is_trusted(store: Store) -> None:
    late = ("stored_at_ms", ">", BEGAN_AT_MS + 4 * BUILDER.log_size)
    assert len(ranges_of(store, late)) == FILES
    found = ranges_of(store, late, clock_slack_ms="0")
    assert [part.base // BUILDER.log_size for part in found] == [4, 5]
    early = ("stored_at_ms", "<", BEGAN_AT_MS + 10)
    assert len(ranges_of(store, early, clock_slack_ms="0")) == 1
    slack = str(BUILDER.log_size)
    assert len(ranges_of(store, early, clock_slack_ms=slack)) == 2


def units_of(store: Store, *filters: Condition) -> dict[str, int]:
    """Return the number of units read of each file."""
    files = listing(store.queue_files())
    reader = ConsumeQueueSource({"url": store.url, "files": files})
    reader.conditions = Conditions(filters)
    found: dict[str, int] = {}
    for part in reader.parts():
        count = part.byte_count // UNIT_SIZE
        found[part.path] = found.get(part.path, 0) + count
    return found


def test_other_queues_and_other_units_are_not_read(store: Store) -> None:
    every = units_of(store)
    assert len(every) == len(store.queue_files())
    one = units_of(store, ("topic", "=", "Topic1"), ("queue_id", "=", 0))
    assert one
    assert all(path.startswith("consumequeue/Topic1/0/") for path in one)
    assert units_of(store, ("topic", "begins", "Other")) == {}
    offsets = (("queue_offset", ">", 30), ("queue_offset", "<", 45))
    some = units_of(store, ("topic", "=", "Topic1"), *offsets)
    assert sum(some.values()) == 14 * 2


def test_other_index_files_are_not_read() -> None:
    files = [[f"index/2026112216301384{number}", 40 + 84] for number in range(4)]
    where = json.dumps([["file", "=", files[2][0]]])
    reader = IndexSource({"url": "/none", "files": json.dumps(files), "where": where})
    assert [part.path for part in reader.parts()] == [files[2][0]]


def test_all_conditions_hold_at_once() -> None:
    found = Conditions(
        [
            ("a", ">", 3),
            ("a", "<=", 9),
            ("a", ">=", 5),
            ("b", "in", (1, 5)),
            ("b", "=", 5),
            ("c", "=", 7.5),
        ]
    )
    assert found.bounds("a") == (5, 9)
    assert found.bounds("b") == (5, 5)
    assert [found.may_overlap("a", *pair) for pair in ((0, 4), (0, 5), (9, 9))] == [
        False,
        True,
        True,
    ]
    assert found.may_overlap("other", 0, 0)


@pytest.mark.parametrize(
    ("condition", "selected"),
    [
        (("a", "in", ["x", "y"]), ["x", "y"]),
        (("a", "=", "x"), ["x"]),
        (("a", "begins", "x"), ["x", "xx"]),
        (("a", ">", "x"), ["x", "xx", "y"]),
    ],
)
def test_a_text_is_excluded_by_name_or_prefix(
    condition: Condition, selected: list[str]
) -> None:
    found = Conditions([condition])
    assert [t for t in ("x", "xx", "y") if found.may_equal("a", t)] == selected
    assert found.may_equal("other", "")


def test_a_condition_needs_a_known_operator() -> None:
    with pytest.raises(ValueError, match="!= is not an operator"):
        Conditions([("a", "!=", 5)])


def test_spark_does_not_open_what_the_option_excludes(
    spark: SparkSession, tmp_path: Path
) -> None:
    root = BUILDER.write(tmp_path)
    listed = list_store(str(root))
    size = BUILDER.log_size
    query = f"offset >= {size} AND offset < {2 * size} AND kind = 'record'"
    every = open_commit_log(spark, listed, {})
    expected = every.where(query).orderBy("offset").select("offset", "topic").collect()
    assert len(expected) > 10
    for base in (0, 2 * size, 5 * size):
        (root / f"commitlog/{base:020d}").unlink()
    source = spark.read.format("rocketmq.commitlog")
    for name, value in options_of(listed).items():
        source = source.option(name, value)
    named = source.schema("offset bigint, topic string, kind string")
    where = json.dumps([["offset", ">=", size], ["offset", "<", 2 * size]])
    rows = named.option("where", where).load().where(query).orderBy("offset")
    assert rows.select("offset", "topic").collect() == expected
    nothing = named.option("where", '[["file_base", "=", 7]]').load()
    assert nothing.collect() == []
    with pytest.raises(Exception, match="No such file"):
        every.count()
