"""
A survey has the sums that Spark computes of the rows; tasks get smaller.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from columns.log_batch import follow_sizes
from columns.numbers.long_hashes import hash_of_longs
from columns.scan.log_file import LogRange
from spark_checks.broker_conf import BrokerConf
from spark_checks.readers import index
from spark_checks.session.kernel_request import KERNELS_VARIABLE
from spark_checks.situation import situation_of
from spark_checks.store_files import list_store
from spark_checks.survey.summary import QueueSummary, SurveySummary
from spark_checks.survey.sums import grouped
from spark_checks.survey.survey import (
    PIECE_SIZE_MAX,
    PIECE_SIZE_MIN,
    SMALLEST_EACH,
    Part,
    group_parts,
    survey_store,
)
from spark_checks.tables.predicates import (
    is_record,
    needs_record,
    needs_unit,
)
from spark_checks.tables.store_tables import open_commit_log, open_units
from spark_checks.tests.building import StoreBuilder, overwrite
from spec.integers import INT32_MAX
from spec.store.consume_queue import Unit

ROOT = Path(__file__).resolve().parents[3]
FIXTURES = ROOT / "fixtures"
STORES = [*sorted((FIXTURES / "store").glob("*-*")), FIXTURES / "batches" / "5.3.3"]
FLAGS = (0, 0x1, 0x4, 0x8, 0xC, 0x80, 0x800, 0x88)


def _both(
    session: SparkSession, path: Path
) -> tuple[SurveySummary, dict[str, dict[tuple[str, int], QueueSummary]], DataFrame]:
    """Return a survey's summary, Spark's sums of the rows, and the records' rows."""
    store = list_store(str(path))
    conf = BrokerConf()
    situation = situation_of(store, conf)
    summary = survey_store(session.sparkContext, store, situation).summary
    records = open_commit_log(session, store, situation.delays).where(is_record())
    units = open_units(session, store, store.queue_files())
    needed = needs_unit(situation)
    of_log = _by_queue(records.withColumn("at", F.col("offset")), needed, needed)
    rows = units.withColumn("at", F.col("commit_log_offset"))
    of_queues = _by_queue(rows, needs_record(situation), F.lit(True))
    return summary, {"log": of_log, "queue": of_queues}, records


def _by_queue(
    rows: DataFrame, needed: Column, ranged: Column
) -> dict[tuple[str, int], QueueSummary]:
    size = F.col("size").cast("bigint")
    identity = F.array("queue_offset", "at", size, "tags_code")
    offset = F.when(ranged, F.col("queue_offset"))
    made = rows.groupBy("topic", "queue_id").agg(
        F.count(F.lit(1)).alias("rows"),
        F.count_if(needed).alias("matched"),
        F.min(offset).alias("first"),
        F.max(offset).alias("last"),
        F.collect_list(F.when(needed, identity)).alias("identities"),
    )
    return {
        (row.topic, row.queue_id): QueueSummary(
            count=row.rows,
            matched_count=row.matched,
            first=row.first,
            last=row.last,
            hash=_xor(np.array(row.identities, dtype=np.int64).reshape(-1, 4)),
        )
        for row in made.collect()
    }


def _xor(rows: npt.NDArray[np.int64]) -> int:
    return int(np.bitwise_xor.reduce(hash_of_longs(*rows.T)))


def _store_of_all_rows(root: Path) -> Path:
    """Write a store with every kind of row that is counted separately."""
    builder = StoreBuilder()
    for number in range(200):
        flags = FLAGS[number % len(FLAGS)]
        builder.put("Orders", number % 3, tags="TagA", flags=flags)
    builder.put("%LMQ%light")
    units = builder.queues["Orders", 0]
    units[0] = Unit(commit_log_offset=0, size=INT32_MAX, tags_code=0)
    units[1] = Unit(commit_log_offset=-5, size=7, tags_code=1)
    places = builder.placed["Orders", 1]
    store = builder.write(root)
    overwrite(store, places[45].log_file, places[45].position + 8, b"\1\2\3\4")
    overwrite(store, places[50].log_file, places[50].position + 28, bytes(8))
    overwrite(store, places[55].log_file, places[55].position + 4, bytes(4))
    (store / "commitlog" / "00000000000000000000").unlink()
    return store


def test_a_survey_counts_what_spark_counts(spark: SparkSession, tmp_path: Path) -> None:
    summary, counted, records = _both(spark, _store_of_all_rows(tmp_path))
    assert summary.records == counted["log"]
    assert summary.units == counted["queue"]
    assert {one.matched_count > 0 for one in summary.units.values()} == {True, False}
    is_wrong = "body_crc != computed_crc OR physical_offset != offset OR damage != 0"
    counts = records.agg(
        F.count_if(F.expr(is_wrong)).alias("wrong"),
        F.count_if(F.col("damage") != 0).alias("damaged"),
        F.max(F.col("offset") + F.col("size")).alias("end"),
        F.max("stored_at_ms").alias("last_ms"),
        F.max("file_base").alias("last_file"),
    ).collect()[0]
    found = summary.wrong_records, summary.damaged
    assert found == (counts.wrong, counts.damaged)
    assert (summary.log_end, summary.last_stored_at_ms, summary.last_file_base) == (
        counts.end,
        counts.last_ms,
        counts.last_file,
    )
    assert summary.regions > 0
    assert summary.wrong_records > summary.damaged > 0


@pytest.mark.parametrize("path", STORES[::4], ids=lambda path: path.name)
def test_a_survey_of_a_real_store_is_its_rows(path: Path, spark: SparkSession) -> None:
    summary, counted, _ = _both(spark, path)
    assert summary.records == counted["log"]
    assert summary.units == counted["queue"]
    assert summary.record_count >= 60


def _has_kernels(_: int) -> bool:
    return follow_sizes.kernel is not None


def test_a_large_store_is_surveyed_by_kernels(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = STORES[0]
    with_fallbacks, _, _ = _both(spark, path)
    monkeypatch.setattr("spark_checks.session.kernel_request.LARGE_SIZE", 0)
    environment = spark.sparkContext.environment
    monkeypatch.delitem(environment, KERNELS_VARIABLE, raising=False)
    with_kernels, _, _ = _both(spark, path)
    assert KERNELS_VARIABLE in environment
    tasks = spark.sparkContext.parallelize(range(2), 2)
    assert tasks.map(_has_kernels).collect() == [True, True]
    assert (with_fallbacks.kernel_tasks, with_fallbacks.fallback_tasks) == (0, 0)
    assert with_kernels.kernel_tasks > 0
    assert with_kernels.fallback_tasks == 0
    assert replace(with_kernels, kernel_tasks=0) == with_fallbacks


def test_groups_are_reduced_each_by_itself() -> None:
    groups = np.array([2, 0, 2, 3, 0, 2])
    offsets = np.array([1, 2, 3, 4, 5, 6])
    needed, every = offsets % 2 == 0, offsets > 0
    found = dict(grouped(groups, 5, needed, every, *[offsets] * 4))
    sums = {n: (s.count, s.matched_count, s.first, s.last) for n, s in found.items()}
    assert sums == {0: (2, 1, 2, 5), 2: (3, 1, 1, 6), 3: (1, 1, 4, 4)}


def _log_ranges(*edges: int) -> list[Part]:
    return [
        LogRange(base=0, file_size=edges[-1], start=start, end=end)
        for start, end in pairwise(edges)
    ]


def _spans(groups: Iterable[tuple[Part, ...]]) -> list[tuple[int, int]]:
    every = [part for group in groups for part in group]
    return [(part.start, part.end) for part in every if isinstance(part, LogRange)]


@pytest.mark.parametrize("processors", [1, 2, 7])
def test_groups_get_smaller_and_hold_everything_in_order(processors: int) -> None:
    parts = [*index.parts_of("b", PIECE_SIZE_MIN), *_log_ranges(0, 9, 1 << 32)]
    groups = list(group_parts(parts, processors))
    assert groups[0][0] == parts[0]
    spans = _spans(groups)
    assert [spans[0][0], spans[-1][1]] == [0, 1 << 32]
    assert all(before == after for (_, before), (after, _) in pairwise(spans))
    sizes = [sum(part.byte_count for part in group) for group in groups]
    *larger, last = sizes
    assert larger == sorted(larger, reverse=True)
    assert larger[0] <= PIECE_SIZE_MAX
    smallest = sum(sizes) // (processors * SMALLEST_EACH)
    assert smallest // 2 <= last < smallest + smallest // 2
    assert len(sizes) < 12 + 8 * processors


def test_a_file_that_is_not_cut_may_be_larger_than_its_group() -> None:
    files = [part for n in "bc" for part in index.parts_of(n, PIECE_SIZE_MAX + 1)]
    log = _log_ranges(0, 5)
    assert list(group_parts([*files, *log], 2)) == [(files[0],), (files[1],), (*log,)]


def test_a_small_rest_gets_no_task_of_its_own() -> None:
    size = PIECE_SIZE_MIN
    groups = group_parts(_log_ranges(0, size + size // 2 - 1), 1)
    assert _spans(groups) == [(0, size + size // 2 - 1)]
    groups = group_parts(_log_ranges(0, size + size // 2), 1)
    assert _spans(groups) == [(0, size), (size, size + size // 2)]


def test_small_parts_are_together() -> None:
    parts = [
        *_log_ranges(0, 5, 10),
        *(part for name in "bc" for part in index.parts_of(name, 5)),
    ]
    assert list(group_parts(parts, 2)) == [tuple(parts)]
    assert list(group_parts([], 2)) == []
