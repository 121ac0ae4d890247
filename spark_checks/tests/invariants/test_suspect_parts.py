"""
Parts of suspect queues hold every difference, and their findings are those of all rows.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from columns.scan.record_columns import QueuePart
from spark_checks.audit import audit_store
from spark_checks.checks import compare_rows, suspect_parts
from spark_checks.checks.suspect_parts import Blocks, parts_that_differ
from spark_checks.situation import Situation
from spark_checks.survey.sums import grouped
from spark_checks.tests.building import StoreBuilder, flip, overwrite
from spec.integers import INT64_MAX, INT64_MIN
from spec.store.consume_queue import UNIT_SIZE
from spec.store.message_record import SystemFlag

QUEUE = ("Orders", 1)
SIZE = 4
Offsets = frozenset[int]


@st.composite
def nearly_all(draw: st.DrawFn) -> Offsets:
    """Return a range of queue offsets without some of them."""
    first, last = draw(st.sampled_from([0, 0, 1, 7])), draw(st.integers(0, 60))
    begin, size = draw(st.integers(0, 60)), draw(st.sampled_from([0, 1, 5, 20]))
    return frozenset(range(first, last)) - set(range(begin, begin + size))


def sums_of(offsets: Collection[int], unmatched: Collection[int] = ()) -> Blocks:
    """Return the sums of a queue's rows with these queue *offsets*, by block.

    Rows *unmatched* are in the queue, and need nothing on the other side.
    """
    rows = np.array(sorted({*offsets, *unmatched}), dtype=np.int64)
    needed = np.isin(rows, [*offsets])
    numbers, groups = np.unique(rows // SIZE, return_inverse=True)
    every, nothing = np.ones(len(rows), np.bool_), np.zeros(len(rows), np.int64)
    found = grouped(groups, len(numbers), needed, every, rows, *[nothing] * 3)
    return {(*QUEUE, int(numbers[group])): sums for group, sums in found}


def parts_of(
    records: Collection[int],
    units: Collection[int],
    unmatched: Collection[int] = (),
    *,
    min_offset: int = 0,
) -> list[QueuePart]:
    """Return the parts to compare of a queue with these queue offsets on its sides."""
    situation = Situation(min_offset=min_offset, block_size=SIZE)
    sides = sums_of(records), sums_of(units, unmatched)
    numbers = sorted({number for side in sides for *_, number in side})
    return parts_that_differ(QUEUE, numbers, sides, situation)


@given(records=nearly_all(), units=nearly_all())
def test_a_part_holds_each_difference_and_both_ends_of_each_gap(
    records: Offsets, units: Offsets
) -> None:
    parts = parts_of(records, units)
    ranges = [range(max(first, -1), min(last, 99) + 1) for *_, first, last in parts]
    assert all(one.stop <= other.start for one, other in pairwise(ranges))
    for offset in records ^ units:
        assert any(offset in part for part in ranges)
    for side in records, units:
        for one, other in pairwise(sorted(side)):
            if other != one + 1:
                assert any(one in part and other in part for part in ranges)
    if records and 0 not in records:
        assert parts[0][2] == INT64_MIN
        assert min(records) in ranges[0]


def test_a_gap_of_one_side_is_in_a_part() -> None:
    every = range(40)
    lost = range(16, 24)
    kept = set(every) - set(lost)
    assert parts_of(kept, kept, unmatched=lost) == [(*QUEUE, 8, 31)]
    deleted = {*range(8), *range(12, 20)}
    found = parts_of(range(20, 40), range(20, 40), deleted, min_offset=1)
    assert found == [(*QUEUE, INT64_MIN, 19)]


def test_intact_blocks_are_left_out() -> None:
    every = range(40)
    assert parts_of(every, set(every) - {17}) == [(*QUEUE, 12, 23)]
    assert parts_of(set(every) - {5}, every) == [(*QUEUE, INT64_MIN, 11)]
    assert parts_of(every, range(38)) == [(*QUEUE, 32, 39)]
    both = set(every) - set(range(11, 30))
    assert parts_of(both, both) == [(*QUEUE, 4, 35)]
    assert parts_of(every, every) == [(*QUEUE, INT64_MIN, INT64_MAX)]


def damaged(root: Path, *, expired: int) -> Path:
    """Return a store with lost files, records and units in three of its four queues.

    Its first *expired* log files are deleted.
    """
    builder = StoreBuilder()
    for number in range(1216):
        builder.put(("Orders", "Payments")[number % 2], number // 2 % 2, tags="A")
    builder.put_half("Orders", flags=int(SystemFlag.TRANSACTION_PREPARED))
    store = builder.write(root)
    orders, payments = builder.placed["Orders", 0], builder.placed["Payments", 1]
    for one in (orders[140], orders[180], payments[107]):
        flip(store, one.log_file, one.position + 4)  # its magic
    for one in (orders[159], orders[160], orders[-1], payments[250], payments[251]):
        flip(store, one.queue_file, one.unit_position + 19)  # its tags code
    (store / payments[200].log_file).unlink()
    others = builder.placed["Orders", 1]
    for one in (*others[20:22], others[60], *others[240:261]):
        overwrite(store, one.queue_file, one.unit_position, bytes(UNIT_SIZE))
    for file in sorted((store / "commitlog").iterdir())[:expired]:
        file.unlink()
    return store


@pytest.mark.parametrize(
    ("expired", "invariants"), [(0, {"INV-LOG-001"}), (4, {"INV-CQ-006"})]
)
def test_the_findings_are_those_of_all_rows(
    expired: int,
    invariants: set[str],
    tmp_path: Path,
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = damaged(tmp_path, expired=expired)
    found = audit_store(spark, str(store)).findings
    assert {one.invariant.id for one in found} >= invariants | {
        *("INV-FILE-003", "INV-LOG-005", "INV-CQ-001", "INV-CQ-003", "INV-CQ-005"),
    }
    read: list[QueuePart] = []

    def noted(*args: Any) -> list[QueuePart]:
        read.extend(suspect_parts.suspect_parts(*args))
        return read

    monkeypatch.setattr(compare_rows, "suspect_parts", noted)
    monkeypatch.setattr(suspect_parts, "LARGE_SIZE", 0)
    monkeypatch.setattr(suspect_parts, "BLOCK_SIZE_MIN", 8)
    assert audit_store(spark, str(store)).findings == found
    assert sum(min(last, 303) - max(first, 0) + 1 for *_, first, last in read) < 600
    assert min(first for *queue, first, _ in read if queue == ["Orders", 0]) > 0
