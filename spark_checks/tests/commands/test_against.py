"""
Comparison of two stores: divergences are found, legal differences are not.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_checks.against.comparison import compare_stores
from spark_checks.against.document import document_of, sentences, verdict_of
from spark_checks.against.findings import findings_of
from spark_checks.against.sides import Comparison
from spark_checks.findings import Finding
from spark_checks.tests.building import Placed, StoreBuilder, flip, overwrite
from spec.store.consume_queue import UNIT_SIZE

Pair = tuple[Path, Path]


def _place(found: Finding) -> tuple[str, str, int]:
    return found.invariant.id, found.file, found.offset


def builder_of(count: int = 60) -> StoreBuilder:
    """Return a builder with *count* messages in three queues of two topics."""
    builder = StoreBuilder(log_size=4096)
    for number in range(count):
        add(builder, number)
    return builder


def add(builder: StoreBuilder, number: int, *, word: str = "m") -> Placed:
    """Append the message with this number."""
    topic = "Bills" if number % 3 == 0 else "Orders"
    return builder.put(
        topic,
        number % 2,
        body=f"{word}{number:06}".encode() * 6,
        properties=f"UNIQ_KEY\x01{word}{number:028X}\x02",
    )


def written(tmp_path: Path, here: StoreBuilder, there: StoreBuilder) -> Pair:
    """Write both stores."""
    return here.write(tmp_path / "here"), there.write(tmp_path / "there")


def alike(tmp_path: Path, count: int = 60) -> tuple[Pair, StoreBuilder]:
    """Write two equal stores, and return them with their builders."""
    builder = builder_of(count)
    return written(tmp_path, builder, builder_of(count)), builder


def compared(spark: SparkSession, pair: Pair) -> Comparison:
    """Return the comparison of the two stores of *pair*."""
    return compare_stores(spark, *map(str, pair))


def places(found: Comparison) -> list[tuple[str, str, int]]:
    """Return the places of the findings."""
    return [_place(one) for one in findings_of(found)]


@pytest.mark.slow
def test_a_slave_behind_is_behind_and_nothing_else(
    spark: SparkSession, tmp_path: Path
) -> None:
    here, there = builder_of(50), builder_of(60)
    found = compared(spark, written(tmp_path, here, there))
    assert findings_of(found) == []
    assert verdict_of(found, []) == "behind"
    behind = len(there.log) - len(here.log)
    assert f"This store is behind by {behind} bytes, 10 messages." in sentences(
        found, []
    )
    assert document_of(found, [])["first_divergence"] is None


@pytest.mark.slow
def test_deleted_files_at_the_beginning_are_no_divergence(
    spark: SparkSession, tmp_path: Path
) -> None:
    pair, both = alike(tmp_path)
    for file in sorted((pair[0] / "commitlog").iterdir())[:2]:
        file.unlink()
    last = sorted((pair[1] / "commitlog").iterdir())[-1]
    with last.open("r+b") as opened:  # as some brokers leave it, without its zeros
        opened.truncate(len(both.log) % 4096)
    found = compared(spark, pair)
    assert (findings_of(found), verdict_of(found, [])) == ([], "same")
    assert "Only the other store still has" in sentences(found, [])


def test_one_changed_byte_is_named_by_its_field(
    spark: SparkSession, tmp_path: Path
) -> None:
    pair, both = alike(tmp_path)
    hit = both.placed["Orders", 1][7]
    flip(pair[0], hit.log_file, hit.position + 90)
    found = compared(spark, pair)
    assert places(found) == [("INV-AGAINST-001", hit.log_file, hit.position)]
    assert found.first is not None
    assert (found.first.at, found.first.field) == (hit.offset + 90, "body")
    assert [(r.begin, r.changed) for r in found.ranges] == [(hit.offset + 90, 1)]
    assert verdict_of(found, findings_of(found)) == "diverged"


def test_logs_that_part_have_lost_and_added_messages(
    spark: SparkSession, tmp_path: Path
) -> None:
    here, there = builder_of(30), builder_of(40)
    parted = len(here.log)
    for number in range(30, 40):
        add(here, number, word="other-master")
    found = compared(spark, written(tmp_path, here, there))
    assert found.first is not None
    assert found.first.offset == parted
    lost = sum(o.messages for o in found.one_sided if o.side == "here")
    added = sum(o.messages for o in found.one_sided if o.side == "there")
    assert lost <= 10
    assert 0 < added <= 10
    ids = {one.invariant.id for one in findings_of(found)}
    assert ids == {"INV-AGAINST-001", "INV-AGAINST-002"}


@pytest.mark.slow
def test_a_message_that_only_moved_is_not_lost(
    spark: SparkSession, tmp_path: Path
) -> None:
    here, there = builder_of(20), builder_of(20)
    extra = here.put("Extra", body=b"x" * 10)
    for builder in (here, there):
        for number in range(20, 40):
            add(builder, number)
    found = compared(spark, written(tmp_path, here, there))
    assert [(o.side, o.topic, o.messages) for o in found.one_sided] == [
        ("here", "Extra", 1)
    ]
    assert found.first is not None
    assert found.first.offset == extra.offset


def test_a_file_that_only_one_side_has_is_a_range_with_messages(
    spark: SparkSession, tmp_path: Path
) -> None:
    pair, both = alike(tmp_path, 80)
    (pair[0] / "commitlog" / f"{4096:020}").unlink()
    lost = [p for q in both.placed.values() for p in q if p.offset // 4096 == 1]
    found = compared(spark, pair)
    ids = [one.invariant.id for one in findings_of(found)]
    assert ids.count("INV-AGAINST-003") == 1
    assert "INV-AGAINST-001" not in ids
    assert sum(o.messages for o in found.one_sided if o.side == "there") == len(lost)
    assert [o for o in found.one_sided if o.side == "here"] == []


def test_a_unit_that_differs_is_found_and_a_short_queue_is_not(
    spark: SparkSession, tmp_path: Path
) -> None:
    pair, both = alike(tmp_path)
    hit = both.placed["Orders", 1][5]
    flip(pair[0], hit.queue_file, hit.unit_position + 19)
    short = both.placed["Orders", 0][-1]
    overwrite(pair[1], short.queue_file, short.unit_position, b"\0" * UNIT_SIZE)
    found = compared(spark, pair)
    assert places(found) == [("INV-AGAINST-004", hit.queue_file, hit.unit_position)]


def test_stores_of_two_logs_differ_from_the_first_record_on(
    spark: SparkSession, tmp_path: Path
) -> None:
    root = Path(__file__).resolve().parents[3] / "fixtures" / "store"
    pair = (tmp_path / "here", tmp_path / "there")
    for copy, name in zip(pair, ("4.6.0-stopped", "4.6.0-killed"), strict=True):
        shutil.copytree(root / name, copy)
    found = compared(spark, pair)
    assert found.first is not None
    assert found.first.offset == 0
    assert verdict_of(found, findings_of(found)) == "diverged"
